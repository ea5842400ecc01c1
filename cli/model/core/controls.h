/*
 * controls.h: what somebody told the recorder to do, and when; and from when on
 * a trace counts.
 *
 *	START … STOP … START … CLEAR … MARKER … STOP
 *	        └─ off ─┘      │
 *	                       └─ the view begins: what was before is left out
 *
 * START and CLEAR are beginnings: what counts is what came after the last one
 * that applies, from the stamp `view` on. Blocks from before are *foreign*:
 * they are neither live nor leaked, and their frees are counted apart.
 *
 * Private to the model, but for reading the list.
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
	unsigned what;		/* enum gt_control_what but HEAP */
};

struct controls {
	struct control *list;	/* by stamps */
	size_t count, capacity;
	size_t next;		/* the first that was not applied yet */
	uint64_t view;		/* stamp: blocks that began before it are
				 * foreign */
	bool known;		/* `view` was known before the first event */
	bool off;		/* events of blocks do not count now */
	uint64_t foreign;	/* frees of foreign blocks, since `view` */
	uint64_t refused;	/* over a limit */
};

#define CONTROLS_MAX (1u << 20)
#define CONTROLS_LATE 256	/* so many may have come before an earlier */

/* A record, in the order of the file. `names` keeps the name. `open`: the
 * first stamp that no event has had yet. */
void controls_add(struct controls *controls, struct intern *names,
		  const struct trace_control *record, uint64_t open);
void controls_free(struct controls *controls);

/* Whether it is a beginning. */
static inline bool control_begins(const struct control *control)
{
	return control->what == GT_CONTROL_START ||
	       control->what == GT_CONTROL_CLEAR;
}

/* The last beginning that is not after the stamp; 0: there is none. */
uint64_t controls_view(const struct controls *controls, uint64_t stamp);
/* Stamp of the first that was not applied yet; UINT64_MAX: there is none. */
static inline uint64_t controls_next(const struct controls *controls)
{
	return controls->next < controls->count ?
		controls->list[controls->next].stamp : UINT64_MAX;
}

/* I1, and how many were applied. With GNOMON_CLAIMS. */
bool controls_is_valid(const struct controls *controls);

extern const char *const control_words[GT_CONTROL_COUNT];

#endif
