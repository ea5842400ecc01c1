// FLAGS: -std=c++17 -fsized-deallocation -Wl,--no-as-needed -lown_new
/*
 * own_new_linked.cc: own_new.cc with an allocator linked that has operators of
 * its own, of all forms.
 */
#include "own_new.cc"
