/* format_errors.c: see the header. Called by the reader's thread. */
#include "cli/trace/decode/format_errors.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/trace/decode/scan.h"
#include "unwind/base/assertion.h"

#define PLACE_ROOM 80

void format_errors_at(struct format_errors *errors, unsigned type,
		      uint64_t offset)
{
	errors->type = type;
	errors->offset = offset;
}

void format_errors_note(struct format_errors *errors, enum format_error kind,
			uint64_t count)
{
	struct fault *fault = &errors->kind[kind];

	DEBUG_ASSERT(kind < FORMAT_ERROR_KINDS);
	if (count > 0 && fault->count == 0) {
		fault->type = errors->type;
		fault->offset = errors->offset;
	}
	fault->count += count;
}

uint64_t format_errors_total(const struct format_errors *errors)
{
	uint64_t total = 0;

	for (unsigned i = 0; i < FORMAT_ERROR_KINDS; i++)
		total += errors->kind[i].count;
	return total;
}

static void report_one(const struct fault *fault, const char *path,
		       const char *what, const char *done, struct notes *notes)
{
	char place[PLACE_ROOM], more[PLACE_ROOM] = "";

	if (fault->offset == 0)
		snprintf(place, sizeof(place), "in the live file");
	else
		snprintf(place, sizeof(place), "in the %s chunk at offset %"
			 PRIu64, scan_type_name(fault->type), fault->offset);
	if (fault->count > 1)
		snprintf(more, sizeof(more), " (and %" PRIu64 " more)",
			 fault->count - 1);
	notes_error(notes, "%s: %s %s%s: %s", path, what, place, more, done);
}

void format_errors_report(const struct format_errors *errors, const char *path,
			  struct notes *notes)
{
	static const struct { const char *what, *done;
	} texts[] = {
		[FORMAT_ERROR_MALFORMED] = { "malformed content",
					     "only what precedes it was used" },
		[FORMAT_ERROR_NODE_AGAIN] = { "a context that is defined "
					      "twice, "
					      "differently",
					      "the first definition counts" },
		[FORMAT_ERROR_NODE_PARENT] = { "a context whose parent is not "
					       "defined",
					       "its stacks end there" },
		[FORMAT_ERROR_NODE_ID] = { "a context with an invalid number",
					   "it was ignored" },
		[FORMAT_ERROR_CONTEXT] = { "an event with a context that is "
					   "not "
					   "defined",
					   "it has no stack" },
		[FORMAT_ERROR_IMAGE_AGAIN] = { "two modules under one number",
					       "the first one counts" },
		[FORMAT_ERROR_IMAGE_GONE] = { "a module unloaded before it was "
					      "loaded",
					      "names of its functions may be "
					      "wrong" },
		[FORMAT_ERROR_IMAGES_MANY] = { "more modules than a recorder "
					       "can have",
					       "the last ones were ignored" },
		[FORMAT_ERROR_EVENTS_FEW] = { "an event count larger than the "
					      "trace's events",
					      "the results are too low" },
	};

	for (unsigned i = 0; i < FORMAT_ERROR_KINDS; i++)
		if (errors->kind[i].count > 0)
			report_one(&errors->kind[i], path, texts[i].what,
				   texts[i].done, notes);
}
