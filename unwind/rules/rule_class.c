/*
 * rule_class.c: recognises simple rows and converts them to rules.
 *
 * A walk that tracks pc, sp and fp alone need not know where other registers
 * are saved. So four things classify a row: the CFA, and the rules for the
 * return address, sp and fp. A row without one of the shapes below is
 * RULE_COMPLEX, never approximated.
 *
 *	FRAME   sp or fp + offset; pc at an offset that arch_rule_ra encodes;
 *	        fp unchanged, or at CFA + n words
 *	DEREF   *(fp + offset); pc likewise; fp at fp + n words
 *	PLT     the CFA expression of lazy PLT entries; pc and fp as in FRAME
 *	SIGNAL  marked as signal frame; *(sp + ARCH_SIGFRAME_SP), and pc and fp
 *	        at their places in the ucontext
 *	END     pc undefined
 *
 * Any thread, also signal handlers. Pure.
 *
 * I1  A rule other than COMPLEX or BAD leads to the same pc, sp and fp as the
 *     row does.
 */
#include <string.h>

#include "unwind/base/assertion.h"
#include "unwind/rules/expr.h"
#include "unwind/rules/rule_class.h"

static const uint8_t plt_expression[] = { ARCH_PLT_EXPRESSION };

static const struct rule complex_rule = { .kind = RULE_COMPLEX };

static bool row_expression_is(const struct cfa_row *row, unsigned int column,
			      unsigned int reg, int64_t *offset)
{
	const uint8_t *code;
	size_t size;

	DEBUG_ASSERT(column < ARCH_REG_COUNT);
	if (row->how[column] != CFA_EXPRESSION)
		return false;
	code = cfa_program_expression(row->value[column], &size);
	return expr_is_register(code, size, reg, offset);
}

static bool cfa_is_deref(const struct cfa_row *row, unsigned int reg,
			 int64_t *offset)
{
	const uint8_t *code;
	size_t size;

	if (row->cfa_how != CFA_EXPRESSION)
		return false;
	code = cfa_program_expression(row->cfa_expression, &size);
	return expr_is_deref(code, size, reg, offset);
}

static bool cfa_is_plt(const struct cfa_row *row)
{
	const uint8_t *code;
	size_t size;

	if (row->cfa_how != CFA_EXPRESSION)
		return false;
	code = cfa_program_expression(row->cfa_expression, &size);
	return size == sizeof(plt_expression) &&
	       memcmp(code, plt_expression, sizeof(plt_expression)) == 0;
}

static bool to_words(int64_t bytes, int16_t *words)
{
	*words = (int16_t)(bytes / ARCH_WORD);
	return bytes == (int64_t)*words * ARCH_WORD;
}

/* pc is in memory, at an offset from the CFA, and the caller's sp is the CFA. */
static bool is_plain_call(const struct cfi_fde *fde, const struct cfa_row *row)
{
	unsigned int ra = fde->cie.ra_column;
	bool sp_is_cfa = row->how[ARCH_REG_SP] == CFA_UNSPECIFIED ||
			 (row->how[ARCH_REG_SP] == CFA_VAL_OFFSET &&
			  row->value[ARCH_REG_SP] == 0);

	return !fde->cie.is_signal && sp_is_cfa && row->how[ra] == CFA_OFFSET;
}

/* The fp column as words from the CFA, 0 if unchanged. */
static bool fp_from_cfa(const struct cfa_row *row, int16_t *words)
{
	*words = 0;
	switch (row->how[ARCH_REG_FP]) {
	case CFA_UNSPECIFIED:
	case CFA_UNDEFINED:	/* no code relies on it: treat it as
				 * unchanged */
	case CFA_SAME:
		return true;
	case CFA_OFFSET:
		return to_words(row->value[ARCH_REG_FP], words) && *words != 0;
	default:
		return false;
	}
}

static bool ra_is_known(const struct cfi_fde *fde, const struct cfa_row *row,
			struct rule *rule)
{
	unsigned ra;
	bool known = arch_rule_ra(row->value[fde->cie.ra_column],
				  rule->fp_off, &ra);

	rule->ra = ra & 0x7f;
	rule->signs = row->signs;
	return known;
}

static struct rule frame_rule(const struct cfi_fde *fde,
			      const struct cfa_row *row)
{
	struct rule rule = {
		.cfa_off = (int32_t)row->cfa_offset,
		.kind = RULE_FRAME,
	};

	DEBUG_ASSERT(row->cfa_how == CFA_OFFSET &&
		     row->cfa_reg < ARCH_REG_COUNT);
	if (rule.cfa_off != row->cfa_offset ||
	    !fp_from_cfa(row, &rule.fp_off) || !ra_is_known(fde, row, &rule))
		return complex_rule;
	if (row->cfa_reg == ARCH_REG_SP)
		rule.base = RULE_BASE_SP;
	else if (row->cfa_reg == ARCH_REG_FP)
		rule.base = RULE_BASE_FP;
	else
		return complex_rule;
	return rule;
}

static struct rule expression_rule(const struct cfi_fde *fde,
				   const struct cfa_row *row)
{
	struct rule rule = { .base = RULE_BASE_SP };
	int64_t cfa_off, fp_off;

	DEBUG_ASSERT(row->cfa_how == CFA_EXPRESSION);
	/* only for architectures whose calls push */
	if (ARCH_LINK_REGISTER || !ra_is_known(fde, row, &rule))
		return complex_rule;
	if (cfa_is_plt(row)) {
		rule.kind = RULE_PLT;
		rule.cfa_off = ARCH_PLT_CFA;
		return fp_from_cfa(row, &rule.fp_off) ? rule : complex_rule;
	}
	if (!cfa_is_deref(row, ARCH_REG_FP, &cfa_off) ||
	    !row_expression_is(row, ARCH_REG_FP, ARCH_REG_FP, &fp_off) ||
	    !to_words(fp_off, &rule.fp_off))
		return complex_rule;
	rule.kind = RULE_DEREF;
	rule.base = RULE_BASE_FP;
	rule.cfa_off = (int32_t)cfa_off;
	return rule.cfa_off == cfa_off ? rule : complex_rule;
}

static bool is_signal_frame(const struct cfi_fde *fde,
			    const struct cfa_row *row)
{
	int64_t sp, pc, fp, cfa;

	return fde->cie.is_signal && fde->cie.ra_column == ARCH_REG_PC &&
	       cfa_is_deref(row, ARCH_REG_SP, &cfa) &&
	       cfa == ARCH_SIGFRAME_SP &&
	       (row->how[ARCH_REG_SP] == CFA_UNSPECIFIED ||
		(row_expression_is(row, ARCH_REG_SP, ARCH_REG_SP, &sp) &&
		 sp == ARCH_SIGFRAME_SP)) &&
	       row_expression_is(row, ARCH_REG_PC, ARCH_REG_SP, &pc) &&
	       pc == ARCH_SIGFRAME_PC &&
	       row_expression_is(row, ARCH_REG_FP, ARCH_REG_SP, &fp) &&
	       fp == ARCH_SIGFRAME_FP;
}

struct rule rule_class_of_row(const struct cfi_fde *fde,
			      const struct cfa_row *row)
{
	struct rule rule = complex_rule;

	DEBUG_ASSERT(fde->cie.ra_column < ARCH_REG_COUNT);
	if (!row) {
		rule.kind = RULE_BAD;
		return rule;
	}
	if (row->how[fde->cie.ra_column] == CFA_UNDEFINED) {
		rule.kind = RULE_END;
		return rule;
	}
	if (row->cfa_how == CFA_UNSPECIFIED) {
		rule.kind = RULE_BAD;
		return rule;
	}
	if (fde->cie.is_signal) {
		if (is_signal_frame(fde, row))
			rule.kind = RULE_SIGNAL;
		return rule;
	}
	if (!is_plain_call(fde, row))
		return rule;
	return row->cfa_how == CFA_OFFSET ? frame_rule(fde, row) :
					    expression_rule(fde, row);
}
