/*
 * api_recording_static.c: api_recording.c with the stub as a part of the
 * program, whose functions then stand before the real ones.
 */
// FLAGS: -l:libgnomon-stub.a -pthread
#include "api_recording.c"
