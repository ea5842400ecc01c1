/*
 * emit_capture.c: writes the threads' own capture statistics as records of
 * trace_format.h.
 *
 * A thread's state is read while the thread owns it: when its ring is
 * reclaimed, or at the end of the recording. If the thread captures at the same
 * time, the numbers are not of one moment.
 */
#include "cli/recorder/emit/emit_capture.h"

#include "cli/recorder/emit/varint.h"
#include "cli/recorder/ring_drain.h"
#include "unwind/base/assertion.h"

#define EMIT_CAPTURE_RECORD (2 + GT_CAPTURE_VALUES)	/* varints */

static uint8_t *emit_capture_put(uint8_t *to, const struct recording *r,
				 uint32_t id)
{
	const struct gl_thread *thread = recording_thread(r, id);
	struct capture_report plain = {
		.mode = GT_MODE_PLAIN,
		.why = recording_options->number[OPTION_DEPTH] ? GT_WHY_MEMORY :
							       GT_WHY_ASKED,
	};
	const struct capture_report *report =
		thread->plain ? &plain : &thread->captures;

	to = varint_put(to, id);
	to = varint_put(to, GT_CAPTURE_VALUES);
	to = varint_put(to, report->mode);
	to = varint_put(to, report->why);
	to = varint_put(to, report->path_bytes);
	to = varint_put(to, report->path_bytes_max);
	to = varint_put(to, report->path_ways);
	to = varint_put(to, report->path_ways_used);
	to = varint_put(to, capture_report_bytes(report));
	to = varint_put(to, report->barriers_placed);
	return varint_put(to, report->barriers_met);
}

void emit_capture(struct chunk_out *out, const struct recording *r, uint32_t id)
{
	chunk_write(out, GT_CAPTURE,
		    emit_capture_put(chunk_payload(out), r, id),
		    NULL);
}

void emit_capture_all(struct chunk_out *out, const struct recording *r)
{
	uint32_t count = r->ring_count, id;
	uint8_t *start = chunk_payload(out), *to = start;
	const uint8_t *last = start + out->room -
			      EMIT_CAPTURE_RECORD * VARINT_MAX;

	for (id = 0; id < count; id++) {
		if (!drain_active(&r->rings[id]) ||
		    recording_is_nested(r, id))
			continue;
		if (to > last) {
			chunk_write(out, GT_CAPTURE, to, NULL);
			to = start;
		}
		DEBUG_ASSERT(to <= last);
		to = emit_capture_put(to, r, id);
	}
	if (to > start)
		chunk_write(out, GT_CAPTURE, to, NULL);
}
