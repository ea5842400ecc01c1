// FLAGS: -Wl,--no-eh-frame-hdr
/*
 * noheader.c DEPTH: recursion.c without PT_GNU_EH_FRAME, so that only the
 * file's section headers say where the unwind table is.
 */
#include "recursion.c"
