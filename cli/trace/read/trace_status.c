/*
 * trace_status.c: see trace_status.h. No state.
 */
#include "cli/trace/read/trace_status.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cli/trace/format/trace_format.h"
#include "unwind/base/assertion.h"

void trace_status_cannot_open(const char *path, int error, struct notes *notes)
{
	if (error == -EISDIR)
		notes_error(notes, "%s: is a directory: name one trace in it",
			      path);
	else
		notes_error(notes, "%s: cannot be opened: %s: check its name "
			   "and who may read it", path,
			      strerror(-error));
}

void trace_status_refuse(const char *path, const struct trace_facts *facts,
			 struct notes *notes)
{
	switch (facts->result) {
	case SCAN_OPEN_EMPTY:
		notes_error(notes, "%s: the file is empty: the recording wrote "
			      "nothing; was the disk full?", path);
		break;
	case SCAN_OPEN_FOREIGN:
		notes_error(notes, "%s: not a gnomon trace (no magic at offset "
			    "0): name a file that `gnomon run` wrote", path);
		break;
	case SCAN_OPEN_TOO_NEW:
		notes_error(notes, "%s: format version %u at offset 8 is newer "
			      "than this gnomon reads (%u): use a newer gnomon",
			      path, facts->major, GT_MAJOR);
		break;
	case SCAN_OPEN_DAMAGED:
		notes_error(notes, "%s: the header at offset 0 is cut short or "
			      "damaged: copy the file again, or record again",
			      path);
		break;
	case SCAN_OPEN_ERROR:
		notes_error(notes, "%s: cannot be read: %s", path,
			      strerror(facts->error));
		break;
	case SCAN_OPEN_OK:
		break;
	}
}

static void report_damage(const char *path, const struct scan_damage *damage,
			  struct notes *notes)
{
	switch (damage->kind) {
	case SCAN_TORN:
		notes_error(notes, "%s: cut short inside the chunk at offset "
			      "%" PRIu64 " (%" PRIu64 " bytes of it are "
			      "there): what comes before it was read", path,
			      damage->offset, damage->size);
		break;
	case SCAN_CORRUPT:
		notes_error(notes, "%s: %" PRIu64 " bytes at offset %" PRIu64
			      " are damaged: they were skipped", path,
			      damage->size, damage->offset);
		break;
	case SCAN_MISSING:
		notes_error(notes, "%s: %" PRIu64 " chunks are missing before "
			      "offset %" PRIu64 ": the results lack what was "
			      "in them", path, damage->size, damage->offset);
		break;
	case SCAN_UNREADABLE:
		notes_error(notes, "%s: reading failed at offset %" PRIu64 ": "
			    "what comes before it was read", path,
			    damage->offset);
		break;
	}
}

/* A torn chunk that the recorder is about to finish is no damage. */
static bool is_harmless(const struct reader_report *report,
			const struct scan_damage *damage)
{
	return damage->kind == SCAN_TORN && report->being_written;
}

static void report_damages(const char *path, struct reader_report *report,
			   struct notes *notes)
{
	uint64_t shown = report->damage_count, harmless = 0;

	if (shown > SCAN_DAMAGE_SHOWN)
		shown = SCAN_DAMAGE_SHOWN;
	for (uint64_t i = 0; i < shown; i++)
		if (is_harmless(report, &report->damage[i]))
			harmless++;
		else
			report_damage(path, &report->damage[i], notes);
	DEBUG_ASSERT(harmless <= report->damage_count);
	report->damage_count -= harmless;
	if (report->damage_count > SCAN_DAMAGE_SHOWN)
		notes_error(notes, "%s: damaged in %" PRIu64 " more places",
			    path, report->damage_count - SCAN_DAMAGE_SHOWN);
}

/* A recording that stopped before its program ended. */
static void report_stopped(const char *path, const struct reader_report *report,
			   uint64_t good_end, struct notes *notes)
{
	if (!report->ended && !report->being_written)
		notes_error(notes, "%s: the recording has no end at offset %"
			    PRIu64 " (the recorder was killed, or the file "
			    "was cut): the results end at its last event",
			    path, good_end);
	if (report->failed)
		notes_error(notes, "%s: the recording failed (%s): the results "
			    "end at that moment", path, report->why[0]
			    ? report->why : "no reason given");
}

enum exit_status trace_status_report(const char *path,
				     struct reader_report *report,
				     const struct trace_status_where *where,
				     struct notes *notes)
{
	uint64_t faulty = format_errors_total(&report->errors);

	assert(report->malformed >= faulty);
	report_damages(path, report, notes);
	format_errors_report(&report->errors, path, notes);
	if (report->malformed > faulty)
		notes_error(notes, "%s: %" PRIu64 " rings of the live file are "
			    "damaged: their last events are missing", path,
			    report->malformed - faulty);
	if (report->lost_bytes > 0)
		notes_error(notes, "%s: %" PRIu64 " bytes of events are "
			    "missing, the first before the chunk at offset %"
			    PRIu64 ": the results lack them", path,
			    report->lost_bytes, where->lost_offset);
	report_stopped(path, report, where->good_end, notes);
	if (report->damage_count == 0 && report->malformed == 0 &&
	    report->lost_bytes == 0 && !report->failed &&
	    (report->ended || report->being_written))
		return EXIT_COMPLETE;
	return EXIT_PARTIAL;
}
