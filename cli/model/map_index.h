/*
 * map_index.h: which mapping holds a block: for filters that name mappings (by
 * an address in them, or by an expression that matches their path: "" for
 * memory of no file, "[heap]" for memory from brk), and for groups by path.
 *
 * A block belongs to the mapping that held its address when it was allocated.
 * Some mappings are made without an event, as those of the C library itself;
 * only looks (maps.h) find them, after the first blocks in them. So a block
 * that was in no known mapping belongs to the next one found at its address.
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

/* `outline` has read the mappings. `filter`: the filter for map_index_wants, or
 * NULL. Returns NULL, with a note, if the trace has no mappings or the filter
 * has no meaning in it. `option`: the option to name in that note. */
struct map_index *map_index_new(const struct filter *filter,
				const struct model *outline,
				const char *option);
void map_index_free(struct map_index *maps);	/* NULL is allowed */

/* Whether the filter names the mapping that held the address at that stamp. */
bool map_index_wants(const struct map_index *maps, uint64_t address,
		     uint64_t stamp);
/* The number of the mapping's path, from 0; MAP_INDEX_NONE: not known. */
uint32_t map_index_path(const struct map_index *maps, uint64_t address,
			uint64_t stamp);
/* The index of the mapping in maps.list; MAP_INDEX_NONE: not known. Addresses
 * from this one up to `until` have the same mapping. */
uint32_t map_index_at(const struct map_index *maps, uint64_t address,
		      uint64_t stamp, uint64_t *until);
/* How many paths have numbers. */
size_t map_index_paths(const struct map_index *maps);
/* The path, never NULL. */
const char *map_index_name(const struct map_index *maps, uint32_t path);

#endif
