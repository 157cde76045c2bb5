/*
 * "Tell me why": each refused call leaves a record of the library with the object and the numbers;
 * without a backend, or above its level, the library is silent.
 *
 * clauses: core-base SDK backends; the cause of each refusal in the log
 * covers: @
 */
#include "capture.h"
#include "rig.h"

static void explained(const char *file, int line, const char *what)
{
	if (capture_count == 0 || strchr(capture_text, '\n') == NULL)
		check_fail(file, line, "%s: no record explains it", what);
	capture_clear();
}

#define EXPLAINED(call, status) \
	do { \
		capture_clear(); \
		CHECK_STATUS(call, status); \
		explained(__FILE__, __LINE__, #call); \
	} while (0)

static int mentions(const char *text)
{
	return strstr(capture_text, text) != NULL;
}

int main(void)
{
	struct doca_log_backend *backend;
	struct doca_mmap *map = NULL;
	struct doca_buf *buf = NULL, *src;
	struct doca_dma *dma;
	struct doca_dma_task_memcpy *task;
	struct rig rig;
	char number[32];

	rig_setup(&rig, 4096, 4);
	/* Silent without a backend of its own. */
	CHECK_REFUSED(doca_mmap_set_memrange(rig.map, rig.mem, 1));
	backend = capture_sdk(DOCA_LOG_LEVEL_WARNING);

	EXPLAINED(doca_buf_inventory_buf_get_by_addr(rig.inv, rig.map, rig.mem + 4000, 97, &buf),
		  DOCA_ERROR_INVALID_VALUE);
	/* The range asked for and the range allowed, in hexadecimal or decimal. */
	CHECK_STATUS(doca_buf_inventory_buf_get_by_addr(rig.inv, rig.map, rig.mem + 4000, 97, &buf),
		     DOCA_ERROR_INVALID_VALUE);
	snprintf(number, sizeof(number), "%" PRIxPTR, (uintptr_t)rig.mem + 4096);
	if (!mentions(number)) {
		snprintf(number, sizeof(number), "%" PRIuPTR, (uintptr_t)rig.mem + 4096);
		CHECK(mentions(number) || mentions("4096"));
	}
	EXPLAINED(doca_buf_inventory_buf_get_by_addr(rig.inv, NULL, rig.mem, 1, &buf), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_mmap_create(&map));
	EXPLAINED(doca_mmap_start(map), DOCA_ERROR_INVALID_VALUE);
	EXPLAINED(doca_mmap_set_memrange(map, NULL, 4096), DOCA_ERROR_INVALID_VALUE);
	EXPLAINED(doca_mmap_set_permissions(map, 0x30), DOCA_ERROR_INVALID_VALUE);
	EXPLAINED(doca_mmap_set_permissions(rig.map, 1), DOCA_ERROR_BAD_STATE);
	EXPLAINED(doca_mmap_rm_dev(map, rig.dev), DOCA_ERROR_NOT_FOUND);
	EXPLAINED(doca_pe_destroy(rig.pe), DOCA_ERROR_IN_USE);
	EXPLAINED(doca_dma_destroy(rig.dma), DOCA_ERROR_IN_USE);
	EXPLAINED(doca_dev_close(rig.dev), DOCA_ERROR_IN_USE);
	EXPLAINED(doca_pe_connect_ctx(NULL, rig.ctx), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_dma_create(rig.dev, &dma));
	MUST(doca_dma_task_memcpy_set_conf(dma, rig_good_cb, rig_bad_cb, 1));
	EXPLAINED(doca_ctx_start(doca_dma_as_ctx(dma)), DOCA_ERROR_NOT_CONNECTED);
	MUST(doca_dma_destroy(dma));
	MUST(doca_dma_create(rig.dev, &dma));
	MUST(doca_pe_connect_ctx(rig.pe, doca_dma_as_ctx(dma)));
	EXPLAINED(doca_ctx_start(doca_dma_as_ctx(dma)), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_dma_destroy(dma));

	/* A task that fails explains itself when it does. */
	src = rig_src(&rig, 0, 100);
	task = rig_task(&rig, src, rig_dst(&rig, 200, 99), 0);
	EXPLAINED(doca_task_try_submit(doca_dma_task_memcpy_as_task(task)), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
	rig_until_idle(&rig);
	CHECK_U64(rig.bad, 1);
	CHECK(mentions("100") && mentions("99"));
	explained(__FILE__, __LINE__, "a failing copy");
	EXPLAINED(doca_task_submit(NULL), DOCA_ERROR_INVALID_VALUE);

	/* Above the level: silent. */
	CHECK_OK(doca_log_backend_set_sdk_level(backend, DOCA_LOG_LEVEL_DISABLE));
	CHECK_STATUS(doca_mmap_set_permissions(rig.map, 1), DOCA_ERROR_BAD_STATE);
	CHECK_U64(capture_count, 0);
	CHECK_OK(doca_mmap_destroy(map));
	rig_teardown(&rig);
	return check_result();
}
