/*
 * rules_step.c: one step outward with all registers, straight from the row.
 *
 * For frames whose CFA depends on a register that a plain walk does not track,
 * for expressions, and as the reference that rules are checked against. It
 * finds and interprets the FDE every time: rare, and some hundred nanoseconds.
 *
 * Called by any thread, also in signal handlers. Reads the stack through the
 * caller's function only.
 *
 * I1  A row's rules refer to the frame's registers, never to those that this
 *     step has already restored: so there are two sets.
 */
#include <errno.h>

#include "unwind/base/assertion.h"
#include "unwind/rules/cfa_program.h"
#include "unwind/rules/expr.h"
#include "unwind/rules/rules_exidx.h"

struct wanted {
	uintptr_t pc;
	bool found;
	struct cfa_row row;
};

static bool keep_row(void *ctx, const struct cfa_row *row, uintptr_t start,
		     uintptr_t end)
{
	struct wanted *wanted = ctx;

	DEBUG_ASSERT(start < end);
	if (wanted->pc < start || wanted->pc >= end)
		return false;
	wanted->found = row != NULL;
	if (row)
		wanted->row = *row;
	return true;
}

static int evaluate(int64_t value, const struct expr_context *context,
		    const uint64_t *initial, uint64_t *result)
{
	size_t size;
	const uint8_t *code = cfa_program_expression(value, &size);

	return expr_evaluate(code, size, context, initial, result);
}

static int find_cfa(const struct cfa_row *row,
		    const struct expr_context *context, uint64_t *cfa)
{
	/* I3 of cfa_program.c */
	DEBUG_ASSERT(row->cfa_reg < ARCH_REG_COUNT);
	switch (row->cfa_how) {
	case CFA_OFFSET:
		*cfa = (uintptr_t)(context->regs->r[row->cfa_reg] +
				   (uint64_t)row->cfa_offset);
		return 0;
	case CFA_EXPRESSION:
		return evaluate(row->cfa_expression, context, NULL, cfa);
	default:
		return -EINVAL;
	}
}

/* The caller's value of a register. *value: this frame's on entry, which is
 * kept if the row has no rule for it. */
static int restore_register(const struct cfa_row *row, unsigned int column,
			    const struct expr_context *context, uint64_t cfa,
			    uint64_t *value)
{
	int64_t operand = row->value[column];
	uint64_t address = (uintptr_t)(cfa + (uint64_t)operand);
	int status;

	switch (row->how[column]) {
	case CFA_VAL_OFFSET:
		*value = address;
		return 0;
	case CFA_REGISTER:
		if ((uint64_t)operand >= ARCH_REG_COUNT)
			return -EINVAL;
		*value = context->regs->r[operand];
		return 0;
	case CFA_VAL_EXPRESSION:
		return evaluate(operand, context, &cfa, value);
	case CFA_EXPRESSION:
		status = evaluate(operand, context, &cfa, &address);
		if (status)
			return status;
		break;
	case CFA_OFFSET:
		break;
	default:
		return 0;
	}
	return context->read(context->ctx, address, value) ? 0 : -EFAULT;
}

/* Whether the caller's value of a register is this frame's. */
static bool is_kept(const struct cfa_row *row, unsigned int column)
{
	return row->how[column] == CFA_UNSPECIFIED ||
	       row->how[column] == CFA_SAME;
}

static int step_row(const struct cfi_fde *fde, const struct cfa_row *row,
		    bool pc_exact, struct arch_regs *regs,
		    bool (*read)(void *ctx, uintptr_t address,
				 uint64_t *value),
		    void *ctx)
{
	const struct arch_regs frame = *regs;
	struct expr_context context = { .read = read, .ctx = ctx,
					.regs = &frame };
	unsigned int ra = fde->cie.ra_column, column;
	uint64_t cfa;
	int status;

	if (row->how[ra] == CFA_UNDEFINED)
		return 1;
	/* If pc is not the link register, a frame with an unchanged one would
	 * be its own caller. */
	if (ra == ARCH_REG_PC && is_kept(row, ra))
		return -EINVAL;
	status = find_cfa(row, &context, &cfa);
	if (status)
		return status;
	/* A frame that has made a call cannot have kept it either; walks that
	 * assumed so ran to the stack's end. Exception: a return stub has no
	 * frame. */
	if (!pc_exact && is_kept(row, ra) && cfa != frame.r[ARCH_REG_SP])
		return -EINVAL;
	regs->r[ARCH_REG_SP] = cfa;
	for (column = 0; column < ARCH_REG_COUNT; column++) {
		status = restore_register(row, column, &context, cfa,
					  &regs->r[column]);
		/* A caller's register that may never be needed: compilers leave
		 * rules in place that are no longer valid (rbp of a realigned
		 * frame, after its "leave"). */
		if (status == -EFAULT && column != ra) {
			regs->r[column] = 0;
			status = 0;
		}
		if (status)
			return status;
	}
	regs->r[ARCH_REG_PC] = regs->r[ra];
	return 0;
}

/* Steps by the FDE at wanted->pc. */
static int step_entry(const struct cfi_fde *fde, struct wanted *wanted,
		      struct arch_regs *regs, bool pc_exact, bool *is_signal,
		      bool (*read)(void *ctx, uintptr_t address,
				   uint64_t *value),
		      void *ctx)
{
	DEBUG_ASSERT(fde->start <= wanted->pc && wanted->pc < fde->end);
	wanted->found = false;
	cfa_program_run(fde, keep_row, wanted);
	if (!wanted->found)
		return -EINVAL;
	*is_signal = fde->cie.is_signal;
	return step_row(fde, &wanted->row, pc_exact, regs, read, ctx);
}

int rules_step_prepared(const struct rules_image *image,
			struct arch_regs *regs, bool *is_signal,
			bool (*read)(void *ctx, uintptr_t address,
				     uint64_t *value),
			void *ctx)
{
	struct wanted wanted = { .pc = (uintptr_t)regs->r[ARCH_REG_PC] };
	struct cfi_fde fde;
	int status;

	if (!image->prepared.table || wanted.pc < image->text_start ||
	    wanted.pc >= image->text_end)
		return -ENOENT;
	status = cfi_find(&image->prepared, wanted.pc, &fde);
	return status ? status :
			step_entry(&fde, &wanted, regs, true, is_signal, read,
				   ctx);
}

int rules_step_full(struct rules_image *image, struct arch_regs *regs,
		    bool pc_exact, bool *is_signal,
		    bool (*read)(void *ctx, uintptr_t address,
				 uint64_t *value),
		    void *ctx)
{
	struct wanted wanted;
	struct cfi_fde fde;
	int status;

	wanted.pc = (uintptr_t)regs->r[ARCH_REG_PC] - (pc_exact ? 0 : 1);
	if (wanted.pc < image->text_start || wanted.pc >= image->text_end)
		return -ENOENT;
	if (rules_exidx_is_there(image)) {
		status = rules_exidx_step(image, regs, pc_exact, is_signal,
					  read, ctx);
		if (status != -ENOENT || !image->prepared.table)
			return status;
	}
	status = rules_entry(image, wanted.pc, &fde);
	return status ? status :
			step_entry(&fde, &wanted, regs, pc_exact, is_signal,
				   read, ctx);
}
