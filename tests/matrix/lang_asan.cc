// FLAGS: -pthread -fsanitize=address -Wno-infinite-recursion
/*
 * lang_asan.cc: the exceptions of throws.cc in a program that was built with
 * AddressSanitizer, which has an allocator and a walk of the stack of its own.
 */
#include "throws.cc"
