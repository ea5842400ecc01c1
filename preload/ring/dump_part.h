/*
 * dump_part.h: how the recorder makes a dump of stacks for the program
 * (gnomon_dump), by requests (ASK_DUMP) whose `number` is the step:
 *
 *	target (api_dump.c)		recorder (cli/recorder/dump/)
 *	BEGIN	struct dump_wish	takes the numbers as they are now
 *	WORD …	pieces of its words
 *	GO …	struct dump_part	a bit of the work, which says what
 *					the part is when it comes back:
 *	  BUSY		nothing		stacks are walked, symbols read, …
 *	  FRAMES	frames		the program's editor may change them;
 *					they go back with the next GO
 *	  LINES		text		for the program's writer
 *	  END		their number
 *	STOP				gives its memory back
 *
 * One dump at a time; BEGIN ends one that was left.
 */
#ifndef GNOMON_DUMP_PART_H
#define GNOMON_DUMP_PART_H

#include <assert.h>
#include <stdint.h>

#include "preload/ring/shared.h"

enum dump_step { DUMP_BEGIN, DUMP_WORD, DUMP_GO, DUMP_STOP };

/* Strings of struct gnomon_dump. arg[0] of DUMP_WORD, the data is the piece. */
enum dump_word {
	DUMP_PREFIX, DUMP_BETWEEN_FRAMES, DUMP_BEFORE_NUMBERS,
	DUMP_BETWEEN_NUMBERS, DUMP_FROM, DUMP_WORDS
};

ORDER_BEGIN

/* As struct gnomon_dump, not checked; the data of DUMP_BEGIN. */
struct dump_wish {
	uint32_t form, fields, sort, most;
	uint64_t least;
	uint32_t words;		/* bits by enum dump_word: not NULL */
	uint32_t here;		/* GNOMON_HERE, */
	uint64_t caller;	/* which is where this address returns to */
	uint64_t own_start, own_size;	/* of our library: no frame to show */
	uint32_t edits;		/* there is an editor */
	uint32_t nested;	/* asked from a hook's handler (ledger_ask.h) */
};

/* The result of DUMP_GO, or an error. */
enum dump_kind { DUMP_BUSY, DUMP_FRAMES, DUMP_LINES, DUMP_END };

struct dump_part {
	uint32_t count;		/* frames; bytes of text; stacks printed */
	uint32_t unused;
	uint64_t line_max;	/* bytes of the longest line */
	char data[GL_REQUEST_ROOM - 16];
};

/* Of a name as it comes, with its 0; longer symbols are none. */
#define DUMP_NAME_MAX 3584
#define DUMP_EDIT_ROOM 256	/* for the editor, beyond it */

/* One behind the other in `data`. */
struct dump_frame {
	uint64_t address, module_offset, symbol_offset;
	uint32_t bytes;		/* of all this, a multiple of 8 */
	uint32_t name, room;	/* in `text`: where it is, and bytes for it */
	uint32_t named;		/* by a symbol, which it still is */
	uint32_t edit;		/* enum gnomon_edit: the answer */
	char text[];		/* path of the module, then the name */
};

ORDER_END

static_assert(sizeof(struct dump_part) == GL_REQUEST_ROOM, "fills a request");
static_assert(sizeof(struct dump_frame) + GT_PATH_MAX + DUMP_NAME_MAX +
			      DUMP_EDIT_ROOM + 8 <=
		      sizeof(((struct dump_part *)0)->data),
	      "there is room for any frame");

#endif
