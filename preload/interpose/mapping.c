/* mapping.c: see the header. Filled by real.c, constant afterwards. */
#include "preload/interpose/mapping.h"

void *mapping_real[MAPPING_CALLS];
const char *const mapping_names[MAPPING_CALLS] = {
	[MAPPING_MMAP] = "mmap",
	[MAPPING_MMAP64] = "mmap64",
	[MAPPING_MUNMAP] = "munmap",
	[MAPPING_MREMAP] = "mremap",
	[MAPPING_MPROTECT] = "mprotect",
	[MAPPING_BRK] = "brk",
	[MAPPING_SBRK] = "sbrk",
	[MAPPING_SHMAT] = "shmat",
	[MAPPING_SHMDT] = "shmdt",
	[MAPPING_CREATE] = "pthread_create",
	[MAPPING_MLOCKALL] = "mlockall",
	[MAPPING_ERRNO] = "__errno_location",
};
