/*
 * rule_word.h (AArch64): how the rule of a frame lies in a word of the rule cache
 * (unwind/rule_cache.h), in 28 bits: that it counts from sp, or from fp, is said
 * beside it.
 *
 *	27 25  24   23     12 11       0
 *	+----+-----+---------+----------+
 *	| fp |signs|   ra    |   size   |
 *	+----+-----+---------+----------+
 *
 * size: of the frame, in 16 bytes, of which sp is always a multiple. ra: words
 * from where the frame begins to the return address; fp: words from there down
 * to the saved frame pointer (1 in a frame record), 0: it was not saved. signs:
 * the function signs its return address.
 */
#ifndef GNOMON_ARCH_RULE_WORD_H
#define GNOMON_ARCH_RULE_WORD_H

#include <stdbool.h>
#include <stdint.h>

#include "regs.h"

/* A call leaves the return address in a register: a function puts it where it
 * likes, and may sign it. */
#define ARCH_LINK_REGISTER 1

#define ARCH_RULE_UNIT 16
#define ARCH_RULE_SIZE_MAX 0xfff
#define ARCH_RULE_RA_SHIFT 12
#define ARCH_RULE_RA_MAX 0xfff
#define ARCH_RULE_SIGNS (1u << 24)
#define ARCH_RULE_FP_SHIFT 25
#define ARCH_RULE_FP_MAX 7

#define ARCH_RULE_FAR 127	/* the largest ra of struct rule */

/* Where the return address is, in bytes from the CFA: ra of struct rule is 0 in
 * a frame record, where it lies above the frame pointer; else it is that many
 * words below the CFA. */
static inline int64_t arch_rule_ra_offset(int64_t fp_off, unsigned ra)
{
	return (ra ? -(int64_t)ra : fp_off + 1) * ARCH_WORD;
}

/* The value of struct rule's ra for this place; false: there is none. fp_off: in
 * words, 0: the frame pointer was not saved. */
static inline bool arch_rule_ra(int64_t offset, int64_t fp_off, unsigned *ra)
{
	*ra = 0;
	if (fp_off && offset == (fp_off + 1) * ARCH_WORD)
		return true;
	*ra = (unsigned)(-offset / ARCH_WORD);
	return offset % ARCH_WORD == 0 && offset < 0 &&
	       offset >= -ARCH_RULE_FAR * ARCH_WORD;
}

/* The fields of a rule (unwind/rules.h) in a word; false: they have no room. */
static inline bool arch_rule_word(int32_t cfa_off, int16_t fp_off, unsigned ra,
				  bool signs, uint32_t *word)
{
	int64_t at = (cfa_off + arch_rule_ra_offset(fp_off, ra)) / ARCH_WORD;
	int64_t fp = fp_off ? at - (cfa_off / ARCH_WORD + fp_off) : 0;

	*word = (uint32_t)(cfa_off / ARCH_RULE_UNIT) |
		(uint32_t)at << ARCH_RULE_RA_SHIFT |
		(signs ? ARCH_RULE_SIGNS : 0) |
		(uint32_t)fp << ARCH_RULE_FP_SHIFT;
	return cfa_off > 0 && cfa_off % ARCH_RULE_UNIT == 0 &&
	       cfa_off / ARCH_RULE_UNIT <= ARCH_RULE_SIZE_MAX &&
	       at >= 0 && at <= ARCH_RULE_RA_MAX &&
	       at < cfa_off / ARCH_WORD && fp <= ARCH_RULE_FP_MAX &&
	       (fp_off ? fp > 0 && fp <= at : fp == 0);
}

/* Where the return address is in a frame that begins at base (sp or fp) and ends
 * at cfa, by the word. */
static inline __attribute__((always_inline)) uintptr_t
arch_rule_slot(uintptr_t base, uintptr_t cfa, uint32_t word)
{
	(void)cfa;
	return base + (word >> ARCH_RULE_RA_SHIFT & ARCH_RULE_RA_MAX) *
			      ARCH_WORD;
}

/* Where the frame pointer was saved: saved, not 0, is the word's field. */
static inline __attribute__((always_inline)) uintptr_t
arch_rule_fp_at(uintptr_t cfa, uintptr_t slot, uintptr_t saved)
{
	(void)cfa;
	return slot - saved * ARCH_WORD;
}

#endif
