/*
 * A task graph: a function checks the input, two copies run side by side, a function compares them,
 * a hash of the first goes last. Ten instances fly at once, a hundred times; in one of them the check
 * says no, and what stands behind it does not run.
 *
 * clauses: core-sync-graph Graph
 * covers: @
 */
#define _GNU_SOURCE

#include <doca_dma.h>
#include <doca_graph.h>
#include <doca_sha.h>

#include "app_common.h"

#define INSTANCES 10u
#define ROUNDS 100u
#define BYTES 512u
#define CELL 2048u /* first copy, second copy, hash */

static struct app_core core;
static uint32_t good, bad, checks, compares;

struct cell {
	uint32_t index;
	int refuse;
};

static doca_error_t check_input(void *cookie)
{
	struct cell *cell = (struct cell *)cookie;

	checks++;
	return cell->refuse ? DOCA_ERROR_BAD_CONFIG : DOCA_SUCCESS;
}

static doca_error_t compare(void *cookie)
{
	const uint8_t *at = core.dst + ((struct cell *)cookie)->index * CELL;

	compares++;
	return memcmp(at, at + BYTES, BYTES) == 0 ? DOCA_SUCCESS : DOCA_ERROR_UNEXPECTED;
}

static void graph_good(struct doca_graph_instance *instance, union doca_data user, union doca_data graph_user)
{
	(void)instance, (void)user;
	CHECK_U64(graph_user.u64, 77);
	good++;
}

static void graph_bad(struct doca_graph_instance *instance, union doca_data user, union doca_data graph_user)
{
	(void)instance, (void)graph_user;
	CHECK_U64(user.u64, 3);
	bad++;
}

/* Callbacks of single tasks are not called for tasks that a graph runs. */
static void never_dma(struct doca_dma_task_memcpy *task, union doca_data user, union doca_data ctx)
{
	(void)task, (void)user, (void)ctx;
	check_fail(__FILE__, __LINE__, "a node's task was reported by itself");
}

static void never_sha(struct doca_sha_task_hash *task, union doca_data user, union doca_data ctx)
{
	(void)task, (void)user, (void)ctx;
	check_fail(__FILE__, __LINE__, "a node's task was reported by itself");
}

static doca_error_t capable(const struct doca_devinfo *info)
{
	doca_error_t result = doca_dma_cap_task_memcpy_is_supported(info);

	return result != DOCA_SUCCESS ? result :
					doca_sha_cap_task_hash_get_supported(info, DOCA_SHA_ALGORITHM_SHA256);
}

int main(void)
{
	static struct doca_graph_instance *instance[INSTANCES];
	static struct doca_buf *src[INSTANCES], *dst[INSTANCES][3];
	static struct doca_dma_task_memcpy *copy[INSTANCES][2];
	static struct doca_sha_task_hash *hash[INSTANCES];
	static struct cell cell[INSTANCES];
	struct doca_graph_node *check_node, *copy_node[2], *compare_node, *hash_node;
	union doca_data user = {0};
	struct doca_graph *graph;
	struct doca_dma *dma;
	struct doca_sha *sha;
	uint32_t i, j, round;

	app_core_make(&core, capable, INSTANCES * BYTES, INSTANCES * CELL, 8 * INSTANCES);
	app_text(core.src, INSTANCES * BYTES, 8);
	MUST(doca_dma_create(core.dev, &dma));
	MUST(doca_dma_task_memcpy_set_conf(dma, never_dma, never_dma, 2 * INSTANCES));
	app_core_start(&core, doca_dma_as_ctx(dma));
	MUST(doca_sha_create(core.dev, &sha));
	MUST(doca_sha_task_hash_set_conf(sha, never_sha, never_sha, 4));
	MUST(doca_pe_connect_ctx(core.pe, doca_sha_as_ctx(sha)));
	MUST(doca_ctx_start(doca_sha_as_ctx(sha)));

	MUST(doca_graph_create(core.pe, &graph));
	MUST(doca_graph_set_conf(graph, graph_good, graph_bad, INSTANCES));
	user.u64 = 77;
	MUST(doca_graph_set_user_data(graph, user));
	MUST(doca_graph_node_create_from_user(graph, check_input, &check_node));
	MUST(doca_graph_node_create_from_user(graph, compare, &compare_node));
	MUST(doca_graph_node_create_from_ctx(graph, doca_sha_as_ctx(sha), &hash_node));
	for (j = 0; j < 2; j++) {
		MUST(doca_graph_node_create_from_ctx(graph, doca_dma_as_ctx(dma), &copy_node[j]));
		MUST(doca_graph_add_dependency(graph, check_node, copy_node[j]));
		MUST(doca_graph_add_dependency(graph, copy_node[j], compare_node));
	}
	MUST(doca_graph_add_dependency(graph, compare_node, hash_node));
	MUST(doca_graph_start(graph));

	for (i = 0; i < INSTANCES; i++) {
		cell[i].index = i;
		src[i] = app_data(&core, i * BYTES, BYTES);
		user.u64 = 0;
		MUST(doca_graph_instance_create(graph, &instance[i]));
		for (j = 0; j < 2; j++) {
			dst[i][j] = app_room(&core, i * CELL + j * BYTES, BYTES);
			MUST(doca_dma_task_memcpy_alloc_init(dma, src[i], dst[i][j], user, &copy[i][j]));
			MUST(doca_graph_instance_set_ctx_node_data(instance[i], copy_node[j],
								   doca_dma_task_memcpy_as_task(copy[i][j])));
		}
		dst[i][2] = app_room(&core, i * CELL + 2 * BYTES, 32);
		MUST(doca_sha_task_hash_alloc_init(sha, DOCA_SHA_ALGORITHM_SHA256, src[i], dst[i][2], user, &hash[i]));
		MUST(doca_graph_instance_set_ctx_node_data(instance[i], hash_node,
							   doca_sha_task_hash_as_task(hash[i])));
		MUST(doca_graph_instance_set_user_node_data(instance[i], check_node, &cell[i]));
		MUST(doca_graph_instance_set_user_node_data(instance[i], compare_node, &cell[i]));
		user.u64 = i;
		MUST(doca_graph_instance_set_user_data(instance[i], user));
	}
	for (round = 0; round < ROUNDS; round++) {
		cell[3].refuse = round == 40;
		memset(core.dst, 0, INSTANCES * CELL);
		good = bad = checks = compares = 0;
		for (i = 0; i < INSTANCES; i++) {
			for (j = 0; j < 3; j++)
				MUST(doca_buf_reset_data_len(dst[i][j]));
			MUST(doca_graph_instance_submit(instance[i]));
		}
		while (good + bad < INSTANCES)
			if (doca_pe_progress(core.pe) == 0)
				app_nap();
		CHECK_U64(bad, round == 40);
		CHECK_U64(checks, INSTANCES);
		CHECK_U64(compares, INSTANCES - bad);
		for (i = 0; i < INSTANCES; i++) {
			int ran = !(round == 40 && i == 3);

			CHECK_U64(app_length(dst[i][0]), ran ? BYTES : 0);
			CHECK_U64(app_length(dst[i][2]), ran ? 32 : 0);
			if (ran)
				CHECK_BYTES(core.dst + i * CELL, core.src + i * BYTES, BYTES);
		}
	}
	CHECK_STATUS(doca_graph_stop(graph), DOCA_ERROR_IN_USE);
	for (i = 0; i < INSTANCES; i++) {
		MUST(doca_graph_instance_destroy(instance[i]));
		doca_task_free(doca_dma_task_memcpy_as_task(copy[i][0]));
		doca_task_free(doca_dma_task_memcpy_as_task(copy[i][1]));
		doca_task_free(doca_sha_task_hash_as_task(hash[i]));
		CHECK_OK(doca_buf_dec_refcount(src[i], NULL));
		for (j = 0; j < 3; j++)
			CHECK_OK(doca_buf_dec_refcount(dst[i][j], NULL));
	}
	MUST(doca_graph_stop(graph));
	MUST(doca_graph_destroy(graph));
	CHECK_OK(doca_ctx_stop(doca_sha_as_ctx(sha)));
	CHECK_OK(doca_sha_destroy(sha));
	app_core_stop(&core);
	CHECK_OK(doca_dma_destroy(dma));
	app_core_free(&core);
	return check_result();
}
