// FLAGS: -Wl,--no-eh-frame-hdr
/*
 * noheader.c DEPTH: recursion.c without PT_GNU_EH_FRAME, so that only the
 * file's section headers locate the unwind table.
 */
#include "recursion.c"
