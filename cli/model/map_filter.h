/*
 * map_filter.h: which blocks lie in mappings that a filter's words name: by an
 * address in them, or by an expression that matches their path ("" for memory
 * of no file, "[heap]" for what brk gave).
 *
 * A block lies in the mapping that its address was in when it was allocated.
 * Of mappings that nobody saw being made, as those of the C library itself,
 * only looks tell (maps.h), later than the first blocks in them: a block in no
 * mapping that was known belongs to the next one that was found there.
 */
#ifndef GNOMON_MAP_FILTER_H
#define GNOMON_MAP_FILTER_H

#include <stdbool.h>
#include <stdint.h>

struct filter;
struct map_filter;
struct model;

/* `outline` has read what was mapped. False: the words mean nothing there,
 * which is noted. *made is NULL if there are none. */
bool map_filter_new(const struct filter *filter, const struct model *outline,
		    struct map_filter **made);
void map_filter_free(struct map_filter *maps);	/* NULL is allowed */

bool map_filter_has(const struct map_filter *maps, uint64_t address,
		    uint64_t stamp);

#endif
