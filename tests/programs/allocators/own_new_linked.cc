// FLAGS: -std=c++17 -fsized-deallocation -Wl,--no-as-needed -lown_new
/*
 * own_new_linked.cc: own_new.cc, linked with an allocator that has all forms of
 * the operators.
 */
#include "own_new.cc"
