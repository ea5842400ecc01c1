// FLAGS: -Wl,--no-as-needed -lmimalloc
/*
 * own_mi_linked.c: own_mi.c with the allocator linked.
 */
#include "own_mi.c"
