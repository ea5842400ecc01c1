/*
 * machine_arm_table.c: jump tables of switches in Thumb code:
 *
 *	cmp   rN, #last			cmp   rN, #last
 *	…				…
 *	bhi   elsewhere			bhi   elsewhere
 *	tbb   [pc, rN]			adr   rT, table
 *	tbh   [pc, rN, lsl #1]		ldr.w rW, [rT, rN, lsl #2]
 *					add   rT, rW
 *					bx    rT
 *
 * The second form has signed offsets with the lowest bit set; adr gives the
 * address of its table. (ARM Architecture Reference Manual, ARMv7-A, A6.3,
 * A8.8.)
 *
 * No state: any thread.
 */
#include "cli/symbol/cfi/machine.h"

#define COMPARED_BEFORE 6	/* halfwords, between comparison and branch */
#define WORDS_MAX 65536

static unsigned halfword(const uint8_t *code, size_t at)
{
	return code[at] | (unsigned)code[at + 1] << 8;
}

/* ThumbExpandImm: a byte, one of three patterns of it, or eight bits rotated
 * right. */
static uint32_t expanded(unsigned first, unsigned second)
{
	unsigned how = (first >> 10 & 1) << 4 | (second >> 12 & 7) << 1 |
		(second >> 7 & 1);
	uint32_t byte = second & 0xff;

	if (how >= 8) {
		byte |= 0x80;
		return byte >> how | byte << (32 - how);
	}
	return byte * (how < 2 ? 1 : how < 4 ? 0x10001 :
		       how < 6 ? 0x1000100 : 0x1010101);
}

/* cmp rN, #n */
static bool is_compared(const uint8_t *code, size_t at, unsigned index,
			uint32_t *last)
{
	unsigned first = halfword(code, at), second = halfword(code, at + 2);

	if ((first & 0xfbff) == (0xf1b0 | index) &&
	    (second & 0x8f00) == 0x0f00) {
		*last = expanded(first, second);
		return true;
	}
	*last = first & 0xff;
	return index < 8 && first >> 8 == (0x28 | index);
}

/* The number of words of the table used at `at`, from the comparison before; 0:
 * unknown. */
static uint32_t count_words(const uint8_t *code, size_t at, unsigned index)
{
	uint32_t last;

	if (at >= 4 && (halfword(code, at - 4) & 0xfbc0) == 0xf200 &&
	    (halfword(code, at - 2) & 0xd000) == 0x8000)
		at -= 4;
	else if (at >= 2 && halfword(code, at - 2) >> 8 == 0xd8)
		at -= 2;
	else
		return 0;
	for (unsigned i = 0; i < COMPARED_BEFORE && at >= 2; i++) {
		at -= 2;
		if (is_compared(code, at, index, &last))
			return last < WORDS_MAX ? last + 1 : 0;
	}
	return 0;
}

/* adr rT, table, ending at `at`; *begin: its start. */
static bool is_adr(const uint8_t *code, uint64_t start, size_t at,
		   unsigned base, size_t *begin, uint64_t *table)
{
	unsigned first, second;

	if (at >= 2 && base < 8 && halfword(code, at - 2) >> 8 == (0xa0 | base)) {
		*begin = at - 2;
		*table = ((start + *begin + 4) & ~UINT64_C(3)) +
			(halfword(code, *begin) & 0xff) * 4;
		return true;
	}
	if (at < 4)
		return false;
	*begin = at - 4;
	first = halfword(code, *begin);
	second = halfword(code, *begin + 2);
	if ((first & 0xfbff) != 0xf20f || (second & 0x8f00) != base << 8)
		return false;
	*table = ((start + *begin + 4) & ~UINT64_C(3)) +
		((first >> 10 & 1) << 11 | (second >> 12 & 7) << 8 |
		 (second & 0xff));
	return true;
}

/* bx rT and the instructions before it; `jump`: its offset in the code. */
static bool is_offset_table(const uint8_t *code, uint64_t start, size_t jump,
			    struct machine_table *table)
{
	unsigned base = halfword(code, jump) >> 3 & 15, word, index, second;
	size_t begin;

	if (jump < 8 || (halfword(code, jump) & 0xff87) != 0x4700)
		return false;
	/* add rT, rW */
	if ((halfword(code, jump - 2) & 0xff87) !=
	    (0x4400 | (base & 8) << 4 | (base & 7)))
		return false;
	word = halfword(code, jump - 2) >> 3 & 15;
	second = halfword(code, jump - 4);
	if (halfword(code, jump - 6) != (0xf850 | base) ||
	    (second & 0xfff0) != (word << 12 | 0x20))
		return false;
	index = second & 15;
	if (!is_adr(code, start, jump - 6, base, &begin, &table->start))
		return false;
	table->unit = 4;
	table->scale = 1;
	table->words = count_words(code, begin, index);
	return true;
}

bool machine_arm_table(const struct machine_decoder *decoder,
		       const uint8_t *code, uint64_t start, uint64_t address,
		       struct machine_table *table)
{
	size_t jump = (size_t)(address - start);
	unsigned second;

	if (!decoder->thumb)
		return false;
	if ((halfword(code, jump) & 0xfff0) != 0xe8d0)
		return is_offset_table(code, start, jump, table);
	second = halfword(code, jump + 2);
	if ((second & 0xffe0) != 0xf000)
		return false;
	table->start = address + 4;
	table->unit = second & 0x10 ? 2 : 1;
	table->scale = 2;
	table->words = count_words(code, jump, second & 15);
	return true;
}
