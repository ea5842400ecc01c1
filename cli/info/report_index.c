/*
 * report_index.c: the part of `gnomon info` about the trace's index, if there
 * is one (cli/model/index/index_store.h). Called by the main thread.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/base/text/quantity.h"
#include "cli/info/info.h"
#include "cli/model/index/index_store.h"

static double bytes_of_row(const struct index_status *look)
{
	return look->rows == 0 ? 0 :
		(double)look->bytes / (double)look->rows;
}

void report_index_text(const char *trace, FILE *out)
{
	struct index_status look;

	index_status(trace, &look);
	if (look.path == NULL)
		return;
	fprintf(out, "  index        %s %s\n", look.path,
		index_status_text(&look));
	if (look.bytes > 0)
		fprintf(out, "               %s, %s (%s live), %.1f bytes a "
			"block\n", SIZE_TEXT(look.bytes),
			COUNTED(look.rows, "block"), COUNT_TEXT(look.live),
			bytes_of_row(&look));
	if (look.left > 0)
		fprintf(out, "               %s of an index that is being "
			"made, or was left unfinished\n", SIZE_TEXT(look.left));
	free(look.path);
}

void report_index_json(const char *trace, struct json *json)
{
	struct index_status look;

	index_status(trace, &look);
	if (look.path == NULL)
		return;
	json_object(json, "index");
	json_string(json, "path", look.path);
	json_bool(json, "good", look.found == INDEX_FOUND_GOOD);
	json_string(json, "state", index_status_text(&look));
	json_uint(json, "bytes", look.bytes);
	json_uint(json, "blocks", look.rows);
	json_uint(json, "live_blocks", look.live);
	json_uint(json, "unfinished_bytes", look.left);
	json_end_object(json);
	free(look.path);
}
