/*
 * frames.h: the stack of a context as a list of functions, and its site: the
 * innermost one that belongs to the user's code.
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
	/* Without a name it is "library+0xSTART", where it begins by its unwind
	 * table or, without one, its return address. NULL: code in no file. */
	const char *function;
	const char *symbol;	/* the linker's name; NULL: not another one */
	const char *file;	/* NULL: not known */
	const char *library;	/* last part of its path; NULL: no image */
	const char *path;	/* of the library; NULL: not known */
	unsigned line;
	unsigned column;
	unsigned start_line;	/* of the function; 0: not known */
	bool inlined;
	bool nameless;
	bool glue;		/* an allocator's or the language's own */
	bool wraps;		/* of that: it wraps malloc */
	uint64_t address;
	uint64_t module_offset;
	uint64_t start;		/* in the module, if it is nameless */
};

/*
 * What stands at one return address: a function and those inlined into it,
 * innermost first. Nothing, where it is code of the recorder. The list stays
 * where it is until frames_free.
 */
struct frames_place {
	struct frame *list;
	uint32_t count;
	uint32_t next;		/* in the same bucket */
	uint64_t address;
	uint64_t owner;		/* image; without one, the node itself */
	bool exact;
	bool signal;		/* the kernel returns from a handler there, */
				/* so the next frame's address is exact */
};

struct frames {
	struct model *model;
	const struct contexts *contexts;	/* its */
	const struct images *images;
	struct debugfile_places where;	/* its files are looked for */
	struct symbols *symbols;
	int pid;		/* of the process, which may be dead */
	struct jitcode jit;
	struct frame *list;	/* of the last frames_of, innermost first */
	size_t count;
	size_t capacity;
	size_t site;		/* index in the list */
	enum gt_stop stop;	/* why the walk ended there */
	struct frames_place *places;
	size_t place_count;
	size_t place_capacity;
	struct table place_of;	/* frames_place_key -> place */
	bool prepared;		/* all symbols are looked up */
	uint32_t *site_of;	/* by context node: the number of its site, or
				 * TABLE_NONE */
	size_t site_of_count;
	bool all_sites;		/* frames_find_sites has found them */
	struct intern sites;	/* descriptions, by number */
	const char **site_libraries;	/* by number; NULL: it has a name */
	size_t site_library_capacity;
	struct buffer scratch;
	struct { const char **list; size_t count, capacity; } nameless;
	struct intern names;
};

void frames_init(struct frames *frames, struct model *model,
		 const struct debugfile_places *places, bool full_names);
/*
 * The same trace, read again for other figures: stacks are those of `model` from
 * now on. Its nodes are numbered alike, and there are as many, so that what was
 * looked up holds.
 */
void frames_turn_to(struct frames *frames, struct model *model);
/*
 * The number of the place of one context node, an index into frames->places,
 * which the next call may move. `exact`: the frame further in was a signal's.
 * Every walk along contexts comes by here, so symbols are looked up once.
 */
uint32_t frames_place(struct frames *frames, uint32_t node, bool exact);
/* For frames_prepare.c: the image of a node, IMAGE_NONE if it lies in none;
 * what symbols.h wants to know of one; the key of a place. */
uint32_t frames_image(const struct frames *frames, uint32_t node);
struct symbol_image frames_symbol_image(const struct frames *frames,
					uint32_t index);
static inline uint64_t frames_place_key(uint64_t address, uint64_t owner,
					bool exact)
{
	return hash_number(address) + owner * 2 + exact;
}
/* Is the image, by its index, the recorder itself? It is in no stack. */
bool frames_is_own(const struct frames *frames, uint32_t index);
/* The index of the site in a list, innermost first: the first frame that is
 * no glue, nor part of it; 0 where there is none. */
size_t frames_site(const struct frame *list, size_t count);
/* Fill the list for a context. */
void frames_of(struct frames *frames, uint32_t node);
/*
 * A number for the context's site: equal for contexts with the same function,
 * file and line; above UINT32_MAX where there is none.
 */
uint64_t frames_site_key(struct frames *frames, uint32_t node);
/* The library of the context's site, if that has no name, and its number is
 * known; else NULL. */
const char *frames_site_nameless(const struct frames *frames, uint32_t node);
/* Find all of them, with a progress bar: it may take long, and is quick the
 * next time. */
void frames_find_sites(struct frames *frames);
/*
 * Whether `matches` says so of a frame's function: by any form of its name
 * that reports print (names.h), or as --full-names has it.
 */
bool frames_function_matches(const struct frames *frames, const char *function,
			     bool (*matches)(void *owner, const char *name),
			     void *owner);
/* The name of a frame that has a function, as reports print it in so many
 * columns; SIZE_MAX: as it is. */
void frames_function(const struct frame *frame, size_t width,
		     struct buffer *name);
void frames_free(struct frames *frames);

/* Libraries of which a function had no name, in the order of appearance. */
const char *const *frames_nameless(const struct frames *frames,
				   size_t *count);

/* What a walk that ended early met, for people; NULL: it did not. */
const char *frames_stop_text(enum gt_stop stop);

#endif
