/*
 * Which side of the card a program asked for on the compiler's command line.
 *
 * -DDOCA_ARCH_DPU and -DDOCA_ARCH_HOST override the side of the include root that is in use. This lives in
 * a file of its own so that doca_build_config.h names one side only: build systems search that file's text.
 */
#ifndef SOFTDPU_SIDE_H_
#define SOFTDPU_SIDE_H_

#if defined(DOCA_ARCH_DPU) && defined(DOCA_ARCH_HOST)
#error "DOCA_ARCH_DPU and DOCA_ARCH_HOST exclude each other"
#endif

#ifdef DOCA_ARCH_DPU
#define SOFTDPU_SIDE_GIVEN 1
#endif
#ifdef DOCA_ARCH_HOST
#define SOFTDPU_SIDE_GIVEN 1
#endif

#endif /* SOFTDPU_SIDE_H_ */
