/*
 * controls.h: commands to the recorder, each with its time, and the view: the
 * stamp from which on a trace counts.
 *
 *	START … STOP … START … CLEAR … MARKER … STOP
 *	        └─ off ─┘      │
 *	                       └─ the view begins: earlier events do not count
 *
 * A view begins at the last START or CLEAR that applies: at the stamp `view`.
 * Blocks from before the view are *foreign*: they are neither live nor leaked,
 * and their frees are counted separately.
 *
 * Private to the model, except for reading the list.
 */
#ifndef GNOMON_CONTROLS_H
#define GNOMON_CONTROLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/intern.h"
#include "cli/trace/decode/control_records.h"

struct control {
	uint64_t stamp;
	const char *name;	/* "": none */
	unsigned what;		/* enum gt_control_what without HEAP */
};

struct controls {
	struct control *list;	/* by stamp */
	size_t count, capacity;
	size_t next;		/* the first that was not applied yet */
	uint64_t view;		/* stamp: blocks allocated before it are
				 * foreign */
	bool known;		/* `view` was known before the first event */
	bool off;		/* events of blocks do not count now */
	uint64_t foreign;	/* frees of foreign blocks, since `view` */
	uint64_t refused;	/* over a limit */
};

#define CONTROLS_MAX (1u << 20)
#define CONTROLS_LATE 256	/* at most this many may be out of order */

/* Add a record, in the order of the file. `names` keeps the name. `open`: the
 * first stamp later than all events that were applied. */
void controls_add(struct controls *controls, struct intern *names,
		  const struct trace_control *record, uint64_t open);
void controls_free(struct controls *controls);

/* Whether a view can begin here. */
static inline bool control_begins(const struct control *control)
{
	return control->what == GT_CONTROL_START ||
	       control->what == GT_CONTROL_CLEAR;
}

/* The last start of a view at or before the stamp; 0: there is none. */
uint64_t controls_view(const struct controls *controls, uint64_t stamp);
/* Stamp of the first command that was not applied yet; UINT64_MAX: none. */
static inline uint64_t controls_next(const struct controls *controls)
{
	return controls->next < controls->count ?
		controls->list[controls->next].stamp : UINT64_MAX;
}

/* I1, and the count of applied commands. With GNOMON_DEBUG_ASSERTS. */
bool controls_is_valid(const struct controls *controls);

extern const char *const control_words[GT_CONTROL_COUNT];

#endif
