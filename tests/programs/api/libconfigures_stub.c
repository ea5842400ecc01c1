/* libconfigures_stub.c: the same with a stub of its own. */
// FLAGS: -l:libgnomon-stub.a
#include "libconfigures.c"
