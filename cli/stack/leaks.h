/*
 * leaks.h: what is live of a model, without what suppressions say may be:
 * those of the user's files, those in the program itself (the text that its
 * function __lsan_default_suppressions returns), and a short list of ours for
 * the C library, the loader and the C++ library.
 *
 *	leaks_take		for the options below
 *	leaks_open		once, before any trace is read
 *	leaks_find		for each model; then leaks_keeps says which contexts
 *				are not left out
 *	leaks_close
 */
#ifndef GNOMON_LEAKS_H
#define GNOMON_LEAKS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/base/terminal/command.h"
#include "cli/base/text/json.h"
#include "cli/stack/frames.h"
#include "cli/stack/suppressions.h"
#include "cli/symbol/files/debugfile.h"

#define LEAKS_FIRST_ID 4000

/* --suppressions and its kin; ids from LEAKS_FIRST_ID on. */
extern const struct command_group leaks_options;

/* A zeroed one is what no option means. */
struct leaks {
	bool no_program;	/* --disable-embedded-suppressions */
	bool no_builtin;	/* --disable-builtin-suppressions */
	bool print;		/* --print-suppressions */
	const char **files;
	size_t file_count;
	size_t file_capacity;
	struct suppressions rules;
	struct intern seen;	/* programs whose own rules were looked for */
	/* Of the last model. */
	uint32_t *rule_of;	/* by node; SUPPRESSION_NONE */
	uint64_t live_blocks, live_bytes;	/* without what follows */
	uint64_t suppressed_blocks, suppressed_bytes;
	uint64_t suppressed_stacks;
};

bool leaks_is_option(int id);
int leaks_take(struct leaks *leaks, int id, const char *value);
/* 0, or -EINVAL: a file is wrong, which is noted. */
int leaks_open(struct leaks *leaks, struct notes *notes);
/*
 * Applies the rules to what is live in the frames' model. Names of functions
 * should be full, as rules are written for these. `places`: where the
 * program's own file may be.
 */
void leaks_find(struct leaks *leaks, struct frames *frames,
		const struct debugfile_places *places);
/* Does this context stay? For rows, `owner` being the struct leaks. */
bool leaks_keeps(void *owner, uint32_t node, const struct figures *figures);
/* What they suppressed in all models so far: rules that matched, if that was
 * asked for, and those of the user's that did not. */
void leaks_print(const struct leaks *leaks, FILE *out);
void leaks_json(const struct leaks *leaks, struct json *json);
void leaks_close(struct leaks *leaks);

#endif
