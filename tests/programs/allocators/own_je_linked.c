// FLAGS: -Wl,--no-as-needed -ljemalloc
/*
 * own_je_linked.c: own_je.c with the allocator linked.
 */
#include "own_je.c"
