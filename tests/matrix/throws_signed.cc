// FLAGS: -pthread -Wno-infinite-recursion
/* throws_signed.cc: throws.cc, with return addresses that functions sign. */
#include "throws.cc"
