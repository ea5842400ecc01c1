/*
 * encode.c: the writer's inner loop. Budget: 8 ns an event without
 * compression (make bench).
 *
 * A ring's stamps do not go back, but for what the counters of two cores
 * differ by when a thread moves; such a step is written as 0.
 */
#include "preload/encode.h"

#include <errno.h>
#include <stdatomic.h>

#include "preload/area.h"
#include "preload/varint.h"

#define ENCODE_KIND_MASK ((1u << GL_KIND_BITS) - 1)
#define ENCODE_EVENT_BITS 3	/* of the kind, in the step column */

static const uint32_t encode_room[ENCODE_COLUMNS] = {
	ENCODE_EVENTS * ENCODE_STEP_MAX, ENCODE_EVENTS * ENCODE_ADDRESS_MAX,
	ENCODE_EVENTS * ENCODE_CONTEXT_MAX, ENCODE_EVENTS * ENCODE_SIZE_MAX,
	ENCODE_EVENTS * ENCODE_LAYOUT_MAX, ENCODE_EXTRAS * ENCODE_EXTRA_MAX
};

int encode_init(struct encode *encode, struct emit_node *nodes,
		unsigned tick_shift)
{
	unsigned i;

	encode->nodes = nodes;
	encode->tick_shift = tick_shift;
	for (i = 0; i < ENCODE_COLUMNS; i++) {
		encode->column[i] =
			area_alloc(encode_room[i] + VARINT_MAX);
		if (!encode->column[i])
			return -ENOMEM;
	}
	return 0;
}

uint64_t encode_nested_end(const struct encode_span *span)
{
	uint64_t at;

	for (at = span->from; at < span->to; at += GL_RECORD_MAX) {
		const _Atomic uint64_t *word = (const _Atomic uint64_t *)
			(span->data + (at & span->mask));

		/* pairs with the last store of ring_nested_push */
		if (!atomic_load_explicit(&word[0], memory_order_acquire))
			break;
	}
	return at;
}

/* What the columns hold differences to. */
struct encode_previous {
	uint64_t tick, address;
	uint32_t context;
};

static inline uint8_t *encode_address(uint8_t *to, uint64_t address,
				      uint64_t *previous)
{
	uint64_t step = varint_zigzag((address >> 4) - *previous);

	*previous = address >> 4;
	to = varint_put_spread(to, step << 1 | ((address & 15) != 0));
	if (unlikely(address & 15))
		*to++ = address & 15;
	return to;
}

static inline uint8_t *encode_context(struct encode *encode, uint8_t *to,
				      uint32_t context, uint32_t *previous)
{
	if (context != *previous)
		context = emit_node_refer(encode->nodes, context);
	to = varint_put_byte(to, varint_zigzag((int64_t)context - *previous));
	*previous = context;
	return to;
}

/* A run of blocks with the same layout. */
struct encode_run {
	uint32_t layout;
	uint32_t length;
};

static uint8_t *encode_run_end(uint8_t *to, const struct encode_run *run)
{
	if (!run->length)
		return to;
	to = varint_put(to, run->layout);
	return varint_put(to, run->length);
}

static inline uint8_t *encode_layout(uint8_t *to, uint64_t word1,
				     uint64_t size, struct encode_run *run)
{
	unsigned layout = gl_layout(word1 >> GL_HEADER_SHIFT, size);

	if (unlikely(layout != run->layout)) {
		to = encode_run_end(to, run);
		run->layout = layout;
		run->length = 0;
	}
	run->length++;
	return to;
}

/* What a GT_EXTRA has more than an address. */
static BASE_SLOW void encode_extra(struct encode *encode, const uint64_t *word,
				   uint8_t **context, uint8_t **size,
				   uint32_t *last)
{
	uint8_t *to = encode->end[ENCODE_EXTRA];
	unsigned i;

	*context = encode_context(encode, *context, (uint32_t)word[2], last);
	*size = varint_put_byte(*size, word[3]);
	to = varint_put(to, word[2] >> 32);
	for (i = 0; i < GT_EXTRA_ARGS; i++)
		to = varint_put(to, word[4 + i]);
	encode->end[ENCODE_EXTRA] = to;
	encode->extras++;
}

uint64_t encode_events(struct encode *encode, const struct encode_span *span,
		       uint64_t *unfinished)
{
	uint8_t *step = encode->column[ENCODE_STEP];
	uint8_t *address = encode->column[ENCODE_ADDRESS];
	uint8_t *context = encode->column[ENCODE_CONTEXT];
	uint8_t *size = encode->column[ENCODE_SIZE];
	uint8_t *layout = encode->column[ENCODE_LAYOUT];
	unsigned shift = encode->tick_shift + GL_KIND_BITS;
	struct encode_previous last = { 0, 0, 0 };
	struct encode_run run = { 0, 0 };
	/* what is written might be the span, for all the compiler knows */
	const uint8_t *const data = span->data;
	const uint64_t mask = span->mask, to = span->to;
	const bool nested = span->nested;
	uint64_t at = span->from, events = 0, blocks = 0;

	encode->base = 0;
	encode->extras = 0;
	encode->end[ENCODE_EXTRA] = encode->column[ENCODE_EXTRA];
	while (at < to && events < ENCODE_EVENTS) {
		const uint64_t *word = (const uint64_t *)
			(data + (at & mask));
		unsigned kind = word[0] & ENCODE_KIND_MASK;
		uint64_t tick = word[0] >> shift;
		uint64_t length = 16;

		if (unlikely(nested) && !word[0]) {
			at += GL_RECORD_MAX;
			++*unfinished;
			continue;
		}
		if (unlikely(!events))
			encode->base = last.tick = tick;
		if (unlikely(tick < last.tick))
			tick = last.tick;
		step = varint_put_byte(step, (tick - last.tick)
						<< ENCODE_EVENT_BITS | kind);
		last.tick = tick;
		address = encode_address(address, word[1] & GL_ADDRESS_MASK,
					 &last.address);
		events++;
		if (kind == GT_ALLOC || kind == GT_REALLOC_DONE) {
			uint64_t bytes = word[2] >> 32;

			context = encode_context(encode, context,
						 (uint32_t)word[2],
						 &last.context);
			length = 24;
			if (unlikely(bytes == GL_SIZE_BIG)) {
				bytes = word[3];
				length = 32;
			}
			size = varint_put_byte(size, bytes);
			layout = encode_layout(layout, word[1], bytes, &run);
			blocks++;
		} else if (unlikely(kind == GT_EXTRA)) {
			/* copies: the rest lives in registers */
			uint8_t *to_context = context, *to_size = size;
			uint32_t previous = last.context;

			encode_extra(encode, word, &to_context, &to_size,
				     &previous);
			context = to_context;
			size = to_size;
			last.context = previous;
			length = GL_RECORD_MAX;
		}
		at += unlikely(nested) ? GL_RECORD_MAX : length;
		if (unlikely(encode->extras == ENCODE_EXTRAS))
			break;
	}
	encode->end[ENCODE_STEP] = step;
	encode->end[ENCODE_ADDRESS] = address;
	encode->end[ENCODE_CONTEXT] = context;
	encode->end[ENCODE_SIZE] = size;
	encode->end[ENCODE_LAYOUT] = encode_run_end(layout, &run);
	encode->events = events;
	encode->blocks = blocks;
	encode->last = last.tick;
	return at;
}

uint8_t *encode_payload(struct encode *encode, uint8_t *to,
			struct compress *compress)
{
	unsigned i;

	to = varint_put(to, encode->base);
	to = varint_put(to, encode->events);
	for (i = 0; i < ENCODE_COLUMNS; i++)
		to = compress_column(compress, &encode->past[i], to,
				     encode->column[i],
				     encode->end[i] - encode->column[i]);
	return to;
}
