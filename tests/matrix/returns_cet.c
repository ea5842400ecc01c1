// FLAGS: -O2 -foptimize-sibling-calls -fcf-protection=full
/*
 * returns_cet.c: returns.c whose code is marked for shadow stacks and landing pads.
 */
#include "returns.c"
