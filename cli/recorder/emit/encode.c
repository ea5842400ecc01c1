/*
 * encode.c: the writer's inner loop. Budget: 8 ns an event without
 * compression (make bench).
 *
 * Records are the target's to write at any time: each word is read once, and a
 * record that cannot be one, or ends beyond what is there, makes the batch bad.
 *
 * A ring's stamps do not go back, but for what the counters of two cores
 * differ by when a thread moves; such a step is written as 0.
 */
#include "cli/recorder/emit/encode.h"

#include <errno.h>
#include <stdatomic.h>

#include "cli/recorder/emit/varint.h"
#include "cli/recorder/zeroed.h"
#include "cli/trace/ring_record.h"
#include "unwind/claim.h"

#define ENCODE_FREES (1u << GT_FREE | 1u << GT_REALLOC_BEGIN)

static const uint32_t encode_room[ENCODE_COLUMNS] = {
	ENCODE_EVENTS * ENCODE_KIND_MAX, ENCODE_EVENTS * ENCODE_ADDRESS_MAX,
	ENCODE_EVENTS * ENCODE_CONTEXT_MAX, ENCODE_EVENTS * ENCODE_SIZE_MAX,
	ENCODE_EVENTS * ENCODE_LAYOUT_MAX, ENCODE_EXTRAS * ENCODE_EXTRA_MAX,
	ENCODE_EVENTS * ENCODE_RUN_MAX, ENCODE_EVENTS * ENCODE_TICKS_MAX,
	ENCODE_EVENTS * ENCODE_CONTEXT_MAX
};

#define ENCODE_INLINE static inline __attribute__((always_inline))

/* A word of a record in a ring, which may change the next moment. */
ENCODE_INLINE uint64_t encode_word(const uint64_t *word, unsigned i)
{
	return __atomic_load_n(&word[i], __ATOMIC_RELAXED);
}

int encode_init(struct encode *encode, struct emit_node *nodes,
		unsigned tick_shift, bool stacks)
{
	unsigned i;

	encode->nodes = nodes;
	encode->tick_shift = tick_shift;
	encode->stacks = stacks;
	encode->recent = zeroed_alloc(sizeof(*encode->recent));
	if (!encode->recent)
		return -ENOMEM;
	for (i = 0; i < ENCODE_COLUMNS; i++) {
		if (i == ENCODE_FREED_BY && !stacks)
			continue;
		encode->column[i] =
			zeroed_alloc(encode_room[i] + VARINT_MAX);
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

uint64_t encode_unfinished(const struct encode_span *span)
{
	uint64_t unfinished = 0, at;

	if (!span->nested)
		return 0;
	for (at = span->from; at < span->to; at += GL_RECORD_MAX)
		unfinished += !encode_word((const uint64_t *)(span->data +
						(at & span->mask)), 0);
	return unfinished;
}

/* A run of blocks with the same layout. */
struct encode_run {
	uint32_t layout;
	uint32_t length;
};

/*
 * Where the columns are written, and what they hold differences to. A local
 * of encode_events whose address goes only to what is inlined there: all of
 * it stays in registers, as what is written might be anything in memory, for
 * all the compiler knows.
 */
struct encode_at {
	uint8_t *kind, *address, *context, *size, *layout, *run, *ticks;
	struct recent_place recent;
	uint64_t last_tick;
	uint32_t last_context;
	uint32_t same_tick;	/* events with that stamp */
	struct encode_run layouts;
	uint64_t blocks;
};

ENCODE_INLINE void encode_stamp(struct encode_at *at, uint64_t tick)
{
	if (tick > at->last_tick) {
		at->run = varint_put_byte(at->run, at->same_tick);
		at->ticks = varint_put_spread(at->ticks, tick - at->last_tick);
		at->last_tick = tick;
		at->same_tick = 0;
	}
	at->same_tick++;
}

/* The kind, and the address: how long ago it was told, or in full. */
ENCODE_INLINE void encode_head(struct recent_finder *recent,
			       struct encode_at *at, unsigned kind,
			       uint64_t address)
{
	bool begins = recent_begins(kind);
	uint64_t before = begins ? at->recent.begun : at->recent.other;
	uint32_t age = recent_age(recent, &at->recent, begins, address);
	uint64_t step;

	CLAIM_FULL(age <= GT_RECENT && kind <= GT_KIND_MASK);
	at->kind = varint_put_byte(at->kind, age << GT_KIND_SHIFT | kind);
	if (age)
		return;
	step = varint_zigzag((address >> 4) - (before >> 4));
	at->address = varint_put_spread(at->address,
					step << 1 | ((address & 15) != 0));
	if (unlikely(address & 15))
		*at->address++ = address & 15;
}

ENCODE_INLINE uint8_t *encode_context(struct encode *encode, uint8_t *to,
				      uint32_t context, uint32_t *previous)
{
	if (context != *previous)
		context = emit_node_refer(encode->nodes, context);
	to = varint_put_byte(to, varint_zigzag((int64_t)context - *previous));
	*previous = context;
	return to;
}

static uint8_t *encode_run_end(uint8_t *to, const struct encode_run *run)
{
	if (!run->length)
		return to;
	to = varint_put(to, run->layout);
	return varint_put(to, run->length);
}

ENCODE_INLINE void encode_layout(struct encode_at *at, uint64_t word1,
				 uint64_t size)
{
	unsigned layout = gl_layout(word1 >> GL_HEADER_SHIFT, size);

	if (unlikely(layout != at->layouts.layout)) {
		struct encode_run run = at->layouts;

		at->layout = encode_run_end(at->layout, &run);
		at->layouts.layout = layout;
		at->layouts.length = 0;
	}
	at->layouts.length++;
}

/* What a block that begins has more than an address. Returns the length of
 * its record. */
ENCODE_INLINE uint64_t encode_block(struct encode *encode,
				    struct encode_at *at,
				    const uint64_t *word, uint64_t word1)
{
	uint64_t word2 = encode_word(word, 2);
	uint64_t bytes = word2 >> 32, length = 24;

	at->context = encode_context(encode, at->context, (uint32_t)word2,
				     &at->last_context);
	if (unlikely(bytes == GL_SIZE_BIG)) {
		bytes = encode_word(word, 3);
		length = 32;
	}
	at->size = varint_put_byte(at->size, bytes);
	encode_layout(at, word1, bytes);
	at->blocks++;
	return length;
}

static BASE_SLOW void encode_extra_put(struct encode *encode,
				       const uint64_t *word, uint8_t **context,
				       uint8_t **size, uint32_t *last)
{
	uint8_t *to = encode->end[ENCODE_EXTRA];
	uint64_t word2 = encode_word(word, 2);
	uint32_t what = word2 >> 32;
	unsigned i;

	if (unlikely(!what || what >= GT_EXTRA_COUNT)) {
		encode->bad = true;
		return;	/* the column has room for what there is */
	}
	*context = encode_context(encode, *context, (uint32_t)word2, last);
	*size = varint_put_byte(*size, encode_word(word, 3));
	to = varint_put(to, what);
	for (i = 0; i < GT_EXTRA_ARGS; i++) {
		uint64_t arg = encode_word(word, 4 + i);

		/* a context, too */
		if (i == 1 && what == GT_EXTRA_DAMAGE)
			arg = emit_node_refer(encode->nodes, (uint32_t)arg);
		to = varint_put(to, arg);
	}
	encode->end[ENCODE_EXTRA] = to;
	encode->extras++;
}

/* What a GT_EXTRA has more than an address. */
ENCODE_INLINE void encode_extra(struct encode *encode, struct encode_at *at,
				const uint64_t *word)
{
	/* copies: the rest lives in registers */
	uint8_t *context = at->context, *size = at->size;
	uint32_t last = at->last_context;

	encode_extra_put(encode, word, &context, &size, &last);
	at->context = context;
	at->size = size;
	at->last_context = last;
}

/* Who frees, if the record says it. Returns the record's length. */
static uint64_t encode_freed_by(struct encode *encode, const uint64_t *word,
				bool stacked)
{

	encode->end[ENCODE_FREED_BY] =
		encode_context(encode, encode->end[ENCODE_FREED_BY],
			       stacked ? (uint32_t)encode_word(word, 2) : 0,
			       &encode->freed_by);
	encode->stacked += stacked;
	return stacked ? 24 : 16;
}

static void encode_begin(struct encode *encode, struct encode_at *at)
{
	encode->base = 0;
	encode->extras = encode->stacked = 0;
	encode->bad = false;
	encode->freed_by = 0;
	encode->end[ENCODE_EXTRA] = encode->column[ENCODE_EXTRA];
	encode->end[ENCODE_FREED_BY] = encode->column[ENCODE_FREED_BY];
	*at = (struct encode_at){
		.recent = recent_begin(encode->recent),
		.kind = encode->column[ENCODE_KIND],
		.address = encode->column[ENCODE_ADDRESS],
		.context = encode->column[ENCODE_CONTEXT],
		.size = encode->column[ENCODE_SIZE],
		.layout = encode->column[ENCODE_LAYOUT],
		.run = encode->column[ENCODE_RUN],
		.ticks = encode->column[ENCODE_TICKS],
	};
}

#ifdef GNOMON_CLAIMS
bool encode_is_valid(const struct encode *encode)
{
	unsigned i;

	for (i = 0; i < ENCODE_COLUMNS; i++)
		if (encode->end[i] < encode->column[i] ||
		    (encode->column[i] &&
		     encode->end[i] > encode->column[i] + encode_room[i] +
					      VARINT_MAX))
			return false;
	if (encode->bad)
		return true;	/* any bytes, and not written */
	return encode->events <= ENCODE_EVENTS &&
	       encode->blocks + encode->extras + encode->stacked <=
		       encode->events &&
	       encode->extras <= ENCODE_EXTRAS;
}
#endif

static void encode_end(struct encode *encode, const struct encode_at *at,
		       uint64_t events)
{
	recent_end(encode->recent, &at->recent);
	encode->end[ENCODE_KIND] = at->kind;
	encode->end[ENCODE_ADDRESS] = at->address;
	encode->end[ENCODE_CONTEXT] = at->context;
	encode->end[ENCODE_SIZE] = at->size;
	encode->end[ENCODE_LAYOUT] = encode_run_end(at->layout, &at->layouts);
	encode->end[ENCODE_RUN] = at->run;
	encode->end[ENCODE_TICKS] = at->ticks;
	encode->events = events;
	encode->blocks = at->blocks;
	encode->last = at->last_tick;
	CLAIM_FULL(encode_is_valid(encode));
}

uint64_t encode_events(struct encode *encode, const struct encode_span *span,
		       uint64_t *unfinished)
{
	const unsigned shift = encode->tick_shift + GL_KIND_BITS;
	const uint8_t *const data = span->data;
	const uint64_t mask = span->mask, to = span->to;
	const bool nested = span->nested;
	/* kinds that have more than an address, but for blocks; or are none */
	const unsigned more = ~0u << GT_EXTRA |
			      (encode->stacks ? ENCODE_FREES : 0);
	uint64_t position = span->from, events = 0;
	struct encode_at at;

	CLAIM_FULL(span->from <= span->to);
	encode_begin(encode, &at);
	while (position < to && events < ENCODE_EVENTS) {
		const uint64_t *word = (const uint64_t *)
			(data + (position & mask));
		const uint64_t word0 = encode_word(word, 0);
		const uint64_t word1 = encode_word(word, 1);
		const unsigned kind = gl_kind(word0);
		uint64_t length = 16;

		if (unlikely(nested) && !word0) {
			position += GL_RECORD_MAX;
			++*unfinished;
			continue;
		}
		if (unlikely(!events))
			encode->base = at.last_tick = word0 >> shift;
		encode_stamp(&at, word0 >> shift);
		encode_head(encode->recent, &at, kind, gl_block(word1));
		events++;
		if (kind == GT_ALLOC || kind == GT_REALLOC_DONE) {
			length = encode_block(encode, &at, word, word1);
		} else if (likely(!(more >> kind & 1))) {
			/* an address is all there is */
		} else if (kind < GT_EXTRA) {
			length = encode_freed_by(encode, word,
						 word0 & GL_KIND_STACK);
		} else {
			length = GL_RECORD_MAX;
			if (kind == GT_EXTRA)
				encode_extra(encode, &at, word);
			else
				encode->bad = true;
			if (encode->bad || encode->extras == ENCODE_EXTRAS) {
				position += length;
				break;
			}
		}
		position += unlikely(nested) ? GL_RECORD_MAX : length;
	}
	CLAIM_FULL(events <= ENCODE_EVENTS);
	encode->bad |= position > to;
	encode_end(encode, &at, events);
	return position;
}

uint8_t *encode_payload(struct encode *encode, uint8_t *to,
			struct compress *compress)
{
	unsigned i;

	CLAIM_FULL(!encode->bad && encode->events > 0);
	to = varint_put(to, encode->base);
	to = varint_put(to, encode->events);
	for (i = 0; i < ENCODE_COLUMNS; i++) {
		if (i == ENCODE_FREED_BY && !encode->stacked)
			continue;
		to = compress_column(compress, &encode->past[i], to,
				     encode->column[i],
				     encode->end[i] - encode->column[i]);
	}
	return to;
}
