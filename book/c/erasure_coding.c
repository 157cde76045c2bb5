/* Erasure coding: four blocks of data, two of redundancy, two are lost and come back. */
#include "tutorial.h"

#include <doca_erasure_coding.h>

#define DATA 4u
#define REDUNDANCY 2u
#define BLOCK 1024u

static void created(struct doca_ec_task_create *task, union doca_data user, union doca_data ctx)
{
	(void)user;
	landed(ctx, doca_ec_task_create_as_task(task));
}

static void recovered(struct doca_ec_task_recover *task, union doca_data user, union doca_data ctx)
{
	(void)user;
	landed(ctx, doca_ec_task_recover_as_task(task));
}

int main(void)
{
	struct rig rig = make_rig(doca_ec_cap_task_recover_is_supported, 16 * BLOCK, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	char *redundancy = rig.memory + DATA * BLOCK, *found = rig.memory + 8 * BLOCK, kept[BLOCK];
	struct doca_ec_matrix *coding, *recovering;
	struct doca_ec_task_recover *recover;
	struct doca_ec_task_create *create;
	uint32_t lost[] = {1, 4}; /* a block of data, and the first of redundancy */
	struct doca_buf *src, *dst;
	union doca_data none = {0};
	struct doca_ec *ec;

	for (unsigned i = 0; i < DATA * BLOCK; i++)
		rig.memory[i] = (char)(i * 7 + i / BLOCK);
	MUST(doca_ec_create(rig.dev, &ec));
	MUST(doca_ec_task_create_set_conf(ec, created, created, 1));
	MUST(doca_ec_task_recover_set_conf(ec, recovered, recovered, 1));
	start(&rig, doca_ec_as_ctx(ec));

	MUST(doca_ec_matrix_create(ec, DOCA_EC_MATRIX_TYPE_CAUCHY, DATA, REDUNDANCY, &coding));
	src = data(&rig, 0, DATA * BLOCK);
	dst = room(&rig, DATA * BLOCK, REDUNDANCY * BLOCK);
	MUST(doca_ec_task_create_allocate_init(ec, coding, src, dst, none, &create));
	MUST(carry_out(&rig, doca_ec_task_create_as_task(create)));
	printf("redundancy: %zu bytes\n", length_of(dst));
	MUST(doca_buf_dec_refcount(src, NULL));
	MUST(doca_buf_dec_refcount(dst, NULL));

	/* Block 1 is gone. What is left goes in, in the order of the blocks: 0, 2, 3, 5. */
	memcpy(kept, rig.memory + BLOCK, BLOCK);
	memset(rig.memory + BLOCK, 0, BLOCK);
	MUST(doca_ec_matrix_create_recover(ec, coding, lost, 2, &recovering));
	src = data(&rig, 0, BLOCK);
	MUST(doca_buf_chain_list(src, data(&rig, 2 * BLOCK, 2 * BLOCK)));
	MUST(doca_buf_chain_list(src, data(&rig, 5 * BLOCK, BLOCK)));
	dst = room(&rig, 8 * BLOCK, 2 * BLOCK);
	MUST(doca_ec_task_recover_allocate_init(ec, recovering, src, dst, none, &recover));
	MUST(carry_out(&rig, doca_ec_task_recover_as_task(recover)));
	printf("block 1: %s, block 4: %s\n", memcmp(found, kept, BLOCK) == 0 ? "back" : "wrong",
	       memcmp(found + BLOCK, redundancy, BLOCK) == 0 ? "back" : "wrong");

	MUST(doca_buf_dec_refcount(src, NULL));
	MUST(doca_buf_dec_refcount(dst, NULL));
	MUST(doca_ec_matrix_destroy(recovering));
	MUST(doca_ec_matrix_destroy(coding));
	stop(&rig, doca_ec_as_ctx(ec));
	MUST(doca_ec_destroy(ec));
	free_rig(&rig);
	return 0;
}
