/*
 * rule_word.h (x86-64): encodes the rule of a frame in 28 bits of a rule cache
 * word (unwind/rule_cache.h). Other bits of the word say whether the CFA is
 * relative to sp or fp.
 *
 *	23     16 15         0
 *	+---------+------------+
 *	| -fp_off |  cfa_off   |   words
 *	+---------+------------+
 */
#ifndef GNOMON_ARCH_RULE_WORD_H
#define GNOMON_ARCH_RULE_WORD_H

#include <stdbool.h>
#include <stdint.h>

#include "regs.h"

/* A call pushes the return address: it lies right below the CFA, unsigned. */
#define ARCH_LINK_REGISTER 0

#define ARCH_RULE_UNIT ARCH_WORD	/* unit of a frame's size */
#define ARCH_RULE_SIZE_MAX 0xffff
#define ARCH_RULE_FP_SHIFT 16
#define ARCH_RULE_FP_MAX 0xff
#define ARCH_RULE_SIGNS 0

/* The position of the return address, in bytes from the CFA, by ra of struct
 * rule. */
static inline int64_t arch_rule_ra_offset(int64_t fp_off, unsigned ra)
{
	(void)fp_off;
	(void)ra;
	return ARCH_RA_OFFSET;
}

/* The value of struct rule's ra for a return address at this offset from the
 * CFA; false: there is none. fp_off: in words, 0: the frame pointer was not
 * saved. */
static inline bool arch_rule_ra(int64_t offset, int64_t fp_off, unsigned *ra)
{
	(void)fp_off;
	*ra = 0;
	return offset == ARCH_RA_OFFSET;
}

/* Packs the fields of a rule (unwind/rules/rules.h) into a word; false: they do not
 * fit. */
static inline bool arch_rule_word(int32_t cfa_off, int16_t fp_off, unsigned ra,
				  bool signs, uint32_t *word)
{
	(void)ra;
	(void)signs;
	*word = (uint32_t)(cfa_off / ARCH_WORD) |
		(uint32_t)-fp_off << ARCH_RULE_FP_SHIFT;
	return cfa_off > 0 && cfa_off % ARCH_WORD == 0 &&
	       cfa_off / ARCH_WORD <= ARCH_RULE_SIZE_MAX && fp_off <= 0 &&
	       -fp_off <= ARCH_RULE_FP_MAX;
}

/* The slot of the return address in a frame that begins at base (sp or fp) and
 * ends at cfa, by the word. */
static inline __attribute__((always_inline)) uintptr_t
arch_rule_slot(uintptr_t base, uintptr_t cfa, uint32_t word)
{
	(void)base;
	(void)word;
	return cfa + ARCH_RA_OFFSET;
}

/* The slot of the saved frame pointer; saved, not 0, is the word's field. */
static inline __attribute__((always_inline)) uintptr_t
arch_rule_fp_at(uintptr_t cfa, uintptr_t slot, uintptr_t saved)
{
	(void)slot;
	return cfa - saved * ARCH_WORD;
}

/* The position of the return address in three bits, by the word of a frame of
 * this size. */
static inline uint32_t arch_step_ra(uint32_t word, uint32_t size)
{
	(void)word;
	(void)size;
	return 0;
}

/* The slot that arch_step_ra encoded, in a frame that begins at base and ends
 * at cfa. */
static inline __attribute__((always_inline)) uintptr_t
arch_step_slot(uintptr_t base, uintptr_t cfa, uint32_t ra)
{
	(void)base;
	(void)ra;
	return cfa + ARCH_RA_OFFSET;
}

#endif
