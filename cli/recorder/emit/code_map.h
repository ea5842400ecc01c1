/*
 * code_map.h: which addresses code made at run time has been at, so that it is
 * noticed when new code comes to lie in the place of older code. The writer
 * only; memory from zeroed_alloc, some 0.8 % of the code.
 */
#ifndef GNOMON_CODE_MAP_H
#define GNOMON_CODE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CODE_MAP_POINT 16	/* one bit for so many bytes */
#define CODE_MAP_PAGE (UINT64_C(64) << 10)
#define CODE_MAP_PAGES 4096	/* in the table; half of them are used */
#define CODE_MAP_WORDS (CODE_MAP_PAGE / CODE_MAP_POINT / 64)

struct code_map {
	uint64_t key[CODE_MAP_PAGES];	/* page number + 1; 0: free */
	uint64_t *bits[CODE_MAP_PAGES];
	unsigned used;
	bool full;
};

/*
 * Enters [start, start + size). Whether some of it had been entered before;
 * where the map is full, true: that is the safe side. Code of less than
 * CODE_MAP_POINT bytes may go unnoticed.
 */
bool code_map_enter(struct code_map *map, uint64_t start, uint64_t size);

#endif
