/* What a device can do. */
#ifndef ENGINES_H
#define ENGINES_H

#include <doca_dev.h>

/* Names of engines, with a blank between them. */
const char *engines_of(struct doca_devinfo *info);

#endif
