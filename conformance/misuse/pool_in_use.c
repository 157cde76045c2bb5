/*
 * rule: pool-in-use
 *
 * A buffer pool is destroyed while a buffer of it is out.
 */
#include "misuse.h"

#include <doca_buf_pool.h>

int main(void)
{
	struct rig rig;
	struct doca_buf_pool *pool = NULL;
	struct doca_buf *buf = NULL;

	rig_setup(&rig, 4096, 4);
	MUST(doca_buf_pool_create(4, 64, rig.map, &pool));
	MUST(doca_buf_pool_start(pool));
	MUST(doca_buf_pool_buf_alloc(pool, &buf));
	if (WRONG)
		(void)doca_buf_pool_destroy(pool);
	MUST(doca_buf_dec_refcount(buf, NULL));
	MUST(doca_buf_pool_stop(pool));
	MUST(doca_buf_pool_destroy(pool));
	rig_teardown(&rig);
	return check_result();
}
