/*
 * Device calls from eight threads at once: lists, opening and closing, queries, representors, maps
 * over shared devices; at the end nobody holds anything.
 *
 * clauses: core-exec 8 (device calls from any thread), doca_dev.h
 * covers: @
 */
#include <pthread.h>

#include "rig.h"

#define THREADS 8
#define ROUNDS 300

static void *use(void *argument)
{
	size_t number = (size_t)argument, round;

	for (round = 0; round < ROUNDS; round++) {
		struct doca_devinfo **list = NULL;
		struct doca_devinfo_rep **reps = NULL;
		struct doca_dev *dev = NULL;
		struct doca_dev_rep *rep = NULL;
		struct doca_mmap *map = NULL;
		char pci[DOCA_DEVINFO_PCI_ADDR_SIZE] = "", again[DOCA_DEVINFO_PCI_ADDR_SIZE] = "";
		uint32_t count = 0;
		uint8_t bytes[64];

		MUST(doca_devinfo_create_list(&list, &count));
		MUST_BE(count == 4);
		MUST(doca_devinfo_get_pci_addr_str(list[(number + round) % 4], pci));
		MUST(doca_dev_open(list[(number + round) % 4], &dev));
		CHECK_OK(doca_devinfo_destroy_list(list));
		CHECK_OK(doca_devinfo_get_pci_addr_str(doca_dev_as_devinfo(dev), again));
		CHECK_TEXT(again, pci);
		CHECK_OK(doca_dma_cap_task_memcpy_is_supported(doca_dev_as_devinfo(dev)));
		map = rig_map(dev, bytes, sizeof(bytes), DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
		if ((number + round) % 4 < 2) {
			MUST(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &reps, &count));
			MUST(doca_dev_rep_open(reps[0], &rep));
			CHECK_OK(doca_devinfo_rep_destroy_list(reps));
			CHECK_OK(doca_dev_rep_close(rep));
		}
		CHECK_OK(doca_mmap_destroy(map));
		CHECK_OK(doca_dev_close(dev));
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	struct doca_dev *dev;
	size_t i;

	for (i = 0; i < THREADS; i++)
		MUST_BE(pthread_create(&threads[i], NULL, use, (void *)i) == 0);
	for (i = 0; i < THREADS; i++)
		MUST_BE(pthread_join(threads[i], NULL) == 0);
	/* One reference: one close, and no more. */
	dev = rig_open_dev(NULL);
	CHECK_OK(doca_dev_close(dev));
	CHECK_STATUS(doca_dev_close(dev), DOCA_ERROR_INVALID_VALUE);
	return check_result();
}
