// FLAGS: -pthread -D_GNU_SOURCE
/* glibc_life.c: the program of musl_life.c, with glibc. */
#include "musl_life.c"
