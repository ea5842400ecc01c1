/*
 * cfi_verbs.h: the subcommands of `gnomon cfi`, one function each. Messages are
 * logged; results go to the JSON document, or as text to its stream. The
 * functions return an exit status. Called by the main thread.
 */
#ifndef GNOMON_CFI_VERBS_H
#define GNOMON_CFI_VERBS_H

#include "cli/base/status.h"
#include "cli/base/text/json.h"
#include "cli/symbol/files/debugfile.h"

struct cfi_request {
	struct debugfile_places places;
	bool as_json;
	bool rules_only;	/* dump: without the code */
	const char *directory;	/* prepare: output directory */
	struct json json;	/* an open object, or only its stream */
};

enum exit_status cfi_check(struct cfi_request *request, const char *path);

/* function NULL: all functions. */
enum exit_status cfi_dump(struct cfi_request *request, const char *path,
			  const char *function);

/* Writes rule files to request->directory. */
enum exit_status cfi_prepare(struct cfi_request *request, const char *path);

#endif
