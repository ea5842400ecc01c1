/*
 * store_column.c: see store_column.h.
 *
 *  I1  No word outside of the sequence is read, whatever its descriptors say.
 *  I2  Codes may be any numbers: they are looked up modulo the capacity of the
 *      dictionary, without a branch.
 */
#include "cli/store/store_column.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/store/store_bits.h"
#include "unwind/base/assertion.h"

#define DESCRIPTOR_WORDS (STORE_DESCRIPTOR / sizeof(uint64_t))

/* A block's descriptor, decoded. */
struct described {
	uint64_t base, before;
	const uint64_t *packed, *places, *values;
	unsigned width, shift, exceptions, exception_size;
};

static size_t list_words(size_t count, unsigned size)
{
	return ((count << size) + 7) / 8;
}

/* Without divisions: exceptions may be frequent. */
static inline __attribute__((always_inline)) uint64_t
list_number(const uint64_t *words, size_t at, unsigned size)
{
	unsigned per_word = 3 - size;	/* 1 << that many */
	uint64_t word = words[at >> per_word] >>
			((at & ((1u << per_word) - 1)) << (3 + size));

	return word & (UINT64_MAX >> (64 - (8u << size)));
}

/* Checks I1. */
static bool describe(const struct store_sequence *sequence, size_t block,
		     struct described *d)
{
	const uint64_t *descriptor = sequence->words +
				     block * DESCRIPTOR_WORDS;
	size_t place = sequence->blocks * DESCRIPTOR_WORDS +
		       (uint32_t)descriptor[2];
	size_t needed;

	*d = (struct described){
		.base = descriptor[0],
		.before = descriptor[1],
		.width = descriptor[2] >> 32 & 0xff,
		.shift = descriptor[2] >> 40 & 0xff,
		.exceptions = descriptor[2] >> 48 & 0xfff,
		.exception_size = descriptor[2] >> 60 & 3,
	};
	if (d->width > 64 || d->shift > 63 ||
	    d->exceptions > STORE_EXCEPTIONS_MAX)
		return false;
	needed = store_bits_words(d->width) + list_words(d->exceptions, 1) +
		 list_words(d->exceptions, d->exception_size);
	if (place > sequence->size || needed > sequence->size - place)
		return false;
	d->packed = sequence->words + place;
	d->places = d->packed + store_bits_words(d->width);
	d->values = d->places + list_words(d->exceptions, 1);
	return true;
}

/* For one size: inlined for each. */
static inline __attribute__((always_inline)) void
put_sized(const struct described *d, unsigned size, uint64_t *numbers)
{
	for (unsigned i = 0; i < d->exceptions; i++)
		numbers[list_number(d->places, i, 1) % STORE_BLOCK] = d->base +
			(list_number(d->values, i, size) << d->shift);
}

static void put_exceptions(const struct described *d, uint64_t *numbers)
{
	switch (d->exception_size) {
	case 0:
		put_sized(d, 0, numbers);
		break;
	case 1:
		put_sized(d, 1, numbers);
		break;
	case 2:
		put_sized(d, 2, numbers);
		break;
	default:
		put_sized(d, 3, numbers);
		break;
	}
}

static bool read_block(const struct store_sequence *sequence, size_t block,
		       uint64_t *numbers)
{
	struct described d;
	uint64_t sum;

	ASSERT(block < sequence->blocks);
	if (!describe(sequence, block, &d))
		return false;
	store_bits_unpack(d.packed, d.width, d.shift, d.base, numbers);
	put_exceptions(&d, numbers);
	sum = d.before;
	for (size_t i = 0; sequence->delta && i < STORE_BLOCK; i++)
		numbers[i] = sum += numbers[i];
	return true;
}

/* ---- columns ---- */

static bool begin_sequence(struct store_sequence *sequence,
			   const uint64_t *words, size_t size, size_t count,
			   bool delta)
{
	*sequence = (struct store_sequence){
		.words = words, .size = size, .delta = delta,
		.blocks = (count + STORE_BLOCK - 1) / STORE_BLOCK,
	};
	return sequence->blocks * DESCRIPTOR_WORDS <= size;
}

/* Reads the dictionary. *used: where its words end, which is where those of its
 * last block end. */
static bool read_dictionary(struct store_column_view *view,
			    const uint64_t *words, size_t size, size_t *used)
{
	struct store_sequence sequence;
	struct described last;

	if (size == 0 || words[0] == 0 || words[0] > STORE_DICTIONARY_MAX)
		return false;
	view->distinct = words[0];
	if (!begin_sequence(&sequence, words + 1, size - 1, view->distinct,
			    true) ||
	    !describe(&sequence, sequence.blocks - 1, &last))
		return false;
	if (view->dictionary == NULL)
		view->dictionary = grow_zeroed(STORE_DICTIONARY_MAX,
					       sizeof(uint64_t));
	for (size_t i = 0; i < sequence.blocks; i++)
		if (!read_block(&sequence, i,
				view->dictionary + i * STORE_BLOCK))
			return false;
	*used = (size_t)(last.values - words) +
		list_words(last.exceptions, last.exception_size);
	return true;
}

bool store_column_begin(struct store_column_view *view, const uint64_t *words,
			size_t size, uint64_t value, size_t rows)
{
	size_t used = 0;

	ASSERT(rows > 0 && rows <= STORE_CHUNK_ROWS);
	view->constant = size == 0;
	view->value = value;
	view->distinct = 0;
	if (size == 0)
		return true;
	if (words[0] >= STORE_ENCODINGS)
		return false;
	view->encoding = (enum store_encoding)words[0];
	words++, size--;
	if (view->encoding == STORE_DICTIONARY &&
	    !read_dictionary(view, words, size, &used))
		return false;
	return begin_sequence(&view->sequence, words + used, size - used, rows,
			      view->encoding == STORE_DELTA);
}

void store_column_free(struct store_column_view *view)
{
	free(view->dictionary);
	*view = (struct store_column_view){ 0 };
}

bool store_column_codes(const struct store_column_view *view, size_t block,
			uint64_t *numbers)
{
	DEBUG_ASSERT(block < STORE_CHUNK_BLOCKS);
	if (view->constant) {
		store_bits_unpack(NULL, 0, 0, view->value, numbers);
		return true;
	}
	return read_block(&view->sequence, block, numbers);
}

void store_column_decode(const struct store_column_view *view,
			 const uint64_t *codes, uint64_t *numbers,
			 size_t count)
{
	DEBUG_ASSERT(view->distinct > 0);
	for (size_t i = 0; i < count; i++)	/* I2 */
		numbers[i] = view->dictionary[codes[i] % STORE_DICTIONARY_MAX];
}

void store_column_pick(const struct store_column_view *view,
		       const uint64_t *codes, const uint16_t *rows,
		       size_t count, uint64_t *numbers)
{
	if (view->distinct == 0) {
		for (size_t i = 0; i < count; i++)
			numbers[i] = codes[rows[i]];
		return;
	}
	for (size_t i = 0; i < count; i++)	/* I2 */
		numbers[i] = view->dictionary[codes[rows[i]] %
					      STORE_DICTIONARY_MAX];
}
