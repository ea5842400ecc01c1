/*
 * api_recording_static.c: api_recording.c with the stub linked in, whose
 * functions then precede the real ones.
 */
// FLAGS: -l:libgnomon-stub.a -pthread
#include "api_recording.c"
