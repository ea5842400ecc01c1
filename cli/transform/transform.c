/*
 * transform.c: see the header. The trace is read once, chunk by chunk, so it
 * may be larger than memory, or a pipe. Called by the main thread.
 */
#include "cli/transform/transform.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cli/base/terminal/log.h"
#include "cli/base/text/quantity.h"

#define LEVEL_DEFAULT 9
#define LEVEL_MAX 19		/* higher levels need far more memory */

enum { OUTPUT = TRANSFORM_ID_FIRST, FORCE, LEVEL, TRANSFORM_END };

static const struct command_option options[] = {
	{ OUTPUT, "output", 'o', "FILE", NULL, "write the result to FILE" },
	{ FORCE, "force", 'f', NULL, NULL, "replace FILE if it exists" },
	{ LEVEL, "level", 'l', "N", "9",
	  "compression level: 1 (fast) to 19 (small)" },
};

const struct command_group transform_options = {
	"result", options, sizeof(options) / sizeof(options[0])
};

void transform_init(struct transform *transform)
{
	memset(transform, 0, sizeof(*transform));
	transform->level = LEVEL_DEFAULT;
}

bool transform_has(int id)
{
	return id >= TRANSFORM_ID_FIRST && id < TRANSFORM_END;
}

int transform_take(struct transform *transform, int id, const char *value)
{
	int error;

	switch (id) {
	case OUTPUT:
		transform->output = value;
		return value[0] == 0 ? -EINVAL : 0;
	case FORCE:
		transform->force = true;
		return 0;
	case LEVEL:
		error = quantity_parse_count(value, &transform->level);
		if (error == 0 && (transform->level < 1 ||
				   transform->level > LEVEL_MAX))
			error = -ERANGE;
		return error;
	default:
		return -EINVAL;
	}
}

bool transform_is_complete(const struct transform *transform)
{
	if (transform->output == NULL)
		log_error("no name for the result: give it with -o FILE");
	else if (strcmp(transform->output, "-") == 0)
		log_error("-o -: a trace is not written to standard output: "
			  "name a file, or ./- for a file of that name");
	else
		return true;
	return false;
}

/* ---- copying chunks ---- */

struct way {
	struct transform *transform;
	struct rewrite out;
	struct repack repack;
	bool (*before_end)(void *owner, struct repack *repack);
	void *owner;
	bool begun;		/* the header was written */
	bool closing;		/* the remaining chunks close the trace */
	bool failed;		/* before_end failed */
};

static void begin_closing(struct way *way)
{
	if (way->closing)
		return;
	way->closing = true;
	repack_flush(&way->repack);
	if (way->before_end != NULL)
		way->failed = !way->before_end(way->owner, &way->repack);
}

static void begin(struct way *way)
{
	const struct repack_change *change = way->repack.change;
	uint64_t id = way->transform->report.trace_id;

	rewrite_header(&way->out, change->trace_id == NULL ? id :
		       change->trace_id(change->owner, id));
	way->begun = true;
}

static enum reader_chunk take_chunk(void *owner, const struct chunk *chunk)
{
	struct way *way = owner;
	bool good;

	if (!way->begun)
		begin(way);
	if (chunk->type == GT_COUNTERS || chunk->type == GT_END)
		begin_closing(way);
	good = repack_chunk(&way->repack, chunk);
	if (chunk->type == GT_END)	/* the reader's exit status depends on
					 * it */
		return READER_DECODE;
	return good ? READER_TAKEN : READER_MALFORMED;
}

static void ignore_line(void *owner, unsigned type, const char *key,
			const char *value)
{
	(void)owner, (void)type, (void)key, (void)value;
}

/* A trace that is still being recorded gets an END where the copy ends. */
static void put_end(struct way *way)
{
	LOCAL_BUFFER payload = { 0 };

	compose_line(&payload, "reason", "stopped");
	rewrite_chunk(&way->out, &(struct chunk){ .type = GT_END }, &payload,
		      false);
}

static int finish(struct way *way, const char *trace, int status)
{
	const struct reader_report *report = &way->transform->report;

	if (status == EXIT_NOTHING)
		return status;
	if (!way->begun) {
		log_error("%s: no chunk of it can be read",
			  trace);
		return EXIT_NOTHING;
	}
	begin_closing(way);
	if (way->failed)
		return EXIT_NOTHING;
	if (report->being_written && !way->repack.ended)
		put_end(way);
	if (way->repack.lost_bytes > 0) {
		log_error("%s: %" PRIu64 " bytes of events are missing "
			  "between chunks", trace, way->repack.lost_bytes);
		status = EXIT_PARTIAL;
	}
	if (way->repack.lost_bytes == 0 && report->damage_count == 0 &&
	    way->repack.said_events > way->repack.events_in) {
		log_error("%s: the recorder counted %" PRIu64 " events, and "
			  "%" PRIu64 " were found: the result lacks the rest",
			  trace, way->repack.said_events,
			  way->repack.events_in);
		status = EXIT_PARTIAL;
	}
	if (!rewrite_commit(&way->out))
		return EXIT_NOTHING;
	way->transform->bytes_out = way->out.written;
	return status;
}

int transform_run(struct transform *transform, const char *trace,
		  const struct repack_change *change,
		  bool (*before_end)(void *owner, struct repack *repack),
		  void *owner)
{
	static struct way way;
	const struct reader_sink sink = {
		.owner = &way, .chunk = take_chunk, .line = ignore_line,
	};
	int status = EXIT_NOTHING;

	memset(&way, 0, sizeof(way));
	way.transform = transform;
	way.before_end = before_end;
	way.owner = owner;
	if (!rewrite_open(&way.out, trace, transform->output,
			  transform->force, (int)transform->level, log_notes()))
		return EXIT_NOTHING;
	repack_open(&way.repack, &way.out, change);
	status = reader_run(trace, &sink, &transform->report,
			    log_notes());
	status = finish(&way, trace, status);
	repack_close(&way.repack);
	rewrite_close(&way.out);
	return status;
}

void transform_report(const struct transform *transform, const char *trace)
{
	uint64_t before = transform->report.file_bytes;

	log_note("%s: %s became %s in %s (%s)", trace, SIZE_TEXT(before),
		 SIZE_TEXT(transform->bytes_out), transform->output,
		 PERCENT_TEXT(transform->bytes_out, before));
}
