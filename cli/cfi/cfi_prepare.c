/*
 * cfi_prepare.c: `gnomon cfi prepare`: makes rule files for code without unwind
 * tables.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/base/terminal/log.h"
#include "cli/cfi/cfi_verbs.h"
#include "cli/symbol/cfi/prepare.h"

static void show(struct cfi_request *request, const char *path,
		 const struct prepare_result *result)
{
	struct json *json = &request->json;

	if (request->as_json) {
		json_object(json, NULL);
		json_string(json, "binary", path);
		json_string(json, "file", result->path);
		json_uint(json, "functions", result->functions);
		json_uint(json, "code_bytes", result->code_bytes);
		json_uint(json, "ruled_bytes", result->ruled_bytes);
		json_end_object(json);
	} else if (result->path == NULL) {
		fprintf(json->out, "%s: nothing to do: its unwind tables cover "
			"all functions\n", path);
	} else {
		fprintf(json->out, "%s: %" PRIu64 " of %" PRIu64 " bytes of "
			"code without tables now have rules, in %s\n", path,
			result->ruled_bytes, result->code_bytes, result->path);
	}
}

enum exit_status cfi_prepare(struct cfi_request *request, const char *path)
{
	struct prepare_result result = { 0 };
	struct binary binary;
	const char *wrong = binary_open_named(&binary, path,
					      &request->places);

	if (wrong != NULL) {
		log_error("%s: %s", path, wrong);
		return EXIT_NOTHING;
	}
	wrong = prepare_binary(&binary, request->directory, &result);
	if (wrong == NULL)
		show(request, path, &result);
	else if (result.path != NULL)
		log_error("%s: cannot be written: %s: choose another "
			  "directory with -o", result.path, wrong);
	else
		log_error("%s: %s", path, wrong);
	prepare_free(&result);
	binary_close(&binary);
	return wrong == NULL ? EXIT_COMPLETE : EXIT_NOTHING;
}
