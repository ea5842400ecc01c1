// FLAGS: -O2 -D_FORTIFY_SOURCE=2
/*
 * jumps_checked.c: jumps.c by way of __longjmp_chk, which refuses to jump
 * inward, and with what the optimiser makes of it.
 */
#include "jumps.c"
