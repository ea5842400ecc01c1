/*
 * linkmap.h: the loader's list of what is mapped (struct link_map, <link.h>),
 * read without its lock: a program may hold that lock for as long as it likes,
 * and its callback of dl_iterate_phdr may wait for the thread that asks.
 *
 * Another thread may change the list at any moment, and unmap what it
 * describes. So all that may go is copied before it is looked at (elfmap.h),
 * and linkmap_version says whether the list stood still meanwhile.
 *
 * Thread context, if nothing else is said: any thread, also signal handlers.
 * Nothing here waits, allocates or calls the loader.
 */
#ifndef GNOMON_UNWIND_LINKMAP_H
#define GNOMON_UNWIND_LINKMAP_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/elfmap.h"

/* As dl_iterate_phdr (3). */
typedef int linkmap_iterate(int (*callback)(struct dl_phdr_info *info,
					    size_t size, void *data),
			    void *data);

/*
 * Learns where the loader keeps what it tells by dl_iterate_phdr, by calling
 * that, once: later calls, also in forked children, do nothing. `iterate` NULL:
 * the one that the program would reach. at_start: the program has loaded
 * nothing by itself yet, so that what is mapped now stays for ever. To be
 * called while the list is not changing and no other thread holds its lock.
 */
void linkmap_learn(linkmap_iterate *iterate, bool at_start);

/* The entry of the program, from which all are reached; NULL: there is no such
 * list. Others may change it, as above. */
const struct link_map *linkmap_first(void);

#define LINKMAP_WORDS 8

/* Differs for two states of the list that differ. */
struct linkmap_version {
	uint64_t word[LINKMAP_WORDS];
};

void linkmap_version(struct linkmap_version *version);

/* Whether the list has changed since: some loads, where the C library counts
 * (glibc); else some for each image that came after the start. */
bool linkmap_changed(const struct linkmap_version *since);

/* What an entry is copied to, for as long as it is looked at. */
#define LINKMAP_PHDRS 64
#define LINKMAP_PATH 512
struct linkmap_room {
	ElfW(Phdr) phdr[LINKMAP_PHDRS];
	char path[LINKMAP_PATH];
};

/* Not 0 ends the round. */
typedef int linkmap_visitor(const struct elfmap *map, void *data);

/*
 * Visits each image, in the loader's order, the program first. *result is what
 * the last visit returned; may be NULL. False: the list could not be followed
 * to its end, or its length is not what the loader counts. What an entry shows
 * of an image is of one moment; that all are of the same moment is only known
 * if linkmap_changed denies it afterwards.
 */
bool linkmap_each(linkmap_visitor *visit, void *data,
		  struct linkmap_room *room, int *result);

#endif
