// CC: musl-gcc
/*
 * musl_names.c: own_names.c for musl, which lacks more functions.
 */
#include "own_names.c"
