// CC: musl-gcc
// FLAGS: -pthread -D_GNU_SOURCE
/* naming_musl.c: the same with musl. */
#include "naming.c"
