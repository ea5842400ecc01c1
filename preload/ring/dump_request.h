/*
 * dump_request.h: protocol by which the recorder makes a dump of stacks for the
 * program (gnomon_dump): requests (REQUEST_DUMP) whose `number` is the step:
 *
 *	target (api_dump.c)		recorder (cli/recorder/dump/)
 *	BEGIN	struct dump_options	copies the current numbers
 *	WORD …	pieces of its strings
 *	GO …	struct dump_reply	does some of the work; the part comes
 *					back with its kind:
 *	  BUSY		nothing		walking stacks, reading symbols, …
 *	  FRAMES	frames		the program's editor may change them;
 *					they go back with the next GO
 *	  LINES		text		for the program's writer
 *	  END		their number
 *	STOP				frees its memory
 *
 * One dump at a time; BEGIN ends a dump that was abandoned.
 */
#ifndef GNOMON_DUMP_REQUEST_H
#define GNOMON_DUMP_REQUEST_H

#include <assert.h>
#include <stdint.h>

#include "preload/ring/shared.h"

enum dump_step { DUMP_BEGIN, DUMP_WORD, DUMP_GO, DUMP_STOP };

/* Strings of struct gnomon_dump. arg[0] of DUMP_WORD; the data is a piece of
 * it. */
enum dump_word {
	DUMP_PREFIX, DUMP_BETWEEN_FRAMES, DUMP_BEFORE_NUMBERS,
	DUMP_BETWEEN_NUMBERS, DUMP_FROM, DUMP_WORDS
};

ORDER_BEGIN

/* Fields of struct gnomon_dump, unchecked; the data of DUMP_BEGIN. */
struct dump_options {
	uint32_t form, fields, sort, most;
	uint64_t least;
	uint32_t words;		/* bits by enum dump_word: not NULL */
	uint32_t here;		/* `from` is GNOMON_HERE: */
	uint64_t caller;	/* the function that this return address is
				 * in */
	uint64_t own_start, own_size;	/* of our library, whose frames are
					 * hidden */
	uint32_t edits;		/* there is an editor */
	uint32_t nested;	/* requested in a handler that interrupted a
				 * hook (blocks_request.h) */
};

/* The result of DUMP_GO, or an error. */
enum dump_kind { DUMP_BUSY, DUMP_FRAMES, DUMP_LINES, DUMP_END };

struct dump_reply {
	uint32_t count;		/* frames; bytes of text; stacks printed */
	uint32_t unused;
	uint64_t line_max;	/* bytes of the longest line */
	char data[GL_REQUEST_ROOM - 16];
};

/* Most bytes of a name before edits, with its 0; longer symbols are ignored. */
#define DUMP_NAME_MAX 3584
#define DUMP_EDIT_ROOM 256	/* extra space for the editor */

/* Stored one after the other in `data`. */
struct dump_frame {
	uint64_t address, module_offset, symbol_offset;
	uint32_t bytes;		/* of this struct and its text, a multiple of
				 * 8 */
	uint32_t name, room;	/* the name's offset in `text`, and the bytes
				 * for it */
	uint32_t named;		/* not 0: the name is a symbol, unedited */
	uint32_t edit;		/* enum gnomon_edit: the answer */
	char text[];		/* path of the module, then the name */
};

ORDER_END

static_assert(sizeof(struct dump_reply) == GL_REQUEST_ROOM, "fills a request");
static_assert(sizeof(struct dump_frame) + GT_PATH_MAX + DUMP_NAME_MAX +
			      DUMP_EDIT_ROOM + 8 <=
		      sizeof(((struct dump_reply *)0)->data),
	      "there is room for any frame");

#endif
