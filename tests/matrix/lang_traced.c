// FLAGS: -pg
/*
 * lang_traced.c: the deep stack of lang_deep.c, built so that a tracer may
 * replace the return address of every function.
 */
#include "lang_deep.c"
