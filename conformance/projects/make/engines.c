#include "engines.h"

#include <doca_dma.h>
#include <doca_sha.h>

const char *engines_of(struct doca_devinfo *info)
{
	int copies = doca_dma_cap_task_memcpy_is_supported(info) == DOCA_SUCCESS;
	int hashes = doca_sha_cap_task_hash_get_supported(info, DOCA_SHA_ALGORITHM_SHA256) == DOCA_SUCCESS;

	if (copies && hashes)
		return "dma sha";
	return copies ? "dma" : hashes ? "sha" : "none";
}
