/*
 * store_pack.c: see store_pack.h. Frames of reference with exceptions are those
 * of Zukowski, Héman, Nes, Boncz: "Super-scalar RAM-CPU cache compression"
 * (2006), but that exceptions lie apart, so that unpacking needs no list of
 * them.
 *
 * What each encoding would take is told by every SAMPLE_STEPth block; the one
 * that takes least is made. There is no encoding of runs: a
 * column that rarely changes takes one or two bits a row by a dictionary, and
 * one that is nearly always the same none, as exceptions.
 */
#include "cli/store/store_pack.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/hash.h"
#include "cli/base/sort.h"
#include "cli/store/store_bits.h"
#include "unwind/claim.h"

#define SLOTS (STORE_DICTIONARY_MAX * 4)
#define COLUMN_WORDS (STORE_COLUMN_MAX / sizeof(uint64_t))
#define SAMPLE_STEP 8u
#define DESCRIPTOR_WORDS (STORE_DESCRIPTOR / sizeof(uint64_t))

_Static_assert(STORE_BLOCK == STORE_BITS, "a descriptor each");

struct slot {
	uint64_t number;
	uint32_t code;		/* in `distinct`; UINT32_MAX: free */
};

struct store_packer {
	uint64_t *words;		/* COLUMN_WORDS */
	uint64_t *codes;		/* STORE_CHUNK_ROWS */
	uint64_t *distinct;		/* STORE_DICTIONARY_MAX */
	struct slot *slots;		/* SLOTS */
};

struct store_packer *store_packer_new(void)
{
	struct store_packer *packer = grow_alloc(sizeof(*packer));

	*packer = (struct store_packer){
		.words = grow_alloc(STORE_COLUMN_MAX),
		.codes = grow_alloc(STORE_CHUNK_ROWS * sizeof(uint64_t)),
		.distinct = grow_alloc(STORE_DICTIONARY_MAX *
				       sizeof(uint64_t)),
		.slots = grow_alloc(SLOTS * sizeof(struct slot)),
	};
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

/* How a block is packed. */
struct frame {
	uint64_t base;
	unsigned shift, width;
	unsigned exceptions, exception_size;	/* 1 << that bytes each */
};

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

/* By how many of the numbers need so many bits. */
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

static struct frame choose_frame(const uint64_t *numbers, size_t count)
{
	struct frame frame = { .base = numbers[0] };
	unsigned counts[65] = { 0 };
	uint64_t bits = 0;

	/* Differences are signed: what is least is so as a signed number. Of
	 * plain ones it does not matter, as long as few are above 2^63. */
	for (size_t i = 1; i < count; i++)
		if ((int64_t)numbers[i] < (int64_t)frame.base)
			frame.base = numbers[i];
	for (size_t i = 0; i < count; i++)
		bits |= numbers[i] - frame.base;
	frame.shift = bits == 0 ? 0 : (unsigned)__builtin_ctzll(bits);
	for (size_t i = 0; i < count; i++)
		counts[store_bits_width((numbers[i] - frame.base) >>
					frame.shift)]++;
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
		if (frame->width == 64 || packed[i] >> frame->width == 0)
			continue;
		put_list(places, n, 1, i);
		put_list(values, n++, frame->exception_size, packed[i]);
	}
	CLAIM(n == frame->exceptions);
	store_bits_pack(packed, frame->width, words);
	return all;
}

/* ---- sequences ---- */

static size_t block_count(size_t count)
{
	return (count + STORE_BLOCK - 1) / STORE_BLOCK;
}

/* The numbers of a block, or, in `room`, what each is above the one before. */
static const uint64_t *block_of(const uint64_t *numbers, size_t block,
				size_t count, bool delta,
				uint64_t room[STORE_BLOCK])
{
	size_t first = block * STORE_BLOCK;

	if (!delta)
		return numbers + first;
	room[0] = numbers[first] - (first > 0 ? numbers[first - 1] : 0);
	for (size_t i = 1; i < count; i++)
		room[i] = numbers[first + i] - numbers[first + i - 1];
	return room;
}

static size_t block_size(size_t block, size_t count)
{
	size_t left = count - block * STORE_BLOCK;

	return left < STORE_BLOCK ? left : STORE_BLOCK;
}

/* About how many words put_sequence would make. */
static size_t sequence_words(const uint64_t *numbers, size_t count, bool delta)
{
	size_t blocks = block_count(count), words = 0, seen = 0;
	uint64_t room[STORE_BLOCK];

	for (size_t b = 0; b < blocks; b += SAMPLE_STEP, seen++) {
		size_t n = block_size(b, count);
		struct frame frame = choose_frame(
			block_of(numbers, b, n, delta, room), n);

		words += frame_words(&frame) + DESCRIPTOR_WORDS;
	}
	return words * blocks / seen;
}

static size_t put_sequence(const uint64_t *numbers, size_t count, bool delta,
			   uint64_t *words)
{
	size_t blocks = block_count(count), used = blocks * DESCRIPTOR_WORDS;
	uint64_t room[STORE_BLOCK];

	for (size_t b = 0; b < blocks; b++) {
		size_t n = block_size(b, count);
		const uint64_t *block = block_of(numbers, b, n, delta, room);
		uint64_t *descriptor = words + b * DESCRIPTOR_WORDS;
		struct frame frame = choose_frame(block, n);

		descriptor[0] = frame.base;
		descriptor[1] = delta && b > 0 ?
			numbers[b * STORE_BLOCK - 1] : 0;
		descriptor[2] = (used - blocks * DESCRIPTOR_WORDS) |
			(uint64_t)frame.width << 32 |
			(uint64_t)frame.shift << 40 |
			(uint64_t)frame.exceptions << 48 |
			(uint64_t)frame.exception_size << 60;
		used += put_block(&frame, block, n, words + used);
		CLAIM(used <= COLUMN_WORDS);
	}
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

/* Which numbers there are, in blocks that are `step` apart, in the order in which
 * they come; 0: too many. */
static size_t find_distinct(struct store_packer *packer,
			    const uint64_t *numbers, size_t count, size_t step)
{
	size_t distinct = 0;

	memset(packer->slots, 0xff, SLOTS * sizeof(*packer->slots));
	for (size_t b = 0; b < block_count(count); b += step) {
		const uint64_t *block = numbers + b * STORE_BLOCK;
		size_t n = block_size(b, count);

		for (size_t i = 0; i < n; i++) {
			struct slot *slot = find_slot(packer, block[i]);

			if (slot->code != UINT32_MAX)
				continue;
			if (distinct == STORE_DICTIONARY_MAX)
				return 0;
			*slot = (struct slot){ block[i], 0 };
			packer->distinct[distinct++] = block[i];
		}
	}
	return distinct;
}

/* About how many words a dictionary would take; SIZE_MAX: that is no way. */
static size_t dictionary_words(struct store_packer *packer,
			       const uint64_t *numbers, size_t count)
{
	size_t seen = count / SAMPLE_STEP;
	size_t distinct = find_distinct(packer, numbers, count, SAMPLE_STEP);

	if (distinct == 0 || distinct > seen / 2)
		return SIZE_MAX;
	return distinct + count * store_bits_width(distinct - 1) / 64 +
	       block_count(count) * DESCRIPTOR_WORDS;
}

static void sort_distinct(struct store_packer *packer, size_t distinct)
{
	SORT(packer->distinct, distinct, by_number);
	for (size_t i = 0; i < distinct; i++)
		find_slot(packer, packer->distinct[i])->code = (uint32_t)i;
}

/* 0: that is no way. */
static size_t put_dictionary(struct store_packer *packer,
			     const uint64_t *numbers, size_t count,
			     uint64_t *words)
{
	size_t distinct = find_distinct(packer, numbers, count, 1), used;

	if (distinct == 0 || distinct > count / 2)
		return 0;
	sort_distinct(packer, distinct);
	for (size_t i = 0; i < count; i++)
		packer->codes[i] = find_slot(packer, numbers[i])->code;
	words[0] = distinct;
	used = 1 + put_sequence(packer->distinct, distinct, true, words + 1);
	return used + put_sequence(packer->codes, count, false, words + used);
}

/* ---- columns ---- */

static enum store_encoding choose(struct store_packer *packer,
				  const uint64_t *numbers, size_t count)
{
	size_t plain = sequence_words(numbers, count, false);
	size_t delta = sequence_words(numbers, count, true);
	size_t dictionary = dictionary_words(packer, numbers, count);

	if (dictionary < plain && dictionary < delta)
		return STORE_DICTIONARY;
	return delta < plain ? STORE_DELTA : STORE_PLAIN;
}

size_t store_pack(struct store_packer *packer, const uint64_t *numbers,
		  size_t count, const uint64_t **words)
{
	enum store_encoding encoding = choose(packer, numbers, count);
	size_t used = 0;

	CLAIM(count > 0 && count <= STORE_CHUNK_ROWS);
	*words = packer->words;
	if (encoding == STORE_DICTIONARY)
		used = put_dictionary(packer, numbers, count,
				      packer->words + 1);
	/* more are distinct than it seemed */
	if (encoding == STORE_DICTIONARY && used == 0)
		encoding = sequence_words(numbers, count, true) <
			sequence_words(numbers, count, false) ? STORE_DELTA :
								STORE_PLAIN;
	if (used == 0)
		used = put_sequence(numbers, count, encoding == STORE_DELTA,
				    packer->words + 1);
	packer->words[0] = encoding;
	CLAIM(used < COLUMN_WORDS);
	return 1 + used;
}
