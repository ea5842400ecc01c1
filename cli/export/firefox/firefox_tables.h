/*
 * firefox_tables.h: the tables that all threads of a Firefox Profiler profile
 * share: strings, libraries, functions, frames and stacks, as `libs` and
 * `shared` of version 63 of the processed format define them. Entries are
 * collected as they occur and written afterwards. All are numbered from 0.
 *
 * A frame is a place in code and a function there. An inlined function has a
 * frame of its own, with the same address and one more inline depth. A stack is
 * a frame and the number of the calling stack, which is always lower. Called by
 * the main thread.
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
#include "cli/stack/context_value.h"

#define FIREFOX_NONE UINT32_MAX		/* no stack, no library, … */
#define FIREFOX_NO_ADDRESS UINT64_MAX

/* In the order in which `meta` lists them. */
enum firefox_category {
	FIREFOX_OTHER, FIREFOX_PROGRAM, FIREFOX_LIBRARIES, FIREFOX_ALLOCATORS,
	FIREFOX_CATEGORIES
};

struct firefox_frame {
	uint64_t address;	/* relative to its library */
	uint32_t func, depth, category;
	uint32_t line, column;	/* 0: unknown */
};

struct firefox_tables {
	struct frames *frames;
	struct context_value context_value;
	struct intern texts;
	struct pairset libs;		/* (image, its name, a text) */
	struct pairset sources;		/* (text, 0) */
	struct pairset homes;		/* locations of functions: (library,
					 * source) */
	struct pairset funcs;		/* (name, a text; home) */
	struct firefox_frame *list;
	size_t frame_count, frame_capacity;
	struct table of_place;		/* place in code -> its outermost
					 * frame */
	struct pairset stacks;		/* (outer, frame) */
	struct buffer scratch;
};

void firefox_tables_init(struct firefox_tables *tables, struct frames *frames);
void firefox_tables_free(struct firefox_tables *tables);

uint32_t firefox_text(struct firefox_tables *tables, const char *text);
/* The stack of a context; FIREFOX_NONE: no frames. */
uint32_t firefox_stack(struct firefox_tables *tables, uint32_t node);

/* Write the tables; nothing may be added afterwards. */
void firefox_write_libs(struct firefox_tables *tables, struct json *json);
void firefox_write_shared(struct firefox_tables *tables, struct json *json);

/* Breakpad's form of a build-id, by which symbol servers name files. */
#define FIREFOX_BREAKPAD_ID (2 * 16 + 1 + 1)
void firefox_breakpad_id(char id[FIREFOX_BREAKPAD_ID],
			 const uint8_t *build_id, size_t size);

#endif
