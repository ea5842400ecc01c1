/*
 * crafted_mutate.h: a mutator for inputs of crafted.h, half of whose steps move
 * whole items: what is sought needs several that fit together (runs of two
 * rings, packed in one way, for as many more), which bytes changed one by one
 * hardly ever make.
 */
#ifndef TESTS_CRAFTED_MUTATE_H
#define TESTS_CRAFTED_MUTATE_H

#include "tests/fuzz/crafted.h"

#define CRAFTED_ITEM_MAX 64
#define CRAFTED_NEW_MAX 4	/* items put in at once */

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room,
			       unsigned seed);
/* libFuzzer's own; not there where inputs are only replayed. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room)
	__attribute__((weak));

/* Below n, which is not 0; state of xorshift32. */
static inline uint32_t crafted_dice(uint32_t *state, uint32_t n)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state % n;
}

/* An event whose address, context and kind are such as others have. */
static inline size_t crafted_new_run(uint8_t *item, uint32_t *dice)
{
	static const uint16_t repeats[] = { 0, 0, 1, 5, 40, 260, 1030 };
	unsigned pick = crafted_dice(dice, 7), n = crafted_dice(dice, 3);
	size_t at = 0;

	item[at++] = (uint8_t)crafted_dice(dice, CRAFTED_RINGS);
	item[at++] = (uint8_t)repeats[pick];
	item[at++] = (uint8_t)(repeats[pick] >> 8);
	item[at++] = (uint8_t)crafted_dice(dice, 3);
	item[at++] = (uint8_t)n;
	for (unsigned i = 0; i <= n; i++) {
		item[at++] = (uint8_t)crafted_dice(dice, 64);
		item[at++] = (uint8_t)crafted_dice(dice, 4);
		item[at++] = (uint8_t)crafted_dice(dice, 16);
		item[at++] = (uint8_t)crafted_dice(dice, 256);
		item[at++] = (uint8_t)crafted_dice(dice, 8);
	}
	return at;
}

/* Any operation, at `item`, which has room for CRAFTED_ITEM_MAX. */
static inline size_t crafted_new_item(uint8_t *item, uint32_t *dice)
{
	unsigned op = crafted_dice(dice, OP_COUNT_OF_OPS);
	size_t at = 0;

	item[at++] = (uint8_t)(CRAFTED_OPS + op);
	switch (op) {
	case OP_RUN:
		return at + crafted_new_run(item + at, dice);
	case OP_FLUSH:
		item[at++] = (uint8_t)crafted_dice(dice, CRAFTED_RINGS);
		/* packed in any way; the rest is rare */
		item[at] = (uint8_t)crafted_dice(dice, CODEC_PACKED + 1);
		if (crafted_dice(dice, 2) == 0)
			item[at] |= (uint8_t)crafted_dice(dice, 128);
		if (item[at++] & CODEC_RINGS)
			item[at++] = (uint8_t)crafted_dice(dice, 256);
		return at;
	case OP_PAD:
		item[at++] = (uint8_t)crafted_dice(dice, CRAFTED_COLUMNS);
		item[at++] = (uint8_t)crafted_dice(dice, CRAFTED_PAD_MAX + 1);
		item[at++] = 0;
		return at;
	default:
		for (unsigned i = crafted_fixed(op); i > 0; i--)
			item[at++] = (uint8_t)crafted_dice(dice, 256);
		return at;
	}
}

/* Where an item begins: the last one before a place chosen by chance. */
static inline size_t crafted_boundary(const uint8_t *data, size_t size,
				      uint32_t *dice)
{
	size_t wanted = crafted_dice(dice, (uint32_t)size + 1), at = 0;

	while (at < size) {
		size_t next = at + crafted_item_size(data + at, size - at);

		if (next > wanted)
			break;
		at = next;
	}
	return at;
}

/* Put n bytes in at a place; as it was if there is no room. */
static inline size_t crafted_insert(uint8_t *data, size_t size, size_t room,
				    size_t at, const uint8_t *bytes, size_t n)
{
	if (n > room - size)
		return size;
	memmove(data + at + n, data + at, size - at);
	memcpy(data + at, bytes, n);
	return size + n;
}

static inline size_t crafted_add(uint8_t *data, size_t size, size_t room,
				 uint32_t *dice)
{
	uint8_t items[CRAFTED_NEW_MAX * CRAFTED_ITEM_MAX];
	size_t n = 0, at = crafted_boundary(data, size, dice);

	for (unsigned i = crafted_dice(dice, CRAFTED_NEW_MAX) + 1; i > 0; i--)
		n += crafted_new_item(items + n, dice);
	return crafted_insert(data, size, room, at, items, n);
}

/* One item again, elsewhere; or not at all any more. */
static inline size_t crafted_move(uint8_t *data, size_t size, size_t room,
				  bool remove, uint32_t *dice)
{
	size_t from = crafted_boundary(data, size, dice), to, n;
	uint8_t item[CRAFTED_ITEM_MAX];

	if (from == size)
		return size;
	n = crafted_item_size(data + from, size - from);
	if (remove) {
		memmove(data + from, data + from + n, size - from - n);
		return size - n;
	}
	if (n > sizeof(item))
		return size;
	memcpy(item, data + from, n);
	to = crafted_boundary(data, size, dice);
	return crafted_insert(data, size, room, to, item, n);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room,
			       unsigned seed)
{
	uint32_t dice = seed * 2654435761u | 1;

	switch (crafted_dice(&dice, 6)) {
	case 0:
		return crafted_add(data, size, room, &dice);
	case 1:
		return crafted_move(data, size, room, false, &dice);
	case 2:
		return crafted_move(data, size, room, true, &dice);
	default:
		return LLVMFuzzerMutate(data, size, room);
	}
}

#endif
