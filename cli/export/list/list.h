/*
 * list.h: common parts of the generic formats: json, ndjson and csv. They list
 * the contexts with all their measures, or, with --by block, each allocation.
 * Names are those of `gnomon report --json`.
 *
 * Freed blocks come first, in the order of their frees, then live blocks. So
 * only contexts and live blocks take memory. Called by the main thread.
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
	const char *heap;	/* custom heap; NULL: the allocator's */
	uint64_t alloc_ns, end_ns;	/* since the start */
	const char *fate;		/* live, freed, moved, lost */
	bool temporary;			/* freed before its thread's next
					 * allocation */
	const struct thread *thread;	/* allocating thread */
	uint32_t context;
};

/* Each context that export_contexts has, in descending order of --cost. */
void list_contexts(struct export *export,
		   void (*each)(void *owner, uint32_t node,
				const struct figures *figures),
		   void *owner);
/*
 * Each block that passes the filters. Returns an exit status: EXIT_NOTHING,
 * after a message and before the first block, if the trace cannot be read a
 * second time.
 */
int list_blocks(struct export *export,
		void (*each)(void *owner, const struct list_block *block),
		void *owner);

/* Writes the members of a block into an open object. */
void list_block_json(struct json *json, const struct list_block *block);
/* Writes the members of a context into an open object. With a table, "stack"
 * holds numbers of its frames. */
void list_context_json(struct json *json, struct export *export,
		       uint32_t node, const struct figures *figures,
		       struct frame_table *once);

#endif
