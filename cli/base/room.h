/*
 * room.h: memory of the host side that may be refused: for who can go on
 * without it. Where nothing can, grow.h is simpler.
 */
#ifndef GNOMON_ROOM_H
#define GNOMON_ROOM_H

#include <stddef.h>

/* As realloc, and `old` stays what it was if the answer is NULL. */
void *room_resize(void *old, size_t count, size_t size);
/*
 * Like that, for what is searched at random: it begins with a cache line, and
 * lies in large pages if it is large, so that the processor finds them without
 * a walk. `used`: bytes of `old` to keep.
 */
void *room_lines(void *old, size_t used, size_t size);
/*
 * Whole pages, zeroed, that are never copied: as they grow, they stay where they
 * are or are moved by their page tables, so nobody waits however much there is;
 * in large pages if it is large. `old`, of `old_size` bytes, is NULL at first.
 */
void *room_pages(void *old, size_t old_size, size_t size);
void room_pages_free(void *old, size_t size);

#endif
