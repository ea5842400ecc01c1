/*
 * frames.h: symbolizes the stack of a context: a list of frames, and its site,
 * the innermost frame of the user's code.
 */
#ifndef GNOMON_FRAMES_H
#define GNOMON_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/hash.h"
#include "cli/base/table.h"
#include "cli/base/text/buffer.h"
#include "cli/model/model.h"
#include "cli/stack/jitcode.h"
#include "cli/symbol/names/symbols.h"

struct frame {
	/* A frame without a symbol is "library+0xSTART", where START is the
	 * begin of the function by its unwind table or, without one, the return
	 * address. NULL: code in no file. */
	const char *function;
	const char *symbol;	/* mangled name; NULL: same as `function` */
	const char *file;	/* NULL: not known */
	const char *library;	/* last part of its path; NULL: no image */
	const char *path;	/* of the library; NULL: not known */
	unsigned line;
	unsigned column;
	unsigned start_line;	/* of the function; 0: not known */
	bool inlined;
	bool nameless;
	bool glue;		/* allocator wrapper or runtime library of the
				 * language */
	bool wraps;		/* the former: an allocator wrapper */
	uint64_t address;
	uint64_t module_offset;
	uint64_t start;		/* offset in the module, if nameless */
};

/*
 * The frames of one return address: a function and those inlined into it,
 * innermost first. Empty for code of the recorder. The list does not move until
 * frames_free.
 */
struct frames_place {
	struct frame *list;
	uint32_t count;
	uint32_t next;		/* in the same bucket */
	uint64_t address;
	uint64_t owner;		/* image; or the node itself if in no image */
	bool exact;
	bool signal;		/* return address of a signal handler, */
				/* so the next frame's address is exact */
};

struct frames {
	struct model *model;
	const struct contexts *contexts;	/* of the model */
	const struct images *images;
	struct debugfile_places where;	/* where to find its files */
	struct symbols *symbols;
	int pid;		/* of the process, which may be dead */
	struct jitcode jit;
	struct frame *list;	/* result of the last frames_of, innermost
				 * first */
	size_t count;
	size_t capacity;
	size_t site;		/* index in the list */
	enum gt_stop stop;	/* why the walk ended */
	struct frames_place *places;
	size_t place_count;
	size_t place_capacity;
	struct table place_of;	/* frames_place_key -> place */
	bool prepared;		/* symbols of all frames were looked up */
	uint32_t *site_of;	/* by context node: the number of its site, or
				 * TABLE_NONE */
	size_t site_of_count;
	bool all_sites;		/* frames_find_sites was called */
	struct intern sites;	/* descriptions, by number */
	const char **site_libraries;	/* by number; NULL: the site has a
					 * name */
	size_t site_library_capacity;
	struct buffer scratch;
	struct { const char **list; size_t count, capacity; } nameless;
	struct intern names;
};

void frames_init(struct frames *frames, struct model *model,
		 const struct debugfile_places *places, bool full_names);
/*
 * `model` has read the same trace again for other measures: symbolize its
 * stacks from now on. It has the same nodes with the same numbers, so symbols
 * that were looked up stay valid.
 */
void frames_turn_to(struct frames *frames, struct model *model);
/*
 * The index in frames->places of the frames of one context node; the next call
 * may move the array. `exact`: the next inner frame was a signal's. Every walk
 * along contexts uses this function, so each symbol is looked up once.
 */
uint32_t frames_place(struct frames *frames, uint32_t node, bool exact);
/* For frames_prepare.c: the image of a node, IMAGE_NONE if in none; an image in
 * the form that symbols.h needs; the key of a place. */
uint32_t frames_image(const struct frames *frames, uint32_t node);
struct symbol_image frames_symbol_image(const struct frames *frames,
					uint32_t index);
static inline uint64_t frames_place_key(uint64_t address, uint64_t owner,
					bool exact)
{
	return hash_number(address) + owner * 2 + exact;
}
/* Is the image, by its index, the recorder itself? Its frames are not shown. */
bool frames_is_own(const struct frames *frames, uint32_t index);
/* The index of the site in a list, innermost first: the first frame that is not
 * an allocator wrapper or runtime code, nor part of it; 0 if there is none. */
size_t frames_site(const struct frame *list, size_t count);
/* Fill the list for a context. */
void frames_of(struct frames *frames, uint32_t node);
/*
 * A number for the context's site: equal for contexts with the same function,
 * file and line; above UINT32_MAX if there is no site.
 */
uint64_t frames_site_key(struct frames *frames, uint32_t node);
/* The library of the context's site, if the site has no name and its number is
 * known; otherwise NULL. */
const char *frames_site_nameless(const struct frames *frames, uint32_t node);
/* Find all sites, with a progress bar: may take long the first time. */
void frames_find_sites(struct frames *frames);
/*
 * Whether `matches` accepts the name of a frame's function: any form that
 * reports print (names.h), or the full name (--full-names).
 */
bool frames_function_matches(const struct frames *frames, const char *function,
			     bool (*matches)(void *owner, const char *name),
			     void *owner);
/* The name of a frame that has a function, as reports print it in `width`
 * columns; SIZE_MAX: unlimited. */
void frames_function(const struct frame *frame, size_t width,
		     struct buffer *name);
void frames_free(struct frames *frames);

/* Libraries with functions without names, in the order of appearance. */
const char *const *frames_nameless(const struct frames *frames,
				   size_t *count);

/* Why a walk ended early, in words; NULL: it did not. */
const char *frames_stop_text(enum gt_stop stop);

#endif
