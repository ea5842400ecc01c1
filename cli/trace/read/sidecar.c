/*
 * sidecar.c: see the header. Damage in the sidecar trace is not reported here;
 * it is reported when that trace is read itself.
 *
 * Called by one thread at a time.
 */
#include "cli/trace/read/sidecar.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/text/base_name.h"
#include "cli/trace/decode/scan.h"

static void read_all(struct sidecar *sidecar, struct scan *scan)
{
	struct inflater inflater = { 0 };
	struct chunk chunk;

	sidecar->trace_id = scan->trace_id;
	while (scan_next(scan, &chunk)) {
		struct trace_file piece;
		struct cursor c;

		if (chunk.type == GT_FILE &&
		    inflater_payload(&inflater, &chunk, &c) == 0 &&
		    file_records_file(&c, &piece))
			embedded_add(&sidecar->list, &piece, chunk.offset);
	}
	inflater_free(&inflater);
}

static void look(struct sidecar *sidecar, const char *trace,
		 const char *recorded)
{
	const char *name = recorded ? base_name(recorded) : "";
	size_t folder = (size_t)(base_name(trace) - trace);
	struct scan scan;
	int fd;

	sidecar->looked = true;
	if (name[0] == 0 || strcmp(name, ".") == 0 ||
	    strcmp(name, "..") == 0 || strcmp(name, base_name(trace)) == 0)
		return;
	sidecar->trace = grow_format("%.*s%s", (int)folder, trace, name);
	fd = open(sidecar->trace, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0) {
		if (scan_open(&scan, fd) == SCAN_OPEN_OK &&
		    scan.source.regular)
			read_all(sidecar, &scan);
		scan_close(&scan);
	}
}

int sidecar_open(struct sidecar *sidecar, const char *trace,
		 const char *recorded, const uint8_t *build_id, size_t size)
{
	size_t i;

	if (!sidecar->looked)
		look(sidecar, trace, recorded);
	i = embedded_find(&sidecar->list, build_id, size, NULL);
	return i == EMBEDDED_NONE ? -ENOENT :
		embedded_open(&sidecar->list, i, sidecar->trace,
			      sidecar->trace_id);
}

void sidecar_free(struct sidecar *sidecar)
{
	embedded_free(&sidecar->list);
	free(sidecar->trace);
	sidecar->trace = NULL;
}
