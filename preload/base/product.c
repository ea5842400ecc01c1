/* product.c: see product.h. The only difference between the two libraries
 * (mk/api.mk). */
#include "preload/base/product.h"

#ifdef PRODUCT_OFF
const bool product_off = true;
#else
const bool product_off = false;
#endif
