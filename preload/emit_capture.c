/*
 * emit_capture.c: what threads' captures say of themselves, as records of
 * preload/format.h.
 *
 * A thread's state is described while the thread owns it: when its ring is
 * taken back, or at the end of the recording. The thread may be capturing
 * meanwhile; then the numbers are not of one moment.
 */
#include "preload/emit_capture.h"

#include "preload/varint.h"

#define EMIT_CAPTURE_RECORD (2 + GT_CAPTURE_VALUES)	/* varints */

void emit_capture_describe(const struct thread *thread,
			   struct capture_thread_info *info)
{
	if (thread->capture)
		capture_thread_describe(thread->capture, info);
	else
		*info = (struct capture_thread_info){
			.mode = GT_MODE_PLAIN,
			.why = recorder_options.number[OPTION_DEPTH] ?
				GT_WHY_MEMORY : GT_WHY_ASKED,
		};
}

static uint8_t *emit_capture_put(uint8_t *to, uint32_t id,
				 const struct thread *thread)
{
	struct capture_thread_info info;

	emit_capture_describe(thread, &info);
	to = varint_put(to, id);
	to = varint_put(to, GT_CAPTURE_VALUES);
	to = varint_put(to, info.mode);
	to = varint_put(to, info.why);
	to = varint_put(to, info.path_bytes);
	to = varint_put(to, info.path_bytes_max);
	to = varint_put(to, info.path_ways);
	to = varint_put(to, info.path_ways_used);
	to = varint_put(to, info.state_bytes);
	to = varint_put(to, info.barriers_placed);
	return varint_put(to, info.barriers_met);
}

void emit_capture(struct chunk_out *out, const struct recorder *r, uint32_t id)
{
	chunk_write(out, GT_CAPTURE,
		    emit_capture_put(chunk_payload(out), id, &r->threads[id]),
		    NULL);
}

void emit_capture_all(struct chunk_out *out, const struct recorder *r)
{
	uint32_t count = atomic_load_explicit(&r->live->ring_count,
					      memory_order_acquire), id;
	uint8_t *start = chunk_payload(out), *to = start;
	const uint8_t *last = start + out->room -
			      EMIT_CAPTURE_RECORD * VARINT_MAX;

	for (id = 0; id < count; id++) {
		if (!r->threads[id].own)
			continue;
		if (to > last) {
			chunk_write(out, GT_CAPTURE, to, NULL);
			to = start;
		}
		to = emit_capture_put(to, id, &r->threads[id]);
	}
	if (to > start)
		chunk_write(out, GT_CAPTURE, to, NULL);
}
