/*
 * steering_static.c: steering.c with the stub linked in, whose functions then
 * precede the real ones.
 */
// FLAGS: -l:libgnomon-stub.a -pthread
#include "steering.c"
