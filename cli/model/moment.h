/*
 * moment.h: moments of a recording as users write them: 250ms after its start,
 * 30% of the run, @NAME of a marker or snapshot, start, end.
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

/* A possible meaning of @NAME: a marker, a snapshot or another named command to
 * the recorder. */
struct moment_name {
	const char *name;
	uint64_t stamp;
};

/* All names of a trace, by time; to be freed. Returns how many. */
size_t moment_names(const struct model *model, struct moment_name **list);

/* 0; -EINVAL: the text is no moment; -ERANGE: the time is too large. */
int moment_parse(const char *text, struct moment *moment);
/*
 * The moment in ns since the start of the recording. If a name occurs several
 * times, the last one counts, which is noted. False: the trace does not have
 * the name, which is noted. The model has read the trace, or its outline.
 */
bool moment_ns(const struct model *model, const struct moment *moment,
	       uint64_t *ns);
/* The first stamp at or after the moment; UINT64_MAX: after the end. */
bool moment_stamp(const struct model *model, const struct moment *moment,
		  uint64_t *stamp);

#endif
