/*
 * mapping.h: the functions that change what is mapped, behind ours.
 */
#ifndef GNOMON_MAPPING_H
#define GNOMON_MAPPING_H

#include "preload/base/base.h"

enum mapping_call {
	MAPPING_MMAP,
	MAPPING_MMAP64,
	MAPPING_MUNMAP,
	MAPPING_MREMAP,
	MAPPING_MPROTECT,
	MAPPING_BRK,
	MAPPING_SBRK,
	MAPPING_SHMAT,
	MAPPING_SHMDT,
	MAPPING_CREATE,		/* pthread_create */
	MAPPING_MLOCKALL,
	MAPPING_ERRNO,		/* where errno is: __errno_location */
	MAPPING_CALLS
};

/* As found by real_resolve(); NULL: there is none. */
extern BASE_HIDDEN void *mapping_real[MAPPING_CALLS];
extern BASE_HIDDEN const char *const mapping_names[MAPPING_CALLS];

#endif
