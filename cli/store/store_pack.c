/*
 * store_pack.c: see store_pack.h. Frames of reference with exceptions are those
 * of Zukowski, Héman, Nes, Boncz: "Super-scalar RAM-CPU cache compression"
 * (2006), but that exceptions lie apart, so that unpacking needs no list of
 * them.
 *
 * Each encoding is tried, and the smallest is kept. There is none of runs: a
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
#define DESCRIPTOR_WORDS (STORE_DESCRIPTOR / sizeof(uint64_t))

_Static_assert(STORE_BLOCK == STORE_BITS, "a descriptor each");

struct slot {
	uint64_t number;
	uint32_t code;		/* in `distinct`; UINT32_MAX: free */
};

struct store_packer {
	uint64_t *best, *tried;		/* COLUMN_WORDS each */
	uint64_t *codes;		/* STORE_CHUNK_ROWS */
	uint64_t *distinct;		/* STORE_DICTIONARY_MAX */
	struct slot *slots;		/* SLOTS */
};

struct store_packer *store_packer_new(void)
{
	struct store_packer *packer = grow_alloc(sizeof(*packer));

	*packer = (struct store_packer){
		.best = grow_alloc(STORE_COLUMN_MAX),
		.tried = grow_alloc(STORE_COLUMN_MAX),
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
	free(packer->best);
	free(packer->tried);
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
		if (store_bits_width(packed[i]) <= frame->width)
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

static size_t put_sequence(const uint64_t *numbers, size_t count, bool delta,
			   uint64_t *words)
{
	size_t blocks = block_count(count), used = blocks * DESCRIPTOR_WORDS;
	uint64_t differences[STORE_BLOCK], before = 0;

	for (size_t b = 0; b < blocks; b++) {
		const uint64_t *block = numbers + b * STORE_BLOCK;
		size_t n = b + 1 < blocks ? STORE_BLOCK :
					    count - b * STORE_BLOCK;
		uint64_t *descriptor = words + b * DESCRIPTOR_WORDS;
		struct frame frame;

		descriptor[1] = delta ? before : 0;
		for (size_t i = 0; i < n && delta; i++) {
			differences[i] = block[i] - before;
			before = block[i];
		}
		if (delta)
			block = differences;
		frame = choose_frame(block, n);
		descriptor[0] = frame.base;
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

/* Which numbers there are, rising; 0: too many. */
static size_t find_distinct(struct store_packer *packer,
			    const uint64_t *numbers, size_t count)
{
	size_t distinct = 0;

	for (size_t i = 0; i < SLOTS; i++)
		packer->slots[i].code = UINT32_MAX;
	for (size_t i = 0; i < count; i++) {
		struct slot *slot = find_slot(packer, numbers[i]);

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

/* 0: that is no way. */
static size_t put_dictionary(struct store_packer *packer,
			     const uint64_t *numbers, size_t count,
			     uint64_t *words)
{
	size_t distinct = find_distinct(packer, numbers, count), used;

	if (distinct == 0 || distinct > count / 2)
		return 0;
	for (size_t i = 0; i < count; i++)
		packer->codes[i] = find_slot(packer, numbers[i])->code;
	words[0] = distinct;
	used = 1 + put_sequence(packer->distinct, distinct, true, words + 1);
	return used + put_sequence(packer->codes, count, false, words + used);
}

/* ---- columns ---- */

static size_t put_column(struct store_packer *packer,
			 enum store_encoding encoding,
			 const uint64_t *numbers, size_t count,
			 uint64_t *words)
{
	size_t used;

	words[0] = encoding;
	if (encoding != STORE_DICTIONARY)
		return 1 + put_sequence(numbers, count,
					encoding == STORE_DELTA, words + 1);
	used = put_dictionary(packer, numbers, count, words + 1);
	return used == 0 ? SIZE_MAX : 1 + used;
}

size_t store_pack(struct store_packer *packer, const uint64_t *numbers,
		  size_t count, const uint64_t **words)
{
	size_t best = SIZE_MAX;

	CLAIM(count > 0 && count <= STORE_CHUNK_ROWS);
	for (unsigned i = 0; i < STORE_ENCODINGS; i++) {
		size_t size = put_column(packer, i, numbers, count,
					 packer->tried);

		if (size >= best)
			continue;
		best = size;
		*words = packer->tried;
		packer->tried = packer->best;
		packer->best = (uint64_t *)*words;
	}
	CLAIM(best <= COLUMN_WORDS);
	return best;
}
