/*
 * firefox_tables.h: what all threads of a profile for the Firefox Profiler
 * refer to: texts, libraries, functions, frames and stacks, as `libs` and
 * `shared` of version 63 of its processed format have them. They are collected
 * first, as they are met, and written afterwards. All are numbered from 0.
 *
 * A frame is a place in code and a function there: what is inlined is a frame
 * of its own, of the same address and one deeper. A stack is a frame and the
 * stack around it, which has a lower number.
 * Called by the main thread.
 */
#ifndef GNOMON_FIREFOX_TABLES_H
#define GNOMON_FIREFOX_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include "cli/base/intern.h"
#include "cli/base/pairset.h"
#include "cli/base/table.h"
#include "cli/base/text/buffer.h"
#include "cli/base/text/json.h"
#include "cli/stack/frames.h"
#include "cli/stack/inward.h"

#define FIREFOX_NONE UINT32_MAX		/* no stack, no library, … */
#define FIREFOX_NO_ADDRESS UINT64_MAX

/* In their order, as `meta` has to list them. */
enum firefox_category {
	FIREFOX_OTHER, FIREFOX_PROGRAM, FIREFOX_LIBRARIES, FIREFOX_ALLOCATORS,
	FIREFOX_CATEGORIES
};

struct firefox_frame {
	uint64_t address;	/* in its library */
	uint32_t func, depth, category;
	uint32_t line, column;	/* 0: not known */
};

struct firefox_tables {
	struct frames *frames;
	struct inward inward;
	struct intern texts;
	struct pairset libs;		/* (image, its name, a text) */
	struct pairset sources;		/* (text, 0) */
	struct pairset homes;		/* of functions: (library, source) */
	struct pairset funcs;		/* (name, a text; home) */
	struct firefox_frame *list;
	size_t frame_count, frame_capacity;
	struct table of_place;		/* place -> its outermost frame */
	struct pairset stacks;		/* (outer, frame) */
	struct buffer scratch;
};

void firefox_tables_init(struct firefox_tables *tables, struct frames *frames);
void firefox_tables_free(struct firefox_tables *tables);

uint32_t firefox_text(struct firefox_tables *tables, const char *text);
/* The stack of a context; FIREFOX_NONE: it has no frames. */
uint32_t firefox_stack(struct firefox_tables *tables, uint32_t node);

/* There must be no more of anything afterwards. */
void firefox_write_libs(struct firefox_tables *tables, struct json *json);
void firefox_write_shared(struct firefox_tables *tables, struct json *json);

/* How symbol servers name a file: Breakpad's form of a build-id. */
#define FIREFOX_BREAKPAD_ID (2 * 16 + 1 + 1)
void firefox_breakpad_id(char id[FIREFOX_BREAKPAD_ID],
			 const uint8_t *build_id, size_t size);

#endif
