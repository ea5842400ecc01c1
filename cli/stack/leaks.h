/*
 * leaks.h: the live blocks of a model without those that suppressions match:
 * rules from the user's files, rules in the program itself (the text that its
 * function __lsan_default_suppressions returns), and a short built-in list for
 * the C library, the loader and the C++ library.
 *
 *	leaks_take		for the options below
 *	leaks_open		once, before any trace is read
 *	leaks_find		for each model; then leaks_keeps says which contexts
 *				are not suppressed
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

/* --suppressions and related options; ids from LEAKS_FIRST_ID on. */
extern const struct command_group leaks_options;

/* Zeroed: no option was given. */
struct leaks {
	bool no_program;	/* --disable-embedded-suppressions */
	bool no_builtin;	/* --disable-builtin-suppressions */
	bool print;		/* --print-suppressions */
	const char **files;
	size_t file_count;
	size_t file_capacity;
	struct suppressions rules;
	struct intern seen;	/* programs whose own rules were already
				 * searched */
	/* For the last model. */
	uint32_t *rule_of;	/* by node; SUPPRESSION_NONE */
	uint64_t live_blocks, live_bytes;	/* without suppressed ones */
	uint64_t suppressed_blocks, suppressed_bytes;
	uint64_t suppressed_stacks;
};

bool leaks_is_option(int id);
int leaks_take(struct leaks *leaks, int id, const char *value);
/* 0, or -EINVAL: a file is wrong, which is noted. */
int leaks_open(struct leaks *leaks, struct notes *notes);
/*
 * Applies the rules to the live blocks of the frames' model. Names of functions
 * should be full (with parameters), as rules are written for these. `places`:
 * where to search the program's file.
 */
void leaks_find(struct leaks *leaks, struct frames *frames,
		const struct debugfile_places *places);
/* Is this context not suppressed? For rows; `owner` is the struct leaks. */
bool leaks_keeps(void *owner, uint32_t node, const struct figures *figures);
/* Statistics over all models so far: the rules that matched, if requested, and
 * the user's rules that did not match. */
void leaks_print(const struct leaks *leaks, FILE *out);
void leaks_json(const struct leaks *leaks, struct json *json);
void leaks_close(struct leaks *leaks);

#endif
