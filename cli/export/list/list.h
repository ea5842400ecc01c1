/*
 * list.h: what formats for other people's programs are made of: json, ndjson
 * and csv. They list either the contexts with all their figures, or, with
 * --by block, each allocation. Names are those of `gnomon report --json`.
 *
 * Blocks come in the order in which they end, then those that are still live:
 * so it takes memory for contexts and live blocks, and none for the others.
 * Called by the main thread.
 */
#ifndef GNOMON_LIST_H
#define GNOMON_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/base/text/json.h"
#include "cli/command/export.h"
#include "cli/stack/frame_table.h"

#define LIST_NOT_ENDED UINT64_MAX

struct list_block {
	uint64_t address, size;
	const char *heap;	/* of the program's own; NULL: the allocator's */
	uint64_t birth_ns, end_ns;	/* since the start */
	const char *fate;		/* live, freed, moved, lost */
	bool temporary;			/* its end came soon */
	const struct thread *thread;	/* that allocated it */
	uint32_t context;
};

/* Each context as export_contexts has it, those with most of --cost first. */
void list_contexts(struct export *export,
		   void (*each)(void *owner, uint32_t node,
				const struct figures *figures),
		   void *owner);
/*
 * Each block that filters keep. Returns an exit status: EXIT_NOTHING, with a
 * message and before the first of them, if the trace cannot be read again.
 */
int list_blocks(struct export *export,
		void (*each)(void *owner, const struct list_block *block),
		void *owner);

/* Its members, into an object that is open. */
void list_block_json(struct json *json, const struct list_block *block);
/* Members of a context: "stack" has numbers if there is a table. */
void list_context_json(struct json *json, struct export *export,
		       uint32_t node, const struct figures *figures,
		       struct frame_table *once);

#endif
