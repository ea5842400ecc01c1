// FLAGS: -O2 -foptimize-sibling-calls
/*
 * returns_tails.c: returns.c with tail calls.
 */
#include "returns.c"
