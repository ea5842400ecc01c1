// CC: musl-gcc
/* libmusl_ctor.c: the library that allocates, for the other C library. */
#include "libctor.c"
