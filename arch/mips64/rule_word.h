/*
 * rule_word.h (MIPS64): encodes the rule of a frame in 28 bits of a rule cache
 * word (unwind/rule_cache.h). Other bits of the word say whether the CFA is
 * relative to sp or fp.
 *
 *	27  24 23     12 11       0
 *	+------+---------+----------+
 *	|  fp  |   ra    |   size   |
 *	+------+---------+----------+
 *
 * The fields are those of arch/link_rule.def. Return addresses are never
 * signed.
 */
#ifndef GNOMON_ARCH_RULE_WORD_H
#define GNOMON_ARCH_RULE_WORD_H

#define ARCH_RULE_UNIT 16
#define ARCH_RULE_SIZE_MAX 0xfff
#define ARCH_RULE_RA_SHIFT 12
#define ARCH_RULE_RA_MAX 0xfff
#define ARCH_RULE_RA_LAST 1
#define ARCH_RULE_SIGNS 0
#define ARCH_RULE_FP_SHIFT 24
#define ARCH_RULE_FP_MAX 15

#include "arch/link_rule.def"

#endif
