/*
 * linkmap.h: reads the loader's list of mapped images (struct link_map,
 * <link.h>) without its lock. A program may hold that lock as long as it likes,
 * and its dl_iterate_phdr callback may wait for the calling thread.
 *
 * Another thread may change the list at any moment, and unmap the memory that
 * the list describes. Memory that may be unmapped is therefore copied before it
 * is examined (elfmap.h), and linkmap_version reports whether the list changed
 * meanwhile.
 *
 * Thread context, unless stated otherwise: any thread, also signal handlers.
 * Nothing here waits, allocates or calls the loader.
 */
#ifndef GNOMON_UNWIND_LINKMAP_H
#define GNOMON_UNWIND_LINKMAP_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/elf/elfmap.h"

/* Like dl_iterate_phdr (3). */
typedef int linkmap_iterate(int (*callback)(struct dl_phdr_info *info,
					    size_t size, void *data),
			    void *data);

/*
 * Finds the loader's data behind dl_iterate_phdr by calling that function once;
 * later calls, also in forked children, do nothing. `iterate` NULL: the
 * function that the program would call. at_start: the program has loaded
 * nothing by itself yet, so images mapped now are never unmapped. Call it while
 * the list is not changing and no other thread holds its lock.
 */
void linkmap_learn(linkmap_iterate *iterate, bool at_start);

/* The program's entry, the first of the list; NULL: there is no such list.
 * Other threads may change it, as above. */
const struct link_map *linkmap_first(void);

#define LINKMAP_WORDS 8

/* Two different states of the list have different versions. */
struct linkmap_version {
	uint64_t word[LINKMAP_WORDS];
};

void linkmap_version(struct linkmap_version *version);

/* Whether the list has changed since. Takes some loads if the C library counts
 * changes (glibc); otherwise some loads for each image mapped after the
 * start. */
bool linkmap_changed(const struct linkmap_version *since);

/* The buffer that an entry is copied to while it is examined. */
#define LINKMAP_PHDRS 64
#define LINKMAP_PATH 512
struct linkmap_room {
	ElfW(Phdr) phdr[LINKMAP_PHDRS];
	char path[LINKMAP_PATH];
};

/* A result other than 0 ends the iteration. */
typedef int linkmap_visitor(const struct elfmap *map, void *data);

/*
 * Visits each image in the loader's order, the program first. *result: the
 * result of the last visit; may be NULL. False: the list could not be followed
 * to its end, or its length differs from the loader's count. The data of one
 * entry is consistent. That all entries belong to one moment is certain only if
 * linkmap_changed returns false afterwards.
 */
bool linkmap_each(linkmap_visitor *visit, void *data,
		  struct linkmap_room *room, int *result);

#endif
