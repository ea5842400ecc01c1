// FLAGS: -pthread -D_GNU_SOURCE
/* glibc_life.c: the same ways with the usual C library. */
#include "musl_life.c"
