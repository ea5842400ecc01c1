/* variant.c: see variant.h. The only difference between the two libraries
 * (mk/api.mk). */
#include "preload/base/variant.h"

#ifdef VARIANT_OFF
const bool variant_off = true;
#else
const bool variant_off = false;
#endif
