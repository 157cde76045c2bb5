/*
 * What the environment chooses: the side a process sees, the card it finds, and choices that do not
 * exist. Each is seen by a child, for a process reads its choice once.
 *
 * clauses: device-profiles; core-exec 10; core-memory capability flags per card
 * covers: @
 */
#define _GNU_SOURCE
#include <sys/wait.h>

#include "capture.h"
#include "rig.h"

static void see(const char *first, uint32_t want)
{
	struct doca_devinfo **list = NULL;
	char pci[DOCA_DEVINFO_PCI_ADDR_SIZE] = "";
	uint32_t count = 99;

	CHECK_OK(doca_devinfo_create_list(&list, &count));
	CHECK_U64(count, want);
	if (count > 0) {
		CHECK_OK(doca_devinfo_get_pci_addr_str(list[0], pci));
		CHECK_TEXT(pci, first);
	}
	CHECK_OK(doca_devinfo_destroy_list(list));
}

static void both(void)
{
	see("0000:03:00.0", 4);
}

static void dpu_only(void)
{
	see("0000:03:00.0", 2);
}

static void host_only(void)
{
	see("0000:b1:00.0", 2);
}

static void bf3(void)
{
	struct doca_devinfo **list = NULL;
	uint32_t count = 0, i;
	uint64_t bytes = 0;
	uint8_t can = 9;

	MUST(doca_devinfo_create_list(&list, &count));
	for (i = 0; i < count; i++) {
		uint8_t card = 0;

		CHECK_OK(doca_devinfo_is_equal_pci_addr(list[i], i % 2 == 0 ? "03:00.0" : "03:00.1", &card));
		CHECK_OK(doca_dma_cap_task_memcpy_is_supported(list[i]));
		CHECK_OK(doca_dma_cap_task_memcpy_get_max_buf_size(list[i], &bytes));
		CHECK_U64(bytes, 2097152);
		CHECK_OK(doca_mmap_cap_is_export_pci_supported(list[i], &can));
		CHECK_U64(can, 1);
		CHECK_OK(doca_mmap_cap_is_create_from_export_pci_supported(list[i], &can));
		if (card)
			CHECK_U64(can, 1);
	}
	CHECK_OK(doca_devinfo_destroy_list(list));
}

static void cx7(void)
{
	struct doca_devinfo **list = NULL;
	struct doca_dev *dev = NULL;
	struct doca_dma *dma = NULL;
	uint32_t count = 0, i;
	uint64_t bytes = 0;

	MUST(doca_devinfo_create_list(&list, &count));
	CHECK_U64(count, 2);
	for (i = 0; i < count; i++) {
		CHECK_STATUS(doca_dma_cap_task_memcpy_is_supported(list[i]), DOCA_ERROR_NOT_SUPPORTED);
		CHECK_STATUS(doca_dma_cap_task_memcpy_get_max_buf_size(list[i], &bytes), DOCA_ERROR_NOT_SUPPORTED);
	}
	/* A device without the engine gives no working context. */
	MUST(doca_dev_open(list[0], &dev));
	if (doca_dma_create(dev, &dma) == DOCA_SUCCESS) {
		struct doca_pe *pe = NULL;

		MUST(doca_pe_create(&pe));
		MUST(doca_pe_connect_ctx(pe, doca_dma_as_ctx(dma)));
		(void)doca_dma_task_memcpy_set_conf(dma, rig_good_cb, rig_bad_cb, 1);
		CHECK_STATUS(doca_ctx_start(doca_dma_as_ctx(dma)), DOCA_ERROR_NOT_SUPPORTED);
		CHECK_OK(doca_dma_destroy(dma));
		CHECK_OK(doca_pe_destroy(pe));
	}
	CHECK_OK(doca_dev_close(dev));
	CHECK_OK(doca_devinfo_destroy_list(list));
}

static void nothing(void)
{
	struct doca_devinfo **list = NULL;
	uint32_t count = 0;

	capture_sdk(DOCA_LOG_LEVEL_DEBUG);
	CHECK_OK(doca_devinfo_create_list(&list, &count));
	CHECK_U64(count, 0);
	CHECK(capture_count >= 1);
	CHECK_OK(doca_devinfo_destroy_list(list));
}

static void wrong(void)
{
	struct doca_devinfo **list = NULL;
	uint32_t count = 0;
	const char *value = getenv("WRONG");

	capture_sdk(DOCA_LOG_LEVEL_DEBUG);
	CHECK_STATUS(doca_devinfo_create_list(&list, &count), DOCA_ERROR_NOT_FOUND);
	if (strstr(capture_text, value) == NULL)
		check_fail(__FILE__, __LINE__, "the record does not name %s: %s", value, capture_text);
	/* Again: the same answer. */
	CHECK_STATUS(doca_devinfo_create_list(&list, &count), DOCA_ERROR_NOT_FOUND);
}

static void with(const char *side, const char *profile, const char *config, void (*body)(void))
{
	int status = 1;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	MUST_BE(pid >= 0);
	if (pid == 0) {
		side != NULL ? setenv("SOFTDPU_SIDE", side, 1) : unsetenv("SOFTDPU_SIDE");
		profile != NULL ? setenv("SOFTDPU_PROFILE", profile, 1) : unsetenv("SOFTDPU_PROFILE");
		config != NULL ? setenv("SOFTDPU_CONFIG", config, 1) : unsetenv("SOFTDPU_CONFIG");
		alarm(30);
		body();
		exit(check_result());
	}
	MUST_BE(waitpid(pid, &status, 0) == pid);
	if (status != 0)
		check_fail(__FILE__, __LINE__, "side %s, profile %s, config %s: child ended with %d",
			   side ? side : "-", profile ? profile : "-", config ? config : "-", status);
}

int main(void)
{
	char name[] = "/tmp/conformance-config-XXXXXX";
	int fd = mkstemp(name);

	MUST_BE(fd >= 0 && write(fd, "cards = \xff[[[\n", 13) == 13);
	close(fd);
	with(NULL, NULL, NULL, both);
	with("both", "all", NULL, both);
	with("dpu", NULL, NULL, dpu_only);
	with("host", NULL, NULL, host_only);
	with("host", "bf2", NULL, host_only);
	with(NULL, "bf3", NULL, bf3);
	with(NULL, "cx7", NULL, cx7);
	with("dpu", "cx7", NULL, nothing);
	setenv("WRONG", "bf99", 1);
	with(NULL, "bf99", NULL, wrong);
	setenv("WRONG", "upside", 1);
	with("upside", NULL, NULL, wrong);
	setenv("WRONG", "/nowhere/at/all.toml", 1);
	with(NULL, NULL, "/nowhere/at/all.toml", wrong);
	setenv("WRONG", name, 1);
	with(NULL, NULL, name, wrong);
	unlink(name);
	return check_result();
}
