/*
 * transform.h: what the commands that make a trace from a trace share: where
 * the result goes, and the way of the chunks from the one into the other.
 */
#ifndef GNOMON_TRANSFORM_H
#define GNOMON_TRANSFORM_H

#include <stdbool.h>

#include "cli/base/terminal/command.h"
#include "cli/trace/read/reader.h"
#include "cli/trace/write/repack.h"

/* Ids of the options begin here. */
#define TRANSFORM_IDS 6000

extern const struct command_group transform_options;	/* -o, -f, --level */

struct transform {
	const char *output;
	bool force;
	uint64_t level;
	/* transform_run: of the input. */
	struct reader_report report;
	uint64_t bytes_out;
};

void transform_init(struct transform *transform);
bool transform_has(int id);
/* As command_parse wants of its `take`. */
int transform_take(struct transform *transform, int id, const char *value);
/* Whether -o was given; says so if not. */
bool transform_is_complete(const struct transform *transform);

/*
 * Write the trace anew: everything goes through `change`. `before_end` may add
 * chunks behind everything but what closes the trace; NULL: it has nothing to
 * add. It returns whether to go on; if not, it has said why, and there is no
 * result. Returns what reader_run does, or EXIT_NOTHING.
 */
int transform_run(struct transform *transform, const char *trace,
		  const struct repack_change *change,
		  bool (*before_end)(void *owner, struct repack *repack),
		  void *owner);

/* "a.trace: 1.2M became 300k (25%)", as a note. */
void transform_tell(const struct transform *transform, const char *trace);

#endif
