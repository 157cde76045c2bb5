/*
 * A send queue alone: plain and large sends, single and in batches. Nobody receives, and every frame
 * leaves all the same. What cannot be sent fails by itself; a stop gives back what was not sent, and
 * the queue is idle with the last completion.
 *
 * clauses: eth TXQ CPU datapath; Batch functions of doca_pe.h; Behaviour (start and stop, setup details)
 * covers: doca_eth_txq_task_send_allocate_init doca_eth_txq_task_send_set_pkt doca_eth_txq_task_send_get_pkt
 *   doca_eth_txq_task_send_get_metadata_array doca_eth_txq_task_send_set_ol_flags
 *   doca_eth_txq_task_send_as_doca_task doca_eth_txq_task_lso_send_allocate_init
 *   doca_eth_txq_task_lso_send_set_pkt_payload doca_eth_txq_task_lso_send_set_headers
 *   doca_eth_txq_task_lso_send_get_pkt_payload doca_eth_txq_task_lso_send_get_headers
 *   doca_eth_txq_task_lso_send_get_metadata_array doca_eth_txq_task_lso_send_set_mss
 *   doca_eth_txq_task_lso_send_set_ol_flags doca_eth_txq_task_lso_send_as_doca_task
 *   doca_eth_txq_task_batch_send_allocate doca_eth_txq_task_batch_send_get_metadata_array
 *   doca_eth_txq_task_batch_send_get_ol_flags_array doca_eth_txq_task_batch_lso_send_allocate
 *   doca_eth_txq_task_batch_lso_send_get_metadata_array doca_eth_txq_task_batch_lso_send_get_mss_array
 *   doca_eth_txq_task_batch_lso_send_get_ol_flags_array doca_task_batch_submit doca_task_batch_try_submit
 *   doca_task_batch_free doca_task_batch_get_status doca_task_batch_get_tasks_num
 *   doca_task_batch_set_user_data doca_task_batch_get_user_data doca_task_batch_get_ctx
 *   doca_task_batch_get_ctx_user_data
 */
#include "eth_rig.h"

#define BAD DOCA_ERROR_INVALID_VALUE
#define MOST 64

static struct eth eth;
static struct doca_eth_txq *txq;
static struct doca_ctx *ctx;
static unsigned good, bad, frames_bad;
static doca_error_t last;
static uint64_t last_user;
static int keep;

static void done(struct doca_task *task, union doca_data user, int success)
{
	eth.calls++;
	good += success;
	bad += !success;
	last = doca_task_get_status(task);
	last_user = user.u64;
	CHECK((last == DOCA_SUCCESS) == success);
	if (!keep)
		doca_task_free(task);
}

static void send_ok(struct doca_eth_txq_task_send *task, union doca_data user, union doca_data data)
{
	CHECK_U64(data.u64, 99);
	done(doca_eth_txq_task_send_as_doca_task(task), user, 1);
}

static void send_bad(struct doca_eth_txq_task_send *task, union doca_data user, union doca_data data)
{
	(void)data;
	done(doca_eth_txq_task_send_as_doca_task(task), user, 0);
}

static void lso_ok(struct doca_eth_txq_task_lso_send *task, union doca_data user, union doca_data data)
{
	(void)data;
	done(doca_eth_txq_task_lso_send_as_doca_task(task), user, 1);
}

static void lso_bad(struct doca_eth_txq_task_lso_send *task, union doca_data user, union doca_data data)
{
	(void)data;
	done(doca_eth_txq_task_lso_send_as_doca_task(task), user, 0);
}

static void batch_done(struct doca_task_batch *batch, uint16_t count, union doca_data data, union doca_data user,
		       union doca_data *users, struct doca_buf **packets, const doca_error_t *status, int success)
{
	unsigned i;

	eth.calls++;
	good += success;
	bad += !success;
	last = doca_task_batch_get_status(batch);
	CHECK((last == DOCA_SUCCESS) == success);
	last_user = user.u64;
	CHECK_U64(data.u64, 99);
	CHECK_U64(doca_task_batch_get_tasks_num(batch), count);
	CHECK_PTR(doca_task_batch_get_ctx(batch), ctx);
	CHECK_U64(doca_task_batch_get_user_data(batch).u64, user.u64);
	CHECK_U64(doca_task_batch_get_ctx_user_data(batch).u64, 99);
	for (i = 0; i < count; i++) {
		frames_bad += status[i] != DOCA_SUCCESS;
		if (packets[i] != NULL)
			CHECK_U64(users[i].u64, user.u64 + i);
	}
	if (!keep)
		doca_task_batch_free(batch);
}

static void batch_ok(struct doca_task_batch *batch, uint16_t count, union doca_data data, union doca_data user,
		     union doca_data *users, struct doca_buf **packets, doca_error_t *status)
{
	batch_done(batch, count, data, user, users, packets, status, 1);
}

static void batch_bad(struct doca_task_batch *batch, uint16_t count, union doca_data data, union doca_data user,
		      union doca_data *users, struct doca_buf **packets, doca_error_t *status)
{
	batch_done(batch, count, data, user, users, packets, status, 0);
}

static void lso_batch_ok(struct doca_task_batch *batch, uint16_t count, union doca_data data, union doca_data user,
			 union doca_data *users, struct doca_buf **packets, struct doca_gather_list **headers,
			 doca_error_t *status)
{
	CHECK(headers[0] != NULL);
	batch_done(batch, count, data, user, users, packets, status, 1);
}

static void lso_batch_bad(struct doca_task_batch *batch, uint16_t count, union doca_data data, union doca_data user,
			  union doca_data *users, struct doca_buf **packets, struct doca_gather_list **headers,
			  doca_error_t *status)
{
	(void)headers;
	batch_done(batch, count, data, user, users, packets, status, 0);
}

static void start(void)
{
	const int most = DOCA_TASK_BATCH_MAX_TASKS_NUMBER_64;
	union doca_data data = {.u64 = 99};

	MUST(doca_eth_txq_create(eth.dev[0], 256, &txq));
	ctx = doca_eth_txq_as_doca_ctx(txq);
	MUST(doca_eth_txq_set_metadata_num(txq, 2));
	MUST(doca_eth_txq_set_max_lso_header_size(txq, 64));
	MUST(doca_eth_txq_set_max_send_buf_list_len(txq, 3));
	MUST(doca_eth_txq_task_send_set_conf(txq, send_ok, send_bad, 256));
	MUST(doca_eth_txq_task_lso_send_set_conf(txq, lso_ok, lso_bad, 16));
	MUST(doca_eth_txq_task_batch_send_set_conf(txq, most, 4, batch_ok, batch_bad));
	MUST(doca_eth_txq_task_batch_lso_send_set_conf(txq, most, 4, lso_batch_ok, lso_batch_bad));
	MUST(doca_ctx_set_user_data(ctx, data));
	MUST(doca_pe_connect_ctx(eth.pe, ctx));
	MUST(doca_ctx_start(ctx));
	MUST(doca_eth_txq_apply_queue_id(txq, 0));
}

static struct doca_eth_txq_task_send *send_task(struct doca_buf *buf, uint64_t number)
{
	struct doca_eth_txq_task_send *task = NULL;
	union doca_data user = {.u64 = number};

	MUST(doca_eth_txq_task_send_allocate_init(txq, buf, user, &task));
	return task;
}

/* One send that must fail, or be refused by the submit that looks. */
static void fails(struct doca_buf *buf, doca_error_t want)
{
	struct doca_task *task = doca_eth_txq_task_send_as_doca_task(send_task(buf, 3));
	unsigned before = bad;

	CHECK_STATUS(doca_task_try_submit(task), want);
	CHECK_OK(doca_task_submit(task));
	ETH_UNTIL(&eth, bad == before + 1);
	CHECK_STATUS(last, want);
	CHECK_U64(eth_state(ctx), DOCA_CTX_STATE_RUNNING);
}

static void sends(void)
{
	struct doca_eth_txq_task_send *task, *wrong;
	struct doca_buf *buf = eth_buf(&eth, 0, 2048, 1500), *list, *tail, *found = NULL, *pieces[4];
	struct doca_mmap *deaf = NULL;
	uint32_t *words = NULL;
	unsigned i;

	for (i = 0; i < 200; i++)
		CHECK_OK(doca_task_submit(doca_eth_txq_task_send_as_doca_task(send_task(buf, i))));
	for (i = 0; i < 200; i++) {
		ETH_UNTIL(&eth, good == i + 1);
		CHECK_U64(last_user, i);
	}
	/* What a task knows of itself; it flies again as it is. */
	task = send_task(buf, 7);
	CHECK_OK(doca_eth_txq_task_send_get_pkt(task, &found));
	CHECK_PTR(found, buf);
	CHECK_STATUS(doca_eth_txq_task_send_get_pkt(task, NULL), BAD);
	CHECK_STATUS(doca_eth_txq_task_send_get_pkt(NULL, &found), BAD);
	CHECK_OK(doca_eth_txq_task_send_get_metadata_array(task, &words));
	words[0] = words[1] = 5;
	doca_eth_txq_task_send_set_ol_flags(task, DOCA_ETH_TXQ_OL_FLAGS_L3_CSUM);
	list = eth_buf(&eth, 4096, 100, 100);
	tail = eth_buf(&eth, 8192, 100, 100);
	MUST(doca_buf_chain_list(list, tail));
	doca_eth_txq_task_send_set_pkt(task, list);
	keep = 1;
	CHECK_OK(doca_task_try_submit(doca_eth_txq_task_send_as_doca_task(task)));
	ETH_UNTIL(&eth, good == 201);
	CHECK_OK(doca_eth_txq_task_send_get_pkt(task, &found));
	CHECK_PTR(found, list);
	CHECK_OK(doca_task_submit(doca_eth_txq_task_send_as_doca_task(task)));
	keep = 0;
	ETH_UNTIL(&eth, good == 202);
	CHECK_OK(doca_buf_dec_refcount(list, NULL));

	/* Too short, too long, nothing there, a list too long, memory that is not this device's. */
	MUST(doca_buf_set_data(buf, eth.mem, 13));
	fails(buf, BAD);
	MUST(doca_buf_set_data(buf, eth.mem, 14));
	CHECK_OK(doca_task_try_submit(doca_eth_txq_task_send_as_doca_task(send_task(buf, 1))));
	ETH_UNTIL(&eth, good == 203);
	CHECK_OK(doca_buf_dec_refcount(buf, NULL));
	buf = eth_buf(&eth, 0, 20000, 9601);
	fails(buf, BAD);
	CHECK_OK(doca_buf_dec_refcount(buf, NULL));
	for (i = 0; i < 4; i++)
		pieces[i] = eth_buf(&eth, i * 100, 100, 100);
	for (i = 1; i < 4; i++)
		MUST(doca_buf_chain_list(pieces[0], pieces[i]));
	fails(pieces[0], BAD);
	CHECK_OK(doca_buf_dec_refcount(pieces[0], NULL));
	MUST(doca_mmap_create(&deaf));
	MUST(doca_mmap_add_dev(deaf, eth.dev[1]));
	MUST(doca_mmap_set_memrange(deaf, eth.mem, 4096));
	MUST(doca_mmap_start(deaf));
	MUST(doca_buf_inventory_buf_get_by_data(eth.inv, deaf, eth.mem, 100, &buf));
	fails(buf, BAD);
	wrong = send_task(buf, 1);
	CHECK_OK(doca_buf_dec_refcount(buf, NULL));
	CHECK_OK(doca_task_submit(doca_eth_txq_task_send_as_doca_task(wrong)));
	ETH_UNTIL(&eth, last == BAD && bad == 5);
	CHECK_OK(doca_mmap_destroy(deaf));
}

static void large(void)
{
	static uint8_t bytes[2][14];
	struct doca_gather_list second = {bytes[1], 7, NULL}, first = {bytes[0], 7, &second}, *headers = NULL;
	struct doca_gather_list much = {eth.mem, 65, NULL}, runt = {eth.mem, 13, NULL};
	struct doca_buf *buf = eth_buf(&eth, 0, 4000, 4000), *found = NULL;
	struct doca_eth_txq_task_lso_send *task = NULL;
	struct doca_task *plain;
	union doca_data user = {.u64 = 1};
	uint32_t *words = NULL;
	unsigned was_good = good, was_bad = bad;

	CHECK_STATUS(doca_eth_txq_task_lso_send_allocate_init(txq, buf, NULL, user, &task), BAD);
	CHECK_STATUS(doca_eth_txq_task_lso_send_allocate_init(txq, NULL, &first, user, &task), BAD);
	MUST(doca_eth_txq_task_lso_send_allocate_init(txq, buf, &first, user, &task));
	plain = doca_eth_txq_task_lso_send_as_doca_task(task);
	CHECK_OK(doca_eth_txq_task_lso_send_get_pkt_payload(task, &found));
	CHECK_PTR(found, buf);
	CHECK_OK(doca_eth_txq_task_lso_send_get_headers(task, &headers));
	CHECK_PTR(headers, &first);
	CHECK_OK(doca_eth_txq_task_lso_send_get_metadata_array(task, &words));
	words[1] = 1;
	/* A task of the other kind is none. */
	CHECK_STATUS(doca_eth_txq_task_send_get_pkt((struct doca_eth_txq_task_send *)task, &found), BAD);
	keep = 1;
	CHECK_OK(doca_task_submit(plain));
	ETH_UNTIL(&eth, good == was_good + 1);
	doca_eth_txq_task_lso_send_set_mss(task, 100);
	doca_eth_txq_task_lso_send_set_ol_flags(task, 3);
	doca_eth_txq_task_lso_send_set_pkt_payload(task, buf);
	CHECK_OK(doca_task_try_submit(plain));
	ETH_UNTIL(&eth, good == was_good + 2);
	/* No segment size, one that is too large; a header that is too long or too short. */
	doca_eth_txq_task_lso_send_set_mss(task, 0);
	CHECK_STATUS(doca_task_try_submit(plain), BAD);
	doca_eth_txq_task_lso_send_set_mss(task, 9600);
	CHECK_STATUS(doca_task_try_submit(plain), BAD);
	doca_eth_txq_task_lso_send_set_mss(task, 1500);
	doca_eth_txq_task_lso_send_set_headers(task, &much);
	CHECK_STATUS(doca_task_try_submit(plain), BAD);
	doca_eth_txq_task_lso_send_set_headers(task, &runt);
	CHECK_STATUS(doca_task_try_submit(plain), BAD);
	CHECK_OK(doca_task_submit(plain));
	ETH_UNTIL(&eth, bad == was_bad + 1);
	CHECK_STATUS(last, BAD);
	doca_task_free(plain);
	keep = 0;
	CHECK_OK(doca_buf_dec_refcount(buf, NULL));
}

static void batches(void)
{
	struct doca_buf **packets = NULL, *buf = eth_buf(&eth, 0, 2048, 1500);
	struct doca_gather_list header = {eth.mem, 14, NULL}, **headers = NULL;
	union doca_data *users = NULL, user = {.u64 = 1000}, other = {.u64 = 2000};
	struct doca_task_batch *batch = NULL, *more[4];
	uint16_t *flags = NULL, *mss = NULL;
	uint32_t *words = NULL;
	unsigned was_good = good, was_bad = bad, i, round;

	CHECK_STATUS(doca_eth_txq_task_batch_send_allocate(txq, 0, user, &packets, &users, &batch), BAD);
	CHECK_STATUS(doca_eth_txq_task_batch_send_allocate(txq, MOST + 1, user, &packets, &users, &batch), BAD);
	CHECK_STATUS(doca_eth_txq_task_batch_send_allocate(txq, 1, user, NULL, &users, &batch), BAD);
	CHECK_STATUS(doca_eth_txq_task_batch_send_allocate(txq, 1, user, &packets, NULL, &batch), BAD);
	CHECK_STATUS(doca_eth_txq_task_batch_send_allocate(txq, 1, user, &packets, &users, NULL), BAD);
	for (round = 0; round < 20; round++) {
		MUST(doca_eth_txq_task_batch_send_allocate(txq, 32, user, &packets, &users, &batch));
		CHECK_U64(doca_task_batch_get_tasks_num(batch), 32);
		CHECK_OK(doca_eth_txq_task_batch_send_get_ol_flags_array(batch, &flags));
		CHECK_OK(doca_eth_txq_task_batch_send_get_metadata_array(batch, &words));
		CHECK_STATUS(doca_eth_txq_task_batch_lso_send_get_ol_flags_array(batch, &flags), BAD);
		CHECK_STATUS(doca_eth_txq_task_batch_send_get_metadata_array(batch, NULL), BAD);
		for (i = 0; i < 32; i++) {
			packets[i] = buf;
			users[i].u64 = 2000 + i;
			CHECK_U64(flags[i], 0);
			doca_eth_txq_task_batch_metadata_array_get_metadata(words, 2, i, 1) = i;
		}
		CHECK_U64(words[2 * 31 + 1], 31);
		CHECK_U64(doca_task_batch_get_user_data(batch).u64, 1000);
		doca_task_batch_set_user_data(batch, other);
		CHECK_OK(round % 2 ? doca_task_batch_try_submit(batch) : doca_task_batch_submit(batch));
		if (round == 0)
			CHECK_STATUS(doca_task_batch_submit(batch), DOCA_ERROR_BAD_STATE);
		ETH_UNTIL(&eth, good == was_good + round + 1);
		CHECK_U64(last_user, 2000);
	}
	CHECK_U64(frames_bad, 0);
	/* A handle that was given back. */
	CHECK_STATUS(doca_task_batch_submit(batch), BAD);
	CHECK_U64(doca_task_batch_get_tasks_num(batch), 0);
	/* A packet that is missing fails alone; the batch tells. */
	MUST(doca_eth_txq_task_batch_send_allocate(txq, 3, user, &packets, &users, &batch));
	packets[0] = packets[2] = buf;
	CHECK_PTR(packets[1], NULL);
	users[0].u64 = 1000;
	users[2].u64 = 1002;
	CHECK_STATUS(doca_task_batch_try_submit(batch), BAD);
	CHECK_OK(doca_task_batch_submit(batch));
	ETH_UNTIL(&eth, bad == was_bad + 1);
	CHECK_U64(frames_bad, 1);
	frames_bad = 0;
	/* As many as there are. */
	for (i = 0; i < 4; i++)
		MUST(doca_eth_txq_task_batch_send_allocate(txq, 1, user, &packets, &users, &more[i]));
	CHECK_STATUS(doca_eth_txq_task_batch_send_allocate(txq, 1, user, &packets, &users, &batch), DOCA_ERROR_NO_MEMORY);
	CHECK_OK(doca_eth_txq_task_batch_send_num_expand(txq, 1));
	MUST(doca_eth_txq_task_batch_send_allocate(txq, 1, user, &packets, &users, &batch));
	doca_task_batch_free(batch);
	for (i = 0; i < 4; i++)
		doca_task_batch_free(more[i]);

	MUST(doca_eth_txq_task_batch_lso_send_allocate(txq, MOST, user, &packets, &headers, &users, &batch));
	CHECK_OK(doca_eth_txq_task_batch_lso_send_get_mss_array(batch, &mss));
	CHECK_OK(doca_eth_txq_task_batch_lso_send_get_ol_flags_array(batch, &flags));
	CHECK_OK(doca_eth_txq_task_batch_lso_send_get_metadata_array(batch, &words));
	CHECK_STATUS(doca_eth_txq_task_batch_lso_send_get_mss_array(NULL, &mss), BAD);
	for (i = 0; i < MOST; i++) {
		packets[i] = buf;
		headers[i] = &header;
		users[i].u64 = 1000 + i;
		CHECK_U64(mss[i], 1500);
		mss[i] = 100 + (uint16_t)i;
	}
	CHECK_OK(doca_task_batch_try_submit(batch));
	ETH_UNTIL(&eth, good == was_good + 21);
	CHECK_U64(frames_bad, 0);
	CHECK_OK(doca_buf_dec_refcount(buf, NULL));
}

/* What was submitted and not carried out comes back failed; idle comes with the last of it. */
static void stop(void)
{
	struct doca_buf **packets = NULL, *buf = eth_buf(&eth, 0, 2048, 1500);
	union doca_data *users = NULL, user = {.u64 = 0};
	struct doca_task_batch *batch = NULL;
	unsigned was_bad = bad, i;

	for (i = 0; i < 10; i++)
		CHECK_OK(doca_task_submit(doca_eth_txq_task_send_as_doca_task(send_task(buf, i))));
	MUST(doca_eth_txq_task_batch_send_allocate(txq, 2, user, &packets, &users, &batch));
	packets[0] = packets[1] = buf;
	users[1].u64 = 1;
	CHECK_OK(doca_task_batch_submit(batch));
	CHECK_STATUS(doca_ctx_stop(ctx), DOCA_ERROR_IN_PROGRESS);
	CHECK_U64(eth_state(ctx), DOCA_CTX_STATE_STOPPING);
	ETH_UNTIL(&eth, bad == was_bad + 11);
	CHECK_STATUS(last, DOCA_ERROR_IO_FAILED);
	CHECK_U64(frames_bad, 2);
	CHECK_U64(eth_state(ctx), DOCA_CTX_STATE_IDLE);
	CHECK_OK(doca_buf_dec_refcount(buf, NULL));
	CHECK_OK(doca_eth_txq_destroy(txq));
}

int main(void)
{
	eth_setup(&eth);
	start();
	sends();
	large();
	batches();
	stop();
	eth_teardown(&eth);
	return check_result();
}
