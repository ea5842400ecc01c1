// CC: musl-gcc
// FLAGS: -pthread -D_GNU_SOURCE
/* mappings_musl.c: mappings.c with musl. */
#define mmap64 mmap
#define MREMAP_DONTUNMAP 4
#include "mappings.c"
