/* steering_fixed.c: the same at a fixed address: other relocations. */
// FLAGS: -l:libgnomon-stub.a -pthread -no-pie
#include "steering.c"
