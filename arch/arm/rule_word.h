/*
 * rule_word.h (ARM): encodes the rule of a frame in 28 bits of a rule cache
 * word (unwind/rule_cache.h). Other bits of the word say whether the CFA is
 * relative to sp or fp.
 *
 *	27 24 23       16 15         0
 *	+----+-----------+------------+
 *	| fp |    ra     |    size    |   words
 *	+----+-----------+------------+
 *
 * size: of the frame. ra: from the CFA down to the return address, 1 unless a
 * function has stored arguments above it. fp: from the return address down to
 * the saved frame pointer, 0: not saved.
 */
#ifndef GNOMON_ARCH_RULE_WORD_H
#define GNOMON_ARCH_RULE_WORD_H

#include <stdbool.h>
#include <stdint.h>

#include "regs.h"

/* A call leaves the return address in a register, and a function stores it
 * anywhere. */
#define ARCH_LINK_REGISTER 1

#define ARCH_RULE_UNIT ARCH_WORD
#define ARCH_RULE_SIZE_MAX 0xffff
#define ARCH_RULE_RA_SHIFT 16
#define ARCH_RULE_RA_MAX 0xff
#define ARCH_RULE_SIGNS 0
#define ARCH_RULE_FP_SHIFT 24
#define ARCH_RULE_FP_MAX 15

#define ARCH_RULE_FAR 127	/* the largest ra of struct rule */

/* The position of the return address, in bytes from the CFA: with ra of struct
 * rule 0 right below it, else that many words further down. */
static inline int64_t arch_rule_ra_offset(int64_t fp_off, unsigned ra)
{
	(void)fp_off;
	return -(int64_t)(ra + 1) * ARCH_WORD;
}

/* The value of struct rule's ra for a return address at this offset from the
 * CFA; false: there is none. */
static inline bool arch_rule_ra(int64_t offset, int64_t fp_off, unsigned *ra)
{
	(void)fp_off;
	*ra = (unsigned)(-offset / ARCH_WORD - 1);
	return offset % ARCH_WORD == 0 && offset < 0 &&
	       offset >= -(ARCH_RULE_FAR + 1) * ARCH_WORD;
}

/* Packs the fields of a rule (unwind/rules/rules.h) into a word; false: they do not
 * fit. */
static inline bool arch_rule_word(int32_t cfa_off, int16_t fp_off, unsigned ra,
				  bool signs, uint32_t *word)
{
	int32_t fp = fp_off ? -fp_off - (int32_t)(ra + 1) : 0;

	(void)signs;
	*word = (uint32_t)(cfa_off / ARCH_WORD) |
		(ra + 1) << ARCH_RULE_RA_SHIFT |
		(uint32_t)fp << ARCH_RULE_FP_SHIFT;
	return cfa_off > 0 && cfa_off % ARCH_WORD == 0 &&
	       cfa_off / ARCH_WORD <= ARCH_RULE_SIZE_MAX &&
	       ra + 1 <= ARCH_RULE_RA_MAX &&
	       ra + 1 <= (unsigned)(cfa_off / ARCH_WORD) &&
	       fp <= ARCH_RULE_FP_MAX && (fp_off ? fp > 0 : fp == 0);
}

/* The slot of the return address in a frame that begins at base (sp or fp) and
 * ends at cfa, by the word. */
static inline __attribute__((always_inline)) uintptr_t
arch_rule_slot(uintptr_t base, uintptr_t cfa, uint32_t word)
{
	(void)base;
	return cfa - (word >> ARCH_RULE_RA_SHIFT & ARCH_RULE_RA_MAX) *
			     ARCH_WORD;
}

/* The slot of the saved frame pointer; saved, not 0, is the word's field. */
static inline __attribute__((always_inline)) uintptr_t
arch_rule_fp_at(uintptr_t cfa, uintptr_t slot, uintptr_t saved)
{
	(void)cfa;
	return slot - saved * ARCH_WORD;
}

/* The position of the return address in three bits, by the word of a frame of
 * this size; a larger result does not fit. */
static inline uint32_t arch_step_ra(uint32_t word, uint32_t size)
{
	(void)size;
	return (word >> ARCH_RULE_RA_SHIFT & ARCH_RULE_RA_MAX) - 1;
}

/* The slot that arch_step_ra encoded, in a frame that begins at base and ends
 * at cfa. */
static inline __attribute__((always_inline)) uintptr_t
arch_step_slot(uintptr_t base, uintptr_t cfa, uint32_t ra)
{
	(void)base;
	return cfa - (ra + 1) * ARCH_WORD;
}

#endif
