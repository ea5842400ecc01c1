/*
 * libepoch_a.c: one of two libraries that take the same place, one after the
 * other: the loader puts a library where it is linked for, if nothing else is
 * there. See epoch.h and epochs.c.
 */
// FLAGS: -Wl,-Ttext-segment=0x6a000000
#define EPOCH_NAME(x) epoch_a_##x

#include "epoch.h"
