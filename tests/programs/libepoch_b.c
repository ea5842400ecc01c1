/*
 * libepoch_b.c: one of two libraries that take the same place, one after the
 * other. See epoch.h and epochs.c.
 */
#define EPOCH_NAME(x) epoch_b_##x

#include "epoch.h"
