/* faults.c: see the header. Called by the reader's thread. */
#include "cli/trace/decode/faults.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/trace/decode/scan.h"
#include "unwind/claim.h"

#define PLACE_ROOM 80

void faults_at(struct faults *faults, unsigned type, uint64_t offset)
{
	faults->type = type;
	faults->offset = offset;
}

void faults_note(struct faults *faults, enum fault_kind kind, uint64_t count)
{
	struct fault *fault = &faults->kind[kind];

	CLAIM_FULL(kind < FAULT_KINDS);
	if (count > 0 && fault->count == 0) {
		fault->type = faults->type;
		fault->offset = faults->offset;
	}
	fault->count += count;
}

uint64_t faults_total(const struct faults *faults)
{
	uint64_t total = 0;

	for (unsigned i = 0; i < FAULT_KINDS; i++)
		total += faults->kind[i].count;
	return total;
}

static void tell_one(const struct fault *fault, const char *path,
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

void faults_tell(const struct faults *faults, const char *path,
		 struct notes *notes)
{
	static const struct { const char *what, *done; } texts[] = {
		[FAULT_MALFORMED] = { "malformed content",
			"only what precedes it was used" },
		[FAULT_NODE_AGAIN] = { "a context that is defined twice, "
			"differently", "the first definition counts" },
		[FAULT_NODE_PARENT] = { "a context whose parent is not "
			"defined", "its stacks end there" },
		[FAULT_NODE_ID] = { "a context with an invalid number",
			"it was ignored" },
		[FAULT_CONTEXT] = { "an event with a context that is not "
			"defined", "it has no stack" },
		[FAULT_IMAGE_AGAIN] = { "two modules under one number",
			"the first one counts" },
		[FAULT_IMAGE_GONE] = { "a module unloaded before it was loaded",
			"names of its functions may be wrong" },
		[FAULT_IMAGES_MANY] = { "more modules than a recorder can have",
			"the last ones were ignored" },
		[FAULT_EVENTS_FEW] = { "an event count larger than the "
			"trace's events", "the results are too low" },
	};

	for (unsigned i = 0; i < FAULT_KINDS; i++)
		if (faults->kind[i].count > 0)
			tell_one(&faults->kind[i], path, texts[i].what,
				 texts[i].done, notes);
}
