// CC: musl-gcc
/* libmusl_ctor.c: a library that allocates in its constructor, for musl. */
#include "libctor.c"
