/*
 * cmd_cfi.c: `gnomon cfi`: checks, prints and makes unwind tables of binaries.
 * Runs in the main thread; cfi_*.c do the work.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/base/terminal/log.h"
#include "cli/cfi/cfi_verbs.h"
#include "cli/command/output_file.h"
#include "cli/commands.h"
#include "cli/symbol/cfi/prepare.h"

enum { JSON = 1, RULES, OUTPUT };

static int parse_option(void *owner, int id, const char *value)
{
	struct cfi_request *request = owner;

	if (id == JSON)
		request->as_json = true;
	else if (id == RULES)
		request->rules_only = true;
	else
		request->directory = value;
	return 0;
}

static enum exit_status check(struct cfi_request *request, int count,
			      char **operands)
{
	enum exit_status status = EXIT_COMPLETE;

	for (int i = 0; i < count; i++) {
		enum exit_status one = cfi_check(request, operands[i]);

		if (status != EXIT_NOTHING && one != EXIT_COMPLETE)
			status = one;
	}
	return status;
}

static enum exit_status dump(struct cfi_request *request, int count,
			     char **operands)
{
	if (count <= 2)
		return cfi_dump(request, operands[0],
				count == 2 ? operands[1] : NULL);
	log_error("cfi dump takes one binary and at most one function");
	return EXIT_NOTHING;
}

static enum exit_status prepare(struct cfi_request *request, int count,
				char **operands)
{
	char *usual = request->directory == NULL ? prepare_directory() : NULL;
	enum exit_status status = EXIT_COMPLETE;

	if (usual != NULL)
		request->directory = usual;
	for (int i = 0; i < count && request->directory != NULL; i++)
		if (cfi_prepare(request, operands[i]) != EXIT_COMPLETE)
			status = EXIT_NOTHING;
	if (request->directory == NULL) {
		log_error("no directory for rule files: give one with -o, or "
			  "set HOME");
		status = EXIT_NOTHING;
	}
	free(usual);
	return status;
}

static const struct verb {
	const char *name;
	enum exit_status (*run)(struct cfi_request *request, int count,
				char **operands);
} verbs[] = {
	{ "check", check },
	{ "dump", dump },
	{ "prepare", prepare },
};

/* Whether an action has the options that were given. */
static bool options_are_consistent(const struct cfi_request *request,
				   const struct verb *verb)
{
	if (request->rules_only && verb->run != dump)
		log_error("--rules: cfi %s does not print rules: remove the "
			  "option, or use cfi dump", verb->name);
	else if (request->directory != NULL && verb->run != prepare)
		log_error("--output: cfi %s writes no files: remove the "
			  "option, or use cfi prepare", verb->name);
	else
		return true;
	return false;
}

static enum exit_status run(struct cfi_request *request,
			    const struct verb *verb, int count, char **operands)
{
	enum exit_status status;

	request->json.out = stdout;
	if (request->as_json) {
		json_object(&request->json, NULL);
		json_uint(&request->json, "schema", 1);
		json_array(&request->json, "rows");
	}
	status = verb->run(request, count, operands);
	if (request->as_json) {
		json_end_array(&request->json);
		json_end_object(&request->json);
	}
	return output_file_close(stdout, NULL, status);
}

static int run_cfi(const struct command *command, int argc, char **argv)
{
	struct cfi_request request = { 0 };
	int operands, status;

	request.places.no_debuginfod = true;
	if (!command_parse(command, argc, argv, parse_option, &request,
			   &operands, &status))
		return status;
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++) {
		if (operands == 0 || strcmp(argv[1], verbs[i].name) != 0)
			continue;
		if (!options_are_consistent(&request, &verbs[i]))
			return EXIT_NOTHING;
		if (operands > 1)
			return run(&request, &verbs[i], operands - 1,
				   argv + 2);
		log_error("cfi %s: no binary is named: give a program or a "
			  "shared library", argv[1]);
		return EXIT_NOTHING;
	}
	if (operands > 0)
		log_error("cfi: %s: no such action: give check, dump or "
			  "prepare, and a binary", argv[1]);
	else
		log_error("cfi: no action given: give check, dump or prepare, "
			  "and a binary");
	return EXIT_NOTHING;
}

static const char *const description[] = {
	"Unwind tables describe, for each instruction of a program, how to "
	"find its caller's frame. BINARY may be for x86-64, AArch64, ARM or "
	"MIPS64, whatever processor this machine has.",
	"check executes each function's code symbolically and reports where "
	"its table disagrees about the CFA, the return address or a "
	"callee-saved register.",
	"prepare makes rules for code without unwind tables by symbolic "
	"execution, in a file named by the binary's build-id. Programs "
	"recorded with GNOMON_CFI_DIR set to that directory use them. `gnomon "
	"run` prepares missing rule files itself.",
	"dump prints the rules beside the disassembly of one function, or of "
	"all functions.",
	"Exit status: 0: done; 1: check found a disagreement; 2: wrong use, or "
	"a binary could not be read.",
	NULL
};

static const char *const examples[] = {
	"gnomon cfi check ./server libfoo.so", "check their unwind tables",
	"gnomon cfi prepare ./server", "make rules for code without unwind "
				       "tables",
	"gnomon cfi dump ./server main", "print the rules beside the code of "
					 "main",
	NULL
};

static const struct command_option options[] = {
	{ JSON, "json", 0, NULL, NULL,
	  "one JSON object for programs to read" },
	{ RULES, "rules", 0, NULL, NULL,
	  "dump: print only the rules, without the code" },
	{ OUTPUT, "output", 'o', "DIR", "$GNOMON_CFI_DIR, or gnomon/cfi in "
	  "$XDG_CACHE_HOME or ~/.cache",
	  "prepare: directory for the rule files" },
	COMMAND_COMMON_OPTIONS,
};

const struct command cmd_cfi = {
	.name = "cfi",
	.operands = "check|dump|prepare BINARY...",
	.summary = "check, print and make unwind tables",
	.description = description,
	.examples = examples,
	.options = options,
	.option_count = sizeof(options) / sizeof(options[0]),
	.wrong_use = EXIT_NOTHING,
	.main = run_cfi,
};
