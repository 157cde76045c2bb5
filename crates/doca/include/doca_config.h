/*
 * Build switches shared by all headers.
 */
#ifndef DOCA_CONFIG_H_
#define DOCA_CONFIG_H_

#include <doca_build_config.h>

/* Helpers of doca_compat.h that need the C library; device code has none. */
#define DOCA_COMPAT_HELPERS

#ifdef DOCA_DPA_DEVICE
#undef DOCA_COMPAT_HELPERS
#endif

#endif /* DOCA_CONFIG_H_ */
