/*
 * cfi_verbs.h: what `gnomon cfi` does, one function for each of its words. Messages
 * are told; results go to the JSON document, or as text to its stream. They
 * return exit states. Called by the main thread.
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
	const char *directory;	/* prepare: where to */
	struct json json;	/* an open object, or just its stream */
};

enum exit_status cfi_check(struct cfi_request *request, const char *path);

/* function: NULL: all. */
enum exit_status cfi_dump(struct cfi_request *request, const char *path,
			  const char *function);

/* Into request->directory. */
enum exit_status cfi_prepare(struct cfi_request *request, const char *path);

#endif
