/*
 * product.h: which of the two libraries this is.
 */
#ifndef GNOMON_PRODUCT_H
#define GNOMON_PRODUCT_H

#include <stdbool.h>

#include "preload/base/base.h"

/* libgnomon-off.so: records nothing until recording is started. */
extern BASE_HIDDEN const bool product_off;

#endif
