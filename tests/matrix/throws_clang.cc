// CC: clang++
// FLAGS: -pthread -Wno-infinite-recursion -O2
/*
 * throws_clang.cc: throws.cc by another compiler.
 */
#include "throws.cc"
