// CC: musl-gcc
/*
 * musl_names.c: own_names.c for another C library, which lacks more.
 */
#include "own_names.c"
