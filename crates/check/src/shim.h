/*
 * What the files of functions share: the other end, which is src/hooks.rs, and the forms that functions have.
 */
#ifndef SOFTDPU_CHECK_SHIM_H
#define SOFTDPU_CHECK_SHIM_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <doca_buf.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_pe.h>
#include <doca_types.h>

/* Kinds of objects; src/shadow.rs has the same numbers. */
/* Events that a program has functions for. */
enum event {
	STATE,
	PACKET,
	PACKET_LOST,
	PACKETS,
	PACKETS_LOST,
	MESSAGE,
	CONNECTED,
	DISCONNECTED,
	NEW_CONSUMER,
	EXPIRED_CONSUMER,
};

enum kind {
	DEV = 1,
	PE = 2,
	CTX = 3,
	MMAP = 4,
	INVENTORY = 5,
	BUF = 6,
	TASK = 7,
	POOL = 8,
	LINK = 9,  /* a connection */
	GRAPH = 10,
	RUN = 11,  /* an instance of a graph */
	REP = 12,  /* a representor */
	QUEUE = 13,
	FLOW = 14,
	REMOTE = 15, /* a sync event of a peer */
};

/* What a buffer list is at the moment of a look; src/hooks/flight.rs has the same. */
struct look {
	uint64_t len;  /* of the first element */
	uint64_t data; /* bytes of data, of the whole list */
	uint64_t room; /* bytes behind the data, of the whole list */
	uintptr_t head;	 /* where the first element begins */
	uintptr_t begin; /* where its data begins */
	uint64_t first;	 /* bytes of its data */
	int unknown;
};

/* How the other end looks at a buffer. */
struct library {
	doca_error_t (*data_len)(const struct doca_buf *buf, size_t *data_len);
	void (*list)(const struct doca_buf *buf, struct look *look);
};

/* What a progress engine is doing; src/pump.rs has the same. Written here, since every task passes by. */
struct pump {
	_Atomic int owner; /* the thread inside progress */
	_Atomic uintptr_t place;
	_Atomic uint64_t calls;
	_Atomic uint64_t callbacks; /* begun and ended */
	uintptr_t at;
};

/* The other end. */
void softdpu_check_begin(void);
void softdpu_check_end(int status);
void softdpu_check_created(uint32_t kind, const char *what, const void *object, const void *a, const void *b, uintptr_t place);
uint32_t softdpu_check_destroy(const void *object, const char *call, uintptr_t place);
void softdpu_check_destroyed(const void *object, uint32_t born, int result, const char *call, uintptr_t place);
void softdpu_check_failed(int result, const char *call, uintptr_t place, const void *a, const void *b, const void *c);
void softdpu_check_started(const void *object, int started);
void softdpu_check_attached(const void *object, const void *to, int attached);
void softdpu_check_permissions(const void *map, uint32_t mask);
void softdpu_check_export(const void *map, int pci, int result, const char *call, uintptr_t place);
void softdpu_check_no_buffer(const void *inventory, const void *map, uintptr_t addr, uint64_t len, uintptr_t map_addr,
			     uint64_t map_len, int result, const char *call, uintptr_t place);
void softdpu_check_ctx_start(const void *ctx, int result, const char *call, uintptr_t place);
void softdpu_check_ctx_destroy(const void *ctx, int state, uint64_t inflight, const char *call, uintptr_t place);
void softdpu_check_pool(const void *ctx, const char *what, uint32_t tasks, const void *good, const void *bad);
void softdpu_check_task(const void *ctx, const char *what, const void *task, const void *src, const void *dst,
			const void *dead, const char *call, uintptr_t place);
void softdpu_check_no_task(const void *ctx, const char *what, int result, const char *call, uintptr_t place);
void softdpu_check_submit(const void *task, const struct library *library, uintptr_t place, int me);
void softdpu_check_submitted(const void *task, int result, int state, const char *call, uintptr_t place);
void softdpu_check_task_set(const void *task, const void *src, const void *dst);
const void *softdpu_check_done(const void *task, int good, int me);
void softdpu_check_window(const void *buf, const void *head, size_t len, const void *data);
void softdpu_check_data(const void *buf, const void *data, int me);
void softdpu_check_listed(const void *first, const void *second);
void softdpu_check_free(const void *task, const char *call, uintptr_t place);
struct pump *softdpu_check_pump(const void *pe);
void softdpu_check_intruder(const struct pump *pump, uintptr_t place, int me);
void softdpu_check_ctx_of(const void *object, const void *ctx);
void softdpu_check_children(const void *object, int result, const char *call, uintptr_t place);
void softdpu_check_link(const void *link, uint32_t id, int alive, const char *call, uintptr_t place);
void softdpu_check_task_link(const void *task, const void *link);
void softdpu_check_peer(const void *link, uint32_t id, int over, const char *call, uintptr_t place);
void softdpu_check_armed(const void *pe, int how, uintptr_t place);
void softdpu_check_event_mode(const void *pe, int all);
void softdpu_check_joined(const void *link);
void softdpu_check_rep_listed(const void *record, const void *dev);
const void *softdpu_check_rep_dev(const void *record);
void softdpu_check_end_made(const void *end, int server, const char *name, const char *function);
void softdpu_check_no_server(const void *dev, const void *rep, const char *call, uintptr_t place);
void softdpu_check_most(const void *ctx, uint64_t most);
void softdpu_check_dead(const void *object, const char *call, uintptr_t place);
void softdpu_check_ranged(const void *map, int result, const char *call, uintptr_t place);
void softdpu_check_listen(const void *ctx, uint32_t kind, const void *function);
const void *softdpu_check_listener(const void *ctx, uint32_t kind);
void softdpu_check_packet(const void *packet, const void *queue, uintptr_t place);
void softdpu_check_packets(struct doca_buf *const *array, uint16_t count);
void softdpu_check_packets_freed(const void *array, uintptr_t place);
void softdpu_check_flow_made(const char *what, const void *object, const void *cfg, uintptr_t place);
void softdpu_check_flow_refused(const void *object, int result, const char *call, uintptr_t place);
void softdpu_check_flow_entry(const void *pipe, uint16_t queue, uintptr_t place);
void softdpu_check_flow_processed(const void *port, uint16_t queue);
void softdpu_check_flow_pipe_gone(const void *pipe, uintptr_t place);
void softdpu_check_flow_stopped(const void *port, uintptr_t place);
void softdpu_check_import(const void *dev, int result, const char *call, uintptr_t place);
void softdpu_check_run(const void *run, int flies, int result, const char *call, uintptr_t place);
void softdpu_check_event(const void *event, int result, const char *call, uintptr_t place);
/* This end: whether a place is in the library, which calls functions of its own face, too. */
int softdpu_check_is_library(uintptr_t place);
void softdpu_check_lifted(const void *map, int lifted);
void softdpu_check_range(const void *map, const void *addr, size_t len);
void softdpu_check_memory(const void *addr, size_t len, int what, uintptr_t place);

/* Where the window and the data of a new buffer lie. */
void softdpu_check_new_buffer(const struct doca_buf *buf) __attribute__((visibility("hidden")));

/* The library's own function of a name. */
__attribute__((visibility("hidden"))) void *softdpu_check_find(const char *name);

/* Found once; two threads that find it at the same time find the same. */
#define REAL(f) \
	({ \
		static void *real_; \
		void *at_ = __atomic_load_n(&real_, __ATOMIC_RELAXED); \
		if (at_ == NULL) { \
			at_ = softdpu_check_find(#f); \
			__atomic_store_n(&real_, at_, __ATOMIC_RELAXED); \
		} \
		(__typeof__(&f))at_; \
	})

#define PLACE ((uintptr_t)__builtin_return_address(0))

/*
 * What is at hand of a thread: its number, the progress engine it asked for last and what the other end knows of that,
 * and the same of the one whose callback it may be in. Found without a call: this library is there from the start.
 */
extern __thread struct mine {
	int number;
	const void *pe;
	struct pump *pump;
	struct pump *inside; /* never NULL once the thread has been inside, and so has the number */
} mine __attribute__((tls_model("initial-exec"), visibility("hidden")));

void softdpu_check_renew(void) __attribute__((visibility("hidden")));

/* For calls outside of any engine that is known. */
extern struct pump nowhere __attribute__((visibility("hidden")));

/* Its address, worked out once in a function. */
static inline struct mine *at_hand(void)
{
	struct mine *own = &mine;

	__asm__("" : "+r"(own));
	return own;
}

static inline int me(void)
{
	struct mine *own = at_hand();

	if (__builtin_expect(own->number == 0, 0))
		own->number = (int)gettid();
	return own->number;
}

/* The engine whose callback this is. The library may have called progress itself. */
static inline struct pump *inside(struct mine *own)
{
	if (__builtin_expect(own->inside == NULL, 0)) {
		(void)me();
		own->inside = &nowhere;
	}
	return own->inside;
}

/* Makes an object; `a` and `b` are what it hangs on. */
#define CREATE(kind_, what_, f_, out_, a_, b_, ...) \
	do { \
		doca_error_t result_ = REAL(f_)(__VA_ARGS__); \
		if (result_ == DOCA_SUCCESS) \
			softdpu_check_created(kind_, what_, *(out_), a_, b_, PLACE); \
		else \
			softdpu_check_failed((int)result_, #f_, PLACE, a_, b_, NULL); \
		return result_; \
	} while (0)

#define DESTROY(f_, object_) \
	do { \
		uint32_t born_ = softdpu_check_destroy(object_, #f_, PLACE); \
		doca_error_t result_ = REAL(f_)(object_); \
		softdpu_check_destroyed(object_, born_, (int)result_, #f_, PLACE); \
		return result_; \
	} while (0)

/* What a call that failed was about. */
#define TELL(call_, result_, a_, b_, c_) \
	do { \
		if ((result_) != DOCA_SUCCESS) \
			softdpu_check_failed((int)(result_), call_, PLACE, a_, b_, c_); \
	} while (0)

/*
 * A call with parameters and the same as arguments; what a success means, and the objects that it is about. Most functions
 * of this library are of this form.
 */
#define CALL(f_, parameters_, arguments_, done_, a_, b_, c_) \
	doca_error_t f_ parameters_ \
	{ \
		doca_error_t result = REAL(f_) arguments_; \
		if (result == DOCA_SUCCESS) { \
			done_; \
		} \
		TELL(#f_, result, a_, b_, c_); \
		return result; \
	}

/* One more of what only the thread inside counts. */
static inline void count(_Atomic uint64_t *counter)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1, memory_order_relaxed);
}

/*
 * The program's function for an event of a context, run in its place. Events may come inside of other callbacks, and
 * outside of progress: the outermost one is what the engine is inside of.
 */
#define EVENT(name_, kind_, parameters_, arguments_, ctx_, before_) \
	static void name_ parameters_ \
	{ \
		struct pump *pump = inside(at_hand()); \
		int outermost = atomic_load_explicit(&pump->callbacks, memory_order_relaxed) % 2 == 0; \
		void (*call) parameters_ = (void (*) parameters_)(uintptr_t)softdpu_check_listener(ctx_, kind_); \
		before_; \
		if (outermost) \
			count(&pump->callbacks); \
		if (call != NULL) \
			call arguments_; \
		if (outermost) \
			count(&pump->callbacks); \
	}

/* The program's function for an event, or NULL: once the library has taken what stands for it. */
#define LISTEN(ctx_, kind_, function_) softdpu_check_listen(ctx_, kind_, (const void *)(uintptr_t)(function_))

/* Ends a context, whose state is looked at first. */
#define END_CONTEXT(type_, destroy_) \
	doca_error_t destroy_(struct type_ *object) \
	{ \
		const struct doca_ctx *ctx = (const struct doca_ctx *)object; \
		enum doca_ctx_states state = DOCA_CTX_STATE_IDLE; \
		size_t inflight = 0; \
		if (REAL(doca_ctx_get_state)(ctx, &state) == DOCA_SUCCESS) \
			(void)REAL(doca_ctx_get_num_inflight_tasks)(ctx, &inflight); \
		softdpu_check_ctx_destroy(object, (int)state, inflight, #destroy_, PLACE); \
		DESTROY(destroy_, object); \
	}

/* A context on a device, and the call that tells the most data of a task. */
#define LIMITED_CONTEXT(engine_, type_, create_, destroy_, most_) \
	doca_error_t create_(struct doca_dev *dev, struct type_ **out) \
	{ \
		doca_error_t result = REAL(create_)(dev, out); \
		uint64_t most; \
		if (result == DOCA_SUCCESS) { \
			softdpu_check_created(CTX, engine_ " context", *out, dev, NULL, PLACE); \
			if (REAL(most_)(REAL(doca_dev_as_devinfo)(dev), &most) == DOCA_SUCCESS) \
				softdpu_check_most(*out, most); \
		} \
		TELL(#create_, result, dev, NULL, NULL); \
		return result; \
	} \
	END_CONTEXT(type_, destroy_)

/* A context on a device. */
#define CONTEXT(engine_, type_, create_, destroy_) \
	doca_error_t create_(struct doca_dev *dev, struct type_ **out) \
	{ \
		CREATE(CTX, engine_ " context", create_, out, dev, NULL, dev, out); \
	} \
	END_CONTEXT(type_, destroy_)

/*
 * One kind of task: the program's callbacks are kept with the context, and each task is told from where it comes.
 * Completions go by way of these two, so that a task is known to be the program's again before its callback runs.
 */
#define CALLBACK(name_, task_, good_) \
	static void name_(struct task_ *task, union doca_data user, union doca_data ctx_user) \
	{ \
		struct mine *own = at_hand(); \
		struct pump *pump = inside(own); \
		void (*call)(struct task_ *, union doca_data, union doca_data); \
		count(&pump->callbacks); \
		call = (void (*)(struct task_ *, union doca_data, union doca_data))(uintptr_t)softdpu_check_done( \
			task, good_, own->number); \
		if (call != NULL) \
			call(task, user, ctx_user); \
		count(&pump->callbacks); \
	}

#define CALLBACKS(name_, task_) \
	CALLBACK(name_##_good, task_, 1) \
	CALLBACK(name_##_bad, task_, 0)

/* The first of the buffers that is none any more; tasks are made over any two. */
static inline const void *dead_one(const struct doca_buf *src, const struct doca_buf *dst)
{
	uint16_t count;

	if (src != NULL && REAL(doca_buf_get_refcount)(src, &count) != DOCA_SUCCESS)
		return src;
	return dst != NULL && REAL(doca_buf_get_refcount)(dst, &count) != DOCA_SUCCESS ? dst : NULL;
}

/* The pool of a kind of tasks, made with the callbacks `name_`. */
#define POOL_OF(tag_, name_, f_, engine_, cb_) \
	doca_error_t f_(struct engine_ *engine, cb_ good, cb_ bad, uint32_t tasks) \
	{ \
		doca_error_t result = REAL(f_)(engine, good != NULL ? name_##_good : NULL, \
					       bad != NULL ? name_##_bad : NULL, tasks); \
		if (result == DOCA_SUCCESS) \
			softdpu_check_pool(engine, tag_, tasks, (const void *)(uintptr_t)good, \
					   (const void *)(uintptr_t)bad); \
		TELL(#f_, result, engine, NULL, NULL); \
		return result; \
	}

/* How a task is allocated: the buffers that it names. */
#define ALLOCATED(tag_, f_, engine_, src_, dst_, parameters_, arguments_, then_) \
	doca_error_t f_ parameters_ \
	{ \
		doca_error_t result = REAL(f_) arguments_; \
		if (result == DOCA_SUCCESS) \
			softdpu_check_task(engine_, tag_, *task, src_, dst_, dead_one(src_, dst_), #f_, PLACE); \
		else \
			softdpu_check_no_task(engine_, tag_, (int)result, #f_, PLACE); \
		then_; \
		TELL(#f_, result, engine_, src_, dst_); \
		return result; \
	}

#endif
