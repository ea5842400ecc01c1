/*
 * suppressions.h: suppressions: rules for blocks that may stay live ("leaks"
 * that are intended, known, or in others' code). The file format is
 * LeakSanitizer's:
 *
 *	# a comment
 *	leak:PATTERN
 *	leak:PATTERN <- PATTERN <- ... <- PATTERN
 *
 * A rule suppresses a stack if its pattern matches some frame: the function (as
 * demangled, or as reports print it, without parameters), the source file, or
 * the path of the library. A pattern matches anywhere in the text; `*` stands
 * for any text; `^` at the begin and `$` at the end anchor the pattern at the
 * begin and the end of the text.
 *
 * LeakSanitizer has one pattern per rule. Here arrows mean "called by": each
 * pattern has to match the caller of the frame before or, with dots between
 * them, any frame further out. A single `^` in front stands for the allocation
 * itself, so that the next pattern has to match the innermost frame.
 *
 * LeakSanitizer does not match `foo$` with "foo_foo", since it tries only the
 * first "foo". This code matches it, as LeakSanitizer's manual says.
 */
#ifndef GNOMON_SUPPRESSIONS_H
#define GNOMON_SUPPRESSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/intern.h"
#include "cli/stack/frames.h"

#define SUPPRESSIONS_MAX 10000		/* rules: each is tried on each frame */
#define SUPPRESSION_PATTERNS_MAX 16	/* of one rule */
#define SUPPRESSIONS_FILE_MAX (1u << 20)	/* bytes */
#define SUPPRESSION_NONE UINT32_MAX

enum suppression_source {
	SUPPRESSION_FILE,	/* the user's */
	SUPPRESSION_PROGRAM,	/* the program's own */
	SUPPRESSION_BUILT_IN	/* ours */
};

struct suppression {
	const char *text;	/* as written, without "leak:" */
	enum suppression_source source;
	const char *origin;	/* file or program */
	unsigned line;
	uint32_t patterns[SUPPRESSION_PATTERNS_MAX];	/* innermost first */
	unsigned pattern_count;
	uint32_t gaps;		/* bit i: any number of frames before i */
	bool active;		/* see suppressions_bind */
	/* What it suppressed so far, over all models. */
	uint64_t stacks, blocks, bytes;
};

/* A zeroed one has no rules. */
struct suppressions {
	struct suppression *list;
	size_t count;
	size_t capacity;
	struct intern patterns;	/* distinct ones */
	struct intern names;
	struct suppressions_bound *bound;
};

/*
 * Adds the rules in a text of `size` bytes. `origin` names it in messages.
 * Returns 0, or -EINVAL if a line is wrong, which is noted;
 * no rule of the text is taken then.
 */
int suppressions_parse(struct suppressions *rules, const char *text,
		       size_t size, enum suppression_source source,
		       const char *origin, struct notes *notes);
/* The same with a file; -EINVAL also where it cannot be read. */
int suppressions_read(struct suppressions *rules, const char *path,
		      struct notes *notes);
void suppressions_free(struct suppressions *rules);

/*
 * Binds the rules to the model of the frames, which was read, for the calls of
 * suppressions_find that follow. Of the rules from programs, only those from
 * `program` are active.
 */
void suppressions_bind(struct suppressions *rules, struct frames *frames,
		       const char *program);
/* The rule that suppresses a context, or SUPPRESSION_NONE. Of several the one
 * that matches the innermost frame; of these, the first. */
uint32_t suppressions_find(struct suppressions *rules, uint32_t node);

/* For tests. */
bool suppressions_match(const char *pattern, const char *text);

#endif
