/*
 * code_map.h: a bitmap of the addresses of JIT-compiled code, to detect that
 * new code overwrites older code. The recorder only; memory from zeroed_alloc,
 * some 0.8 % of the code.
 */
#ifndef GNOMON_CODE_MAP_H
#define GNOMON_CODE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CODE_MAP_POINT 16	/* one bit for so many bytes */
#define CODE_MAP_PAGE (UINT64_C(64) << 10)
#define CODE_MAP_PAGES 4096	/* in the hash table; at most half are used */
#define CODE_MAP_WORDS (CODE_MAP_PAGE / CODE_MAP_POINT / 64)

struct code_map {
	uint64_t key[CODE_MAP_PAGES];	/* page number + 1; 0: free */
	uint64_t *bits[CODE_MAP_PAGES];
	unsigned used;
	bool full;
};

/*
 * Marks [start, start + size). True: some of it was marked before, or the map
 * is full, as that is the safe answer. Code of less than CODE_MAP_POINT bytes
 * may be missed.
 */
bool code_map_enter(struct code_map *map, uint64_t start, uint64_t size);

#endif
