// FLAGS: -O0 -fno-omit-frame-pointer
/*
 * returns_framed.c: returns.c with frame pointers.
 */
#include "returns.c"
