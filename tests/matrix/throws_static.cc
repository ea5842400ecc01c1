// FLAGS: -pthread -Wno-infinite-recursion -static-libgcc -static-libstdc++
/*
 * throws_static.cc: throws.cc with the unwinder inside the program.
 */
#include "throws.cc"
