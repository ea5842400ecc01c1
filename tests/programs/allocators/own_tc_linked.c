// FLAGS: -Wl,--no-as-needed -ltcmalloc_minimal
/*
 * own_tc_linked.c: own_tc.c with the allocator linked.
 */
#include "own_tc.c"
