/*
 * variant.h: which of the two libraries this is.
 */
#ifndef GNOMON_VARIANT_H
#define GNOMON_VARIANT_H

#include <stdbool.h>

#include "preload/base/base.h"

/* libgnomon-off.so: records nothing until recording is started. */
extern BASE_HIDDEN const bool variant_off;

#endif
