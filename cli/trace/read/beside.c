/*
 * beside.c: see the header. Damage in the sidecar trace is not reported here;
 * it is reported when that trace is read itself.
 *
 * Called by one thread at a time.
 */
#include "cli/trace/read/beside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/text/last_part.h"
#include "cli/trace/decode/scan.h"

static void read_all(struct beside *beside, struct scan *scan)
{
	struct inflater inflater = { 0 };
	struct chunk chunk;

	beside->trace_id = scan->trace_id;
	while (scan_next(scan, &chunk)) {
		struct trace_file piece;
		struct cursor c;

		if (chunk.type == GT_FILE &&
		    inflater_payload(&inflater, &chunk, &c) == 0 &&
		    file_records_file(&c, &piece))
			embedded_add(&beside->list, &piece, chunk.offset);
	}
	inflater_free(&inflater);
}

static void look(struct beside *beside, const char *trace,
		 const char *recorded)
{
	const char *name = recorded ? last_part(recorded) : "";
	size_t folder = (size_t)(last_part(trace) - trace);
	struct scan scan;
	int fd;

	beside->looked = true;
	if (name[0] == 0 || strcmp(name, ".") == 0 ||
	    strcmp(name, "..") == 0 || strcmp(name, last_part(trace)) == 0)
		return;
	beside->trace = grow_format("%.*s%s", (int)folder, trace, name);
	fd = open(beside->trace, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0) {
		if (scan_open(&scan, fd) == SCAN_OPEN_OK &&
		    scan.source.regular)
			read_all(beside, &scan);
		scan_close(&scan);
	}
}

int beside_open(struct beside *beside, const char *trace,
		const char *recorded, const uint8_t *build_id, size_t size)
{
	size_t i;

	if (!beside->looked)
		look(beside, trace, recorded);
	i = embedded_find(&beside->list, build_id, size, NULL);
	return i == EMBEDDED_NONE ? -ENOENT :
		embedded_open(&beside->list, i, beside->trace,
			      beside->trace_id);
}

void beside_free(struct beside *beside)
{
	embedded_free(&beside->list);
	free(beside->trace);
	beside->trace = NULL;
}
