/* api_recording_alone.c: the same without any shared library: preloading is
 * impossible. */
// FLAGS: -l:libgnomon-stub.a -pthread -static
#include "api_recording.c"
