/*
 * rule: progress-two-threads
 *
 * Two threads progress one engine at the same time.
 */
#include "misuse.h"

#include <pthread.h>

static struct rig rig;
static pthread_t second;

static void *progress(void *unused)
{
	(void)unused;
	(void)doca_pe_progress(rig.pe);
	return NULL;
}

static void on_done(struct rig *of, struct doca_dma_task_memcpy *task)
{
	(void)of;
	(void)task;
	/* The other thread is inside progress while this one is, too. */
	if (WRONG) {
		MUST_BE(pthread_create(&second, NULL, progress, NULL) == 0);
		MUST_BE(pthread_join(second, NULL) == 0);
	}
}

int main(void)
{
	rig_setup(&rig, 4096, 4);
	rig.on_done = on_done;
	MUST(doca_task_submit(copy_task(&rig, 0, 1024, 64)));
	while (rig.good == 0)
		(void)doca_pe_progress(rig.pe);
	/* One after the other is right. */
	MUST_BE(pthread_create(&second, NULL, progress, NULL) == 0);
	MUST_BE(pthread_join(second, NULL) == 0);
	rig_teardown(&rig);
	return check_result();
}
