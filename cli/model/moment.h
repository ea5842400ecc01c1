/*
 * moment.h: moments of a recording as people write them: 250ms after its
 * start, 30% of the run, @NAME of a marker or snapshot, start, end.
 */
#ifndef GNOMON_MOMENT_H
#define GNOMON_MOMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model;

enum moment_kind {
	MOMENT_TIME,		/* since the start */
	MOMENT_SHARE,		/* of the duration */
	MOMENT_NAME		/* of a marker or snapshot */
};

struct moment {
	enum moment_kind kind;
	uint64_t ns;		/* _TIME */
	double share;		/* _SHARE: 0 … 1 */
	const char *name;	/* _NAME; borrowed from the text */
};

/* What @NAME may mean: a marker, a snapshot or another record of what the
 * recorder was told, with a name. */
struct moment_name {
	const char *name;
	uint64_t stamp;
};

/* All of a trace, by time; to be freed. Returns how many. */
size_t moment_names(const struct model *model, struct moment_name **list);

/* 0, -EINVAL if the text is no moment, -ERANGE if it is beyond all times. */
int moment_parse(const char *text, struct moment *moment);
/*
 * In ns since the start of the recording; of several of one name, the last,
 * which is noted then. False: the trace has none of that name, which is noted,
 * too. The model has read the trace, or its outline.
 */
bool moment_ns(const struct model *model, const struct moment *moment,
	       uint64_t *ns);
/* The first stamp that is not before it; UINT64_MAX: it is behind the end. */
bool moment_stamp(const struct model *model, const struct moment *moment,
		  uint64_t *stamp);

#endif
