/*
 * store_pack.c: see store_pack.h. Uses frames of reference with exceptions as
 * in Zukowski, Héman, Nes, Boncz: "Super-scalar RAM-CPU cache compression"
 * (2006), but stores positions of exceptions separately, so that unpacking
 * needs no linked list.
 *
 * The size of each possible encoding is computed, and the smallest is used.
 * There is no run-length encoding: a column that rarely changes takes one or
 * two bits a row with a dictionary. A column that is nearly always the same
 * takes none, as the other values are exceptions.
 */
#include "cli/store/store_pack.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/hash.h"
#include "cli/base/sort.h"
#include "cli/store/store_bits.h"
#include "unwind/base/assertion.h"

#define SLOTS (STORE_DICTIONARY_MAX * 4)
#define COLUMN_WORDS (STORE_COLUMN_MAX / sizeof(uint64_t))
#define DESCRIPTOR_WORDS (STORE_DESCRIPTOR / sizeof(uint64_t))

_Static_assert(STORE_BLOCK == STORE_BITS, "a descriptor each");

struct slot {
	uint64_t number;
	uint32_t code;		/* index in `distinct`; UINT32_MAX: free */
};

/* How a block is packed. */
struct frame {
	uint64_t base;
	uint64_t before;	/* for differences: the number before the
				 * first */
	unsigned shift, width;
	unsigned exceptions, exception_size;	/* 1 << that bytes each */
};

/* How a sequence is packed. */
struct plan {
	const uint64_t *numbers;
	size_t count;
	bool delta;
	size_t words;		/* its size */
	struct frame frames[STORE_CHUNK_BLOCKS];
};

struct store_packer {
	uint64_t *words;		/* COLUMN_WORDS */
	uint64_t *codes;		/* STORE_CHUNK_ROWS */
	uint64_t *distinct;		/* STORE_DICTIONARY_MAX */
	struct slot *slots;		/* SLOTS */
	struct plan plain, delta, values, places;
};

struct store_packer *store_packer_new(void)
{
	struct store_packer *packer = grow_zeroed(1, sizeof(*packer));

	packer->words = grow_alloc(STORE_COLUMN_MAX);
	packer->codes = grow_alloc(STORE_CHUNK_ROWS * sizeof(uint64_t));
	packer->distinct = grow_alloc(STORE_DICTIONARY_MAX *
				      sizeof(uint64_t));
	packer->slots = grow_alloc(SLOTS * sizeof(struct slot));
	return packer;
}

void store_packer_free(struct store_packer *packer)
{
	if (packer == NULL)
		return;
	free(packer->words);
	free(packer->codes);
	free(packer->distinct);
	free(packer->slots);
	free(packer);
}

/* ---- one block ---- */

/* Words of `count` numbers of 1 << size bytes each. */
static size_t list_words(size_t count, unsigned size)
{
	return ((count << size) + 7) / 8;
}

static size_t frame_words(const struct frame *frame)
{
	return store_bits_words(frame->width) +
	       list_words(frame->exceptions, 1) +
	       list_words(frame->exceptions, frame->exception_size);
}

/* Chooses the width by how many numbers need how many bits. */
static void choose_width(struct frame *frame, const unsigned counts[65])
{
	struct frame tried = *frame;
	unsigned widest = 64;

	while (widest > 0 && counts[widest] == 0)
		widest--;
	tried.exception_size = widest <= 8 ? 0 : widest <= 16 ? 1 :
			       widest <= 32 ? 2 : 3;
	tried.width = widest;
	*frame = tried;
	while (tried.width > 0) {
		tried.exceptions += counts[tried.width--];
		if (frame_words(&tried) < frame_words(frame))
			*frame = tried;
	}
}

/* Neighbouring numbers are counted in different lists: so one increment need
 * not wait for the other, though widths are often the same. */
static void count_widths(const struct frame *frame, const uint64_t *numbers,
			 size_t count, unsigned counts[65])
{
	uint16_t lists[4][65] = { 0 };

	for (size_t i = 0; i < count; i++)
		lists[i % 4][store_bits_width((numbers[i] - frame->base) >>
					      frame->shift)]++;
	for (unsigned i = 0; i < 65; i++)
		counts[i] = (unsigned)lists[0][i] + lists[1][i] + lists[2][i] +
			    lists[3][i];
}

static struct frame choose_frame(const uint64_t *numbers, size_t count)
{
	struct frame frame = { .base = numbers[0] };
	unsigned counts[65];
	uint64_t bits = 0;

	/* Differences are signed, so the least is that of signed numbers. For
	 * plain numbers that does not matter, as long as few are above 2^63. */
	for (size_t i = 1; i < count; i++)
		if ((int64_t)numbers[i] < (int64_t)frame.base)
			frame.base = numbers[i];
	for (size_t i = 0; i < count; i++)
		bits |= numbers[i] - frame.base;
	if (bits == 0)
		return frame;
	frame.shift = (unsigned)__builtin_ctzll(bits);
	count_widths(&frame, numbers, count, counts);
	choose_width(&frame, counts);
	return frame;
}

static void put_list(uint64_t *words, size_t at, unsigned size,
		     uint64_t number)
{
	size_t per_word = 8u >> size;

	words[at / per_word] |= number << (at % per_word * (8u << size));
}

/* Packed numbers and exceptions; returns how many words. */
static size_t put_block(const struct frame *frame, const uint64_t *numbers,
			size_t count, uint64_t *words)
{
	uint64_t packed[STORE_BLOCK] = { 0 };
	uint64_t *places = words + store_bits_words(frame->width);
	uint64_t *values = places + list_words(frame->exceptions, 1);
	size_t all = frame_words(frame), n = 0;

	memset(places, 0, (all - store_bits_words(frame->width)) *
	       sizeof(*words));
	for (size_t i = 0; i < count; i++) {
		packed[i] = (numbers[i] - frame->base) >> frame->shift;
		if (store_bits_width(packed[i]) <= frame->width)
			continue;
		put_list(places, n, 1, i);
		put_list(values, n++, frame->exception_size, packed[i]);
	}
	ASSERT(n == frame->exceptions);
	store_bits_pack(packed, frame->width, words);
	return all;
}

/* ---- sequences ---- */

static size_t block_count(size_t count)
{
	return (count + STORE_BLOCK - 1) / STORE_BLOCK;
}

static size_t block_size(const struct plan *plan, size_t block)
{
	size_t left = plan->count - block * STORE_BLOCK;

	return left < STORE_BLOCK ? left : STORE_BLOCK;
}

/* The numbers of a block to pack: its own, or, stored in `room`, their
 * differences. */
static const uint64_t *block_numbers(const struct plan *plan, size_t block,
				     uint64_t before,
				     uint64_t room[STORE_BLOCK])
{
	const uint64_t *numbers = plan->numbers + block * STORE_BLOCK;

	if (!plan->delta)
		return numbers;
	room[0] = numbers[0] - before;
	for (size_t i = 1; i < block_size(plan, block); i++)
		room[i] = numbers[i] - numbers[i - 1];
	return room;
}

static void make_plan(struct plan *plan, const uint64_t *numbers, size_t count,
		      bool delta)
{
	size_t blocks = block_count(count);
	uint64_t room[STORE_BLOCK];

	plan->numbers = numbers;
	plan->count = count;
	plan->delta = delta;
	plan->words = blocks * DESCRIPTOR_WORDS;
	for (size_t b = 0; b < blocks; b++) {
		uint64_t before = delta && b > 0 ?
			numbers[b * STORE_BLOCK - 1] : 0;

		plan->frames[b] = choose_frame(block_numbers(plan, b, before,
							     room),
					       block_size(plan, b));
		plan->frames[b].before = before;
		plan->words += frame_words(&plan->frames[b]);
	}
}

static size_t put_sequence(const struct plan *plan, uint64_t *words)
{
	size_t blocks = block_count(plan->count);
	size_t used = blocks * DESCRIPTOR_WORDS;
	uint64_t room[STORE_BLOCK];

	for (size_t b = 0; b < blocks; b++) {
		const struct frame *frame = &plan->frames[b];
		uint64_t *descriptor = words + b * DESCRIPTOR_WORDS;

		descriptor[0] = frame->base;
		descriptor[1] = frame->before;
		descriptor[2] = (used - blocks * DESCRIPTOR_WORDS) |
			(uint64_t)frame->width << 32 |
			(uint64_t)frame->shift << 40 |
			(uint64_t)frame->exceptions << 48 |
			(uint64_t)frame->exception_size << 60;
		used += put_block(frame,
				  block_numbers(plan, b, frame->before, room),
				  block_size(plan, b), words + used);
	}
	ASSERT(used == plan->words);
	return used;
}

/* ---- dictionaries ---- */

static struct slot *find_slot(struct store_packer *packer, uint64_t number)
{
	size_t at = hash_number(number) % SLOTS;

	while (packer->slots[at].code != UINT32_MAX &&
	       packer->slots[at].number != number)
		at = (at + 1) % SLOTS;
	return &packer->slots[at];
}

static int by_number(const void *a, const void *b)
{
	return sort_up(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* Finds the distinct numbers, ascending, and the slot of each number in
 * `codes`; 0: too many. */
static size_t find_distinct(struct store_packer *packer,
			    const uint64_t *numbers, size_t count)
{
	size_t distinct = 0;

	for (size_t i = 0; i < SLOTS; i++)
		packer->slots[i].code = UINT32_MAX;
	for (size_t i = 0; i < count; i++) {
		struct slot *slot;

		if (i > 0 && numbers[i] == numbers[i - 1]) {
			packer->codes[i] = packer->codes[i - 1];
			continue;
		}
		slot = find_slot(packer, numbers[i]);
		packer->codes[i] = (uint64_t)(slot - packer->slots);
		if (slot->code != UINT32_MAX)
			continue;
		if (distinct == STORE_DICTIONARY_MAX)
			return 0;
		*slot = (struct slot){ numbers[i], 0 };
		packer->distinct[distinct++] = numbers[i];
	}
	SORT(packer->distinct, distinct, by_number);
	for (size_t i = 0; i < distinct; i++)
		find_slot(packer, packer->distinct[i])->code = (uint32_t)i;
	return distinct;
}

/* Words that a dictionary takes; SIZE_MAX: impossible. */
static size_t plan_dictionary(struct store_packer *packer,
			      const uint64_t *numbers, size_t count)
{
	size_t distinct = find_distinct(packer, numbers, count);

	if (distinct == 0 || distinct > count / 2)
		return SIZE_MAX;
	for (size_t i = 0; i < count; i++)
		packer->codes[i] = packer->slots[packer->codes[i]].code;
	make_plan(&packer->values, packer->distinct, distinct, true);
	make_plan(&packer->places, packer->codes, count, false);
	return 1 + packer->values.words + packer->places.words;
}

/* ---- columns ---- */

/* Whether most numbers ascend: otherwise differences are larger than the
 * numbers. */
static bool rises(const uint64_t *numbers, size_t count)
{
	size_t falls = 0;

	for (size_t i = 1; i < count; i++)
		falls += numbers[i] < numbers[i - 1];
	return falls < count / 8;
}

size_t store_pack(struct store_packer *packer, const uint64_t *numbers,
		  size_t count, const uint64_t **words)
{
	uint64_t *to = packer->words;
	size_t dictionary, delta = SIZE_MAX;

	ASSERT(count > 0 && count <= STORE_CHUNK_ROWS);
	make_plan(&packer->plain, numbers, count, false);
	if (rises(numbers, count)) {
		make_plan(&packer->delta, numbers, count, true);
		delta = packer->delta.words;
	}
	dictionary = plan_dictionary(packer, numbers, count);
	*words = to;
	if (packer->plain.words <= delta && packer->plain.words <= dictionary) {
		*to++ = STORE_PLAIN;
		to += put_sequence(&packer->plain, to);
	} else if (delta <= dictionary) {
		*to++ = STORE_DELTA;
		to += put_sequence(&packer->delta, to);
	} else {
		*to++ = STORE_DICTIONARY;
		*to++ = packer->values.count;
		to += put_sequence(&packer->values, to);
		to += put_sequence(&packer->places, to);
	}
	ASSERT((size_t)(to - packer->words) <= COLUMN_WORDS);
	return (size_t)(to - packer->words);
}
