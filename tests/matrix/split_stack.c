// FLAGS: -fsplit-stack -fuse-ld=gold
/*
 * split_stack.c: returns.c on a stack that grows piece by piece, each piece
 * allocated where it is needed and left by a return into libgcc.
 */
#include "returns.c"
