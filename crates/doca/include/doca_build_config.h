/*
 * Side a program is compiled for: the host. A side given on the compiler's command line wins.
 * Exactly one of the two side macros is defined afterwards. What a process sees at run time does not depend
 * on it.
 */
#ifndef DOCA_BUILD_CONFIG_H_
#define DOCA_BUILD_CONFIG_H_

#include "softdpu_side.h"

#ifndef SOFTDPU_SIDE_GIVEN
#define DOCA_ARCH_HOST
#endif

#if defined(__x86_64__) || defined(__i386__)
#define DOCA_ARCH_X86
#endif

#endif /* DOCA_BUILD_CONFIG_H_ */
