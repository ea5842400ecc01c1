/*
 * emit_skipped.c: see emit_skipped.h. Writes the increase since the last time.
 * A sum read while threads count may include a block without its bytes: these
 * follow the next time.
 */
#include "cli/recorder/emit/emit_skipped.h"

#include <string.h>

#include "cli/recorder/emit/varint.h"

static bool emit_skipped_moved(const struct emit_skipped *skipped,
			       unsigned class)
{
	unsigned k;

	for (k = 0; k < GT_REST_VALUES; k++)
		if (skipped->now[class][k] != skipped->reported[class][k])
			return true;
	return false;
}

/* Adds the counts of one thread. */
static void emit_skipped_add(const struct gl_thread *thread,
			     uint64_t sums[GT_CLASSES][GT_REST_VALUES])
{
	unsigned i, k;

	if (!atomic_load_explicit(&thread->rests, memory_order_relaxed))
		return;
	for (i = 0; i < GT_CLASSES; i++)
		for (k = 0; k < GT_REST_VALUES; k++)
			sums[i][k] += order_read(thread, rest[i][k]);
}

void emit_skipped_sum(const struct recording *r,
		      uint64_t sums[GT_CLASSES][GT_REST_VALUES])
{
	uint32_t id;

	memset(sums, 0, GT_CLASSES * sizeof(*sums));
	for (id = 0; id < r->ring_count; id++)
		emit_skipped_add(recording_thread(r, id), sums);
}

static unsigned emit_skipped_poll(struct emit_skipped *skipped,
				  const struct recording *r)
{
	unsigned class, count = 0;

	emit_skipped_sum(r, skipped->now);
	for (class = 0; class < GT_CLASSES; class++)
		count += emit_skipped_moved(skipped, class);
	return count;
}

bool emit_skipped_due(struct emit_skipped *skipped, const struct recording *r)
{
	return emit_skipped_poll(skipped, r) > 0;
}

void emit_skipped(struct emit_skipped *skipped, const struct recording *r,
		  struct chunk_out *out)
{
	unsigned count = emit_skipped_poll(skipped, r), class, k;
	uint8_t *to;

	if (!count)
		return;
	to = varint_put(chunk_payload(out), GT_TOTALS_REST);
	to = varint_put(to, GT_REST_VALUES);
	to = varint_put(to, count);
	for (class = 0; class < GT_CLASSES; class++) {
		if (!emit_skipped_moved(skipped, class))
			continue;
		to = varint_put(to, class);
		for (k = 0; k < GT_REST_VALUES; k++) {
			to = varint_put(to, skipped->now[class][k] -
					    skipped->reported[class][k]);
			skipped->reported[class][k] = skipped->now[class][k];
		}
	}
	chunk_write(out, GT_TOTALS, to, NULL);
}
