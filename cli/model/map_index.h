/*
 * map_index.h: in which mapping a block lies: for filters that name mappings, by
 * an address in them or by an expression that matches their path ("" for memory
 * of no file, "[heap]" for what brk gave), and for groups by their path.
 *
 * A block lies in the mapping that its address was in when it was allocated.
 * Of mappings that nobody saw being made, as those of the C library itself,
 * only looks tell (maps.h), later than the first blocks in them: a block in no
 * mapping that was known belongs to the next one that was found there.
 */
#ifndef GNOMON_MAP_INDEX_H
#define GNOMON_MAP_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct filter;
struct map_index;
struct model;

#define MAP_INDEX_NONE UINT32_MAX

/* `outline` has read what was mapped. `filter`: what map_index_wants is about,
 * or NULL. NULL: there is none, or it means nothing there, which is noted;
 * `option`: who asks. */
struct map_index *map_index_new(const struct filter *filter,
				const struct model *outline,
				const char *option);
void map_index_free(struct map_index *maps);	/* NULL is allowed */

/* Whether the filter names the mapping in which the address lay then. */
bool map_index_wants(const struct map_index *maps, uint64_t address,
		     uint64_t stamp);
/* The number of its path, from 0; MAP_INDEX_NONE: it is not known. */
uint32_t map_index_path(const struct map_index *maps, uint64_t address,
			uint64_t stamp);
/* The mapping itself, as an index of maps.list; MAP_INDEX_NONE: it is not
 * known. What lies behind the address is the same up to `until`. */
uint32_t map_index_at(const struct map_index *maps, uint64_t address,
		      uint64_t stamp, uint64_t *until);
/* How many paths have numbers. */
size_t map_index_paths(const struct map_index *maps);
/* The path, never NULL. */
const char *map_index_name(const struct map_index *maps, uint32_t path);

#endif
