/*
 * libepoch_b.c: one of two libraries that are mapped at the same addresses, one
 * after the other: the loader uses a library's link address if nothing else is
 * mapped there. See epoch.h and epochs.c.
 */
// FLAGS: -Wl,-Ttext-segment=0x6a000000
#define EPOCH_NAME(x) epoch_b_##x

#include "epoch.h"
