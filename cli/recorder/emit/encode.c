/*
 * encode.c: the recorder's inner loop. Budget: 8 ns per event without
 * compression (make bench).
 *
 * Records are encoded in batches. A first loop writes kinds and ages, and
 * stores the input of the other loops: addresses to write in full, contexts,
 * sizes and layouts. So each loop has few enough values for registers. EXTRAs,
 * sizes with a word of their own, records of nested rings and the last records
 * before the end are encoded one by one.
 *
 * The target may overwrite records at any time: each word is read once, and an
 * invalid record, or one that ends beyond the data, makes the batch bad.
 *
 * A ring's stamps do not decrease, except by the difference of two cores'
 * counters when a thread migrates; such a step is written as 0.
 */
#include "cli/recorder/emit/encode.h"

#include <errno.h>
#include <stddef.h>

#include "cli/recorder/base/zeroed.h"
#include "cli/recorder/emit/varint.h"
#include "cli/trace/format/ring_record.h"
#include "unwind/base/assertion.h"

#define ENCODE_BATCH 128	/* records, fits the first-level cache */
#define ENCODE_FREES (1u << GT_FREE | 1u << GT_REALLOC_BEGIN)

static const uint32_t encode_room[ENCODE_COLUMNS] = {
	ENCODE_EVENTS * ENCODE_KIND_MAX, ENCODE_EVENTS * ENCODE_ADDRESS_MAX,
	ENCODE_EVENTS * ENCODE_CONTEXT_MAX, ENCODE_EVENTS * ENCODE_SIZE_MAX,
	ENCODE_EVENTS * ENCODE_LAYOUT_MAX, ENCODE_EXTRAS * ENCODE_EXTRA_MAX,
	ENCODE_EVENTS * ENCODE_RUN_MAX, ENCODE_EVENTS * ENCODE_TICKS_MAX,
	ENCODE_EVENTS * ENCODE_CONTEXT_MAX
};

#define ENCODE_INLINE static inline __attribute__((always_inline))

/* Reads a word of a record in a ring, which may change at any time. */
ENCODE_INLINE uint64_t encode_word(const order_word *word, unsigned i)
{
	return order_word_get(&word[i]);
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

static const order_word *encode_place(const struct encode_span *span,
				      uint64_t position)
{
	return (const order_word *)(span->data + (position & span->mask));
}

uint64_t encode_nested_end(const struct encode_span *span)
{
	uint64_t at;

	for (at = span->from; at < span->to; at += GL_RECORD_MAX) {
		const order_word *word = encode_place(span, at);

		/* pairs with the last store of ring_nested_push */
		if (!order_word_get_acquire(word))
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
		unfinished += !encode_word(encode_place(span, at), 0);
	return unfinished;
}

/* A run of blocks with the same layout. */
struct encode_run {
	uint32_t layout;
	uint32_t length;
};

/* Output positions of the columns, and the values that deltas are relative
 * to. */
struct encode_at {
	uint8_t *kind, *address, *context, *size, *layout, *run, *ticks;
	struct recent_place recent;
	uint64_t last_tick;
	uint64_t same_tick;	/* the first event with that stamp */
	uint32_t last_context;
	struct encode_run layouts;
	uint64_t events, blocks;
};

/*
 * Output of the first loop for the other loops. The arrays of word 1, one per
 * list (recent.h), begin with the last word 1 of the previous batch.
 */
struct encode_batch {
	uint32_t count, blocks, full;
	uint64_t word1[RECENT_LISTS][1 + ENCODE_BATCH];
	uint64_t word2[1 + ENCODE_BATCH];	/* of allocations */
	/* word 1 of each address to write in full */
	const uint64_t *reported[1 + ENCODE_BATCH];
};

/* Distance from a word 1 in the list of allocations to its word 2. */
#define ENCODE_WORD2 (1 + ENCODE_BATCH)
_Static_assert(offsetof(struct encode_batch, word2) -
	       offsetof(struct encode_batch, word1[1]) ==
	       ENCODE_WORD2 * sizeof(uint64_t), "word2 lies behind");

/* The smallest word 0 of a record whose stamp is above the last one. */
ENCODE_INLINE uint64_t encode_later(const struct encode *encode,
				    const struct encode_at *at)
{
	return (at->last_tick + 1) << (encode->tick_shift + GL_KIND_BITS);
}

/* Handles such a record, after `behind` events of the batch. Returns
 * encode_later. */
static BASE_SLOW uint64_t encode_stamp(struct encode *encode,
				       struct encode_at *at, uint64_t word0,
				       uint64_t behind)
{
	uint64_t tick = word0 >> (encode->tick_shift + GL_KIND_BITS);
	uint64_t event = at->events + behind;

	/* there is no stamp above the largest one */
	if (unlikely(tick <= at->last_tick))
		return 0;
	DEBUG_ASSERT(!event || event > at->same_tick);
	if (event) {
		at->run = varint_put_byte(at->run, event - at->same_tick);
		at->ticks = varint_put_spread(at->ticks, tick - at->last_tick);
	} else {
		encode->base = tick;
	}
	at->last_tick = tick;
	at->same_tick = event;
	return encode_later(encode, at);
}

ENCODE_INLINE uint32_t encode_count(const struct encode_batch *batch,
				    const uint64_t *begun,
				    const uint64_t *other)
{
	return (begun - batch->word1[1] - 1) + (other - batch->word1[0] - 1);
}

/* Writes an address as a delta to the previous one of its list. */
static void encode_full(struct encode_at *at, const uint64_t *word1)
{
	uint64_t address = gl_block(word1[0]), before = gl_block(word1[-1]);
	uint64_t step = varint_zigzag((address >> 4) - (before >> 4));

	at->address = varint_put_spread(at->address,
					step << 1 | ((address & 15) != 0));
	if (unlikely(address & 15))
		*at->address++ = address & 15;
}

ENCODE_INLINE uint8_t *encode_context(struct encode *encode, uint8_t *to,
				      uint32_t context, uint32_t *previous)
{
	context = emit_node_refer(encode->nodes, context);
	to = varint_put_byte(to, varint_zigzag((int64_t)context - *previous));
	*previous = context;
	return to;
}

static void encode_contexts(struct encode *encode, struct encode_at *at,
			    const struct encode_batch *batch)
{
	uint32_t last = at->last_context, i;
	uint8_t *to = at->context;

	for (i = 0; i < batch->blocks; i++)
		to = encode_context(encode, to, (uint32_t)batch->word2[1 + i],
				    &last);
	at->context = to;
	at->last_context = last;
}

static uint8_t *encode_run_end(uint8_t *to, const struct encode_run *run)
{
	if (!run->length)
		return to;
	to = varint_put(to, run->layout);
	return varint_put(to, run->length);
}

static BASE_SLOW void encode_layout(struct encode_at *at, unsigned layout,
				    uint32_t blocks)
{
	at->layouts.length += blocks;
	at->layout = encode_run_end(at->layout, &at->layouts);
	at->layouts.layout = layout;
	at->layouts.length = 0;
}

static void encode_sizes(struct encode_at *at,
			 const struct encode_batch *batch)
{
	const uint64_t *begun = batch->word1[1] + 1;
	uint32_t layout = at->layouts.layout, from = 0, i;
	uint8_t *to = at->size;

	for (i = 0; i < batch->blocks; i++) {
		uint64_t size = batch->word2[1 + i] >> 32;
		uint32_t its = gl_layout(begun[i] >> GL_HEADER_SHIFT, size);

		to = varint_put_two(to, size);
		if (unlikely(its != layout)) {
			encode_layout(at, its, i - from);
			layout = its;
			from = i;
		}
	}
	at->layouts.length += batch->blocks - from;
	at->size = to;
	at->blocks += batch->blocks;
}

static void encode_rest(struct encode *encode, struct encode_at *at,
			struct encode_batch *batch)
{
	uint64_t *others = batch->word1[0], *begun = batch->word1[1];
	uint32_t i;

	DEBUG_ASSERT(batch->blocks <= batch->count && batch->full <=
		     batch->count && batch->count <= ENCODE_BATCH);
	for (i = 0; i < batch->full; i++)
		encode_full(at, batch->reported[i]);
	encode_contexts(encode, at, batch);
	encode_sizes(at, batch);
	begun[0] = begun[batch->blocks];
	others[0] = others[batch->count - batch->blocks];
	at->events += batch->count;
}

/* Encodes the data of a GT_EXTRA, except its address. */
static void encode_extra(struct encode *encode, struct encode_at *at,
			 const order_word *word)
{
	uint8_t *to = encode->end[ENCODE_EXTRA];
	uint64_t word2 = encode_word(word, 2);
	uint32_t what = word2 >> 32;
	unsigned i;

	if (unlikely(!what || what >= GT_EXTRA_COUNT)) {
		encode->bad = true;
		return;	/* the column has room for the data so far */
	}
	at->context = encode_context(encode, at->context, (uint32_t)word2,
				     &at->last_context);
	at->size = varint_put_byte(at->size, encode_word(word, 3));
	to = varint_put(to, what);
	for (i = 0; i < GT_EXTRA_ARGS; i++) {
		uint64_t arg = encode_word(word, 4 + i);

		/* this argument is a context */
		if (i == 1 && what == GT_EXTRA_DAMAGE)
			arg = emit_node_refer(encode->nodes, (uint32_t)arg);
		to = varint_put(to, arg);
	}
	encode->end[ENCODE_EXTRA] = to;
	encode->extras++;
}

/* Encodes the freeing context, if the record has it. Returns the record's
 * length. */
static uint64_t encode_freed_by(struct encode *encode, const order_word *word,
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

#ifdef GNOMON_DEBUG_ASSERTS
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
		return true;	/* its contents do not matter, as it is not
				 * written */
	return encode->events <= ENCODE_EVENTS &&
	       encode->blocks + encode->extras + encode->stacked <=
		       encode->events &&
	       encode->extras <= ENCODE_EXTRAS;
}
#endif

static void encode_end(struct encode *encode, const struct encode_at *at)
{
	DEBUG_ASSERT(at->events <= ENCODE_EVENTS);
	recent_end(encode->recent, &at->recent);
	encode->end[ENCODE_KIND] = at->kind;
	encode->end[ENCODE_ADDRESS] = at->address;
	encode->end[ENCODE_CONTEXT] = at->context;
	encode->end[ENCODE_SIZE] = at->size;
	encode->end[ENCODE_LAYOUT] = encode_run_end(at->layout, &at->layouts);
	encode->end[ENCODE_RUN] = at->run;
	encode->end[ENCODE_TICKS] = at->ticks;
	encode->events = at->events;
	encode->blocks = at->blocks;
	encode->last = at->last_tick;
	DEBUG_ASSERT(encode_is_valid(encode));
}

/* Encodes the data of an allocation, except its address. Returns the length of
 * its record. */
static uint64_t encode_block(struct encode *encode, struct encode_at *at,
			     const order_word *word, uint64_t word1)
{
	uint64_t word2 = encode_word(word, 2);
	bool big = word2 >> 32 == GL_SIZE_BIG;
	uint64_t size = big ? encode_word(word, 3) : word2 >> 32;
	unsigned layout = gl_layout(word1 >> GL_HEADER_SHIFT, size);

	at->context = encode_context(encode, at->context, (uint32_t)word2,
				     &at->last_context);
	at->size = varint_put_byte(at->size, size);
	if (layout != at->layouts.layout)
		encode_layout(at, layout, 0);
	at->layouts.length++;
	at->blocks++;
	return big ? 32 : 24;
}

/* Encodes the kind, and how long ago the address occurred. Returns whether it
 * did. */
ENCODE_INLINE bool encode_head(struct recent_finder *recent,
			       struct recent_place *place, uint8_t **to,
			       unsigned kind, bool begins, uint64_t word1)
{
	uint32_t age = recent_age(recent, place, begins, gl_block(word1));

	DEBUG_ASSERT(age <= GT_RECENT && kind <= GT_KIND_MASK);
	*to = varint_put_byte(*to, age << GT_KIND_SHIFT | kind);
	return age;
}

/* One record of any kind. Returns its length. */
static BASE_SLOW uint64_t encode_one(struct encode *encode,
				     struct encode_at *at,
				     struct encode_batch *batch,
				     const order_word *word)
{
	uint64_t word0 = encode_word(word, 0), word1 = encode_word(word, 1);
	unsigned kind = gl_kind(word0);
	bool begins = recent_begins(kind);
	uint64_t *last = batch->word1[begins];

	if (word0 >= encode_later(encode, at))
		encode_stamp(encode, at, word0, 0);
	last[1] = word1;
	if (!encode_head(encode->recent, &at->recent, &at->kind, kind, begins,
			 word1))
		encode_full(at, &last[1]);
	last[0] = word1;
	at->events++;
	if (begins)
		return encode_block(encode, at, word, word1);
	if (kind == GT_EXTRA)
		encode_extra(encode, at, word);
	else if (kind > GT_EXTRA)
		encode->bad = true;
	else if (encode->stacks && ENCODE_FREES >> kind & 1)
		return encode_freed_by(encode, word, word0 & GL_KIND_STACK);
	return kind < GT_EXTRA ? 16 : GL_RECORD_MAX;
}

/* Bytes of the next batch that can be read without checking for the end of the
 * ring or a full chunk: no record is shorter than 16 bytes, and a record that
 * crosses the end of the ring continues in its slack. */
static uint64_t encode_reach(const struct encode_at *at,
			     const struct encode_span *span, uint64_t position)
{
	uint64_t room = base_min(ENCODE_BATCH, ENCODE_EVENTS - at->events);
	uint64_t left = span->to - position;

	if (left <= GL_RECORD_MAX)
		return 0;
	return base_min(base_min(left - GL_RECORD_MAX, 16 * room),
			span->mask - (position & span->mask));
}

/*
 * Fills a batch from `position` on, and returns the position reached. It stops
 * at an EXTRA, at an allocation whose size has its own word, at an invalid
 * record, or so near the end that a record might be incomplete.
 */
static uint64_t encode_read(struct encode *encode, struct encode_at *at,
			    struct encode_batch *batch,
			    const struct encode_span *span, uint64_t position)
{
	/* kinds with more data than an address, except allocations; or invalid
	 * kinds */
	const unsigned more = ~0u << GT_EXTRA |
			      (encode->stacks ? ENCODE_FREES : 0);
	const order_word *const first = encode_place(span, position);
	const uint8_t *const last = (const uint8_t *)first +
				    encode_reach(at, span, position);
	struct recent_finder *const recent = encode->recent;
	struct recent_place place = at->recent;
	uint64_t *begun = batch->word1[1] + 1, *other = batch->word1[0] + 1;
	const uint64_t **reported = batch->reported;
	const order_word *word;
	uint64_t later = encode_later(encode, at);
	uint8_t *to = at->kind;

	for (word = first; (const uint8_t *)word < last;) {
		const uint64_t word0 = encode_word(word, 0);
		const uint64_t word1 = encode_word(word, 1);
		const unsigned kind = gl_kind(word0);

		if (recent_begins(kind)) {
			uint64_t word2 = encode_word(word, 2);

			if (unlikely(word2 >> 32 == GL_SIZE_BIG))
				break;
			if (unlikely(word0 >= later))
				later = encode_stamp(encode, at, word0,
						     encode_count(batch, begun,
								  other));
			*begun = word1;
			begun[ENCODE_WORD2] = word2;
			*reported = begun++;
			reported += !encode_head(recent, &place, &to, kind,
						 true, word1);
			word += 3;
			continue;
		}
		if (unlikely(more >> kind & 1)) {
			if (kind >= GT_EXTRA)
				break;
			word += encode_freed_by(encode, word, word0 &
						GL_KIND_STACK) / 8 - 2;
		}
		if (unlikely(word0 >= later))
			later = encode_stamp(encode, at, word0,
					     encode_count(batch, begun, other));
		*other = word1;
		*reported = other++;
		reported +=
			!encode_head(recent, &place, &to, kind, false, word1);
		word += 2;
	}
	at->kind = to;
	at->recent = place;
	batch->blocks = begun - batch->word1[1] - 1;
	batch->count = encode_count(batch, begun, other);
	batch->full = reported - batch->reported;
	return position + (word - first) * sizeof(*word);
}

uint64_t encode_events(struct encode *encode, const struct encode_span *span,
		       uint64_t *unfinished)
{
	uint64_t position = span->from;
	struct encode_batch batch;
	struct encode_at at;

	DEBUG_ASSERT(span->from <= span->to);
	encode_begin(encode, &at);
	batch.word1[0][0] = batch.word1[1][0] = 0;
	while (position < span->to && at.events < ENCODE_EVENTS) {
		const order_word *word = encode_place(span, position);

		if (unlikely(span->nested)) {
			position += GL_RECORD_MAX;
			if (encode_word(word, 0))
				encode_one(encode, &at, &batch, word);
			else
				++*unfinished;
		} else {
			uint64_t from = position;

			position = encode_read(encode, &at, &batch, span,
					       position);
			if (position != from)
				encode_rest(encode, &at, &batch);
			else
				position += encode_one(encode, &at, &batch,
						       word);
		}
		if (encode->bad || encode->extras == ENCODE_EXTRAS)
			break;
	}
	encode->bad |= position > span->to;
	encode_end(encode, &at);
	return position;
}

uint8_t *encode_payload(struct encode *encode, uint8_t *to,
			struct compress *compress)
{
	unsigned i;

	DEBUG_ASSERT(!encode->bad && encode->events > 0);
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
