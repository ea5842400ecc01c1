/*
 * transform.h: shared by the commands that make a trace from a trace: options
 * for the result, and the loop that copies chunks.
 */
#ifndef GNOMON_TRANSFORM_H
#define GNOMON_TRANSFORM_H

#include <stdbool.h>

#include "cli/base/terminal/command.h"
#include "cli/trace/read/reader.h"
#include "cli/trace/write/repack.h"

/* The ids of these options begin here. */
#define TRANSFORM_ID_FIRST 6000

extern const struct command_group transform_options;	/* -o, -f, --level */

struct transform {
	const char *output;
	bool force;
	uint64_t level;
	/* set by transform_run: of the input */
	struct reader_report report;
	uint64_t bytes_out;
};

void transform_init(struct transform *transform);
bool transform_has(int id);
/* Parses one of these options, for the function that command_parse calls.
 * Returns 0, or -errno as that does. */
int transform_take(struct transform *transform, int id, const char *value);
/* Whether -o was given; prints an error if not. */
bool transform_is_complete(const struct transform *transform);

/*
 * Copy the trace through `change`. `before_end` may add chunks before the
 * closing ones; NULL: none are added. It returns false to stop, after an error
 * message of its own; then there is no result. Returns as reader_run, or
 * EXIT_NOTHING.
 */
int transform_run(struct transform *transform, const char *trace,
		  const struct repack_change *change,
		  bool (*before_end)(void *owner, struct repack *repack),
		  void *owner);

/* Print "a.trace: 1.2M became 300k (25%)" as a note. */
void transform_report(const struct transform *transform, const char *trace);

#endif
