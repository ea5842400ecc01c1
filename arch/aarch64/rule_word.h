/*
 * rule_word.h (AArch64): encodes the rule of a frame in 28 bits of a rule cache
 * word (unwind/rule_cache.h). Other bits of the word say whether the CFA is
 * relative to sp or fp.
 *
 *	27 25  24   23     12 11       0
 *	+----+-----+---------+----------+
 *	| fp |signs|   ra    |   size   |
 *	+----+-----+---------+----------+
 *
 * The fields are those of arch/link_rule.def.
 */
#ifndef GNOMON_ARCH_RULE_WORD_H
#define GNOMON_ARCH_RULE_WORD_H

#define ARCH_RULE_UNIT 16
#define ARCH_RULE_SIZE_MAX 0xfff
#define ARCH_RULE_RA_SHIFT 12
#define ARCH_RULE_RA_MAX 0xfff
#define ARCH_RULE_RA_LAST 0
#define ARCH_RULE_SIGNS (1u << 24)
#define ARCH_RULE_FP_SHIFT 25
#define ARCH_RULE_FP_MAX 7

#include "arch/link_rule.def"

#endif
