/*
 * unwind_rules.c: see unwind_rules.h.
 *
 * Almost all files have tables for all functions except a few bytes of start-up
 * code. Such small gaps are ignored.
 */
#include "cli/run/unwind_rules.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/base/terminal/log.h"
#include "cli/base/text/base_name.h"
#include "cli/symbol/cfi/prepare.h"

#define GAP_MIN 256		/* bytes of code */
#define TIME_MAX_NS UINT64_C(5000000000)	/* no file is started later */

struct readying {
	char *directory;
	bool wanted;		/* there are rules to use */
	struct buffer made;	/* names of files */
	uint64_t start_ns;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void make(struct readying *r, struct binary *binary)
{
	const struct debugfile_places places = { .no_debuginfod = true };
	struct prepare_result result;
	const char *wrong;

	if (now_ns() - r->start_ns > TIME_MAX_NS) {
		log_note("%s: has code without unwind tables: make rules for "
			 "it with `gnomon cfi prepare`", binary->file->path);
		return;
	}
	binary_read_names(binary, &places);
	wrong = prepare_binary(binary, r->directory, &result);
	if (wrong != NULL)
		log_note("%s: has code without unwind tables, and rules could "
			 "not be made: %s", binary->file->path, wrong);
	else if (result.path != NULL)
		buffer_printf(&r->made, "%s%s", r->made.size ? ", " : "",
			      base_name(binary->file->path));
	r->wanted |= wrong == NULL && result.path != NULL;
	prepare_free(&result);
}

static void look_at(struct readying *r, const char *path)
{
	struct binary binary;
	char *made;

	if (binary_open(&binary, path) != NULL)
		return;
	if (generated_rules_wanted(&binary, GAP_MIN)) {
		made = rule_file_path(r->directory, binary.id, binary.id_size);
		if (binary.id_size > 0 && access(made, R_OK) == 0)
			r->wanted = true;
		else
			make(r, &binary);
		free(made);
	}
	binary_close(&binary);
}

char *unwind_rules(const struct patch_plan_libraries *files, const char *given)
{
	struct readying r = { .start_ns = now_ns() };

	r.directory = given[0] != 0 ? grow_copy(given, strlen(given)) :
		prepare_directory();
	for (size_t i = 0; i < files->path_count && r.directory != NULL; i++)
		look_at(&r, files->paths[i]);
	if (r.made.size > 0)
		log_note("code without unwind tables: rules were made for %s, "
			 "in %s", r.made.data, r.directory);
	buffer_free(&r.made);
	if (r.wanted)
		return r.directory;
	free(r.directory);
	return NULL;
}
