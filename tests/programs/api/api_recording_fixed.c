/* api_recording_fixed.c: the same at a fixed address: other relocations. */
// FLAGS: -l:libgnomon-stub.a -pthread -no-pie
#include "api_recording.c"
