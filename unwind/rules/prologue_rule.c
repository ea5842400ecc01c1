/*
 * prologue_rule.c: converts frames found in the code (prologue.c) to rules and
 * steps.
 *
 * Results are stored by return address, in a separate table of the image:
 * unwind tables describe ranges, the code analysis a single address. Failures
 * are stored as well.
 *
 * Any thread, also signal handlers.
 */
#include <errno.h>

#include "unwind/base/assertion.h"
#include "unwind/rules/prologue.h"
#include "unwind/rules/rule_dictionary.h"
#include "unwind/rules/rules_exidx.h"

#if ARCH_DECODES

static bool frame_of(const struct rules_image *image, uintptr_t pc, bool exact,
		     struct prologue_frame *frame)
{
	struct prologue_code code = { image->code.start, image->code.end };

	if (rules_exidx_is_there(image))
		rules_exidx_code(image, pc, &code.start, &code.end);

	if (pc % ARCH_INSTRUCTION || pc < code.start || pc >= code.end)
		return false;
	if (!exact && (pc - code.start < ARCH_CALL_MAX || !arch_after_call(pc) ||
		       rules_exidx_ends_thread(image, pc)))
		return false;
	return prologue_frame(&code, pc, exact, frame);
}

static struct rule rule_of_frame(const struct prologue_frame *f)
{
	/* if functions may sign return addresses, this one may */
	struct rule rule = { .kind = f->one_way ? RULE_CODE : RULE_FRAME,
			     .cfa_off = f->cfa, .signs = ARCH_RULE_SIGNS != 0 };
	unsigned ra;

	if (f->deref)
		rule.kind = RULE_CODE_DEREF;
	rule.base = f->base == ARCH_REG_FP ? RULE_BASE_FP : RULE_BASE_SP;
	if (f->base != ARCH_REG_SP && f->base != ARCH_REG_FP)
		rule.kind = RULE_COMPLEX;
	if (f->saved >> ARCH_REG_FP & 1) {
		rule.fp_off = (int16_t)(f->at[ARCH_REG_FP] / ARCH_WORD);
		if (rule.fp_off * ARCH_WORD != f->at[ARCH_REG_FP])
			rule.kind = RULE_COMPLEX;
	}
	if (!arch_rule_ra(f->ra, rule.fp_off, &ra))
		rule.kind = RULE_COMPLEX;
	if (rule.kind == RULE_COMPLEX)
		return (struct rule){ .kind = RULE_COMPLEX };
	rule.ra = ra & 0x7f;
	return rule;
}

/* Under the lock. */
static void keep_rule(struct rules_image *image, uintptr_t at, uint16_t id)
{
	struct granule_writer writer;
	uint16_t known;

	if (granule_find(&image->from_code, at, &known) ||
	    !granule_begin(&writer, &image->from_code, at, at, at + 1))
		return;
	granule_row(&writer, at, at + 1, id);
	granule_end(&writer);
}

uint16_t prologue_find(struct rules_image *image, uintptr_t ra)
{
	struct prologue_frame frame;
	uint16_t id = 0;

	if (granule_find(&image->from_code, ra - 1, &id))
		return id;
	if (frame_of(image, ra, false, &frame))
		id = rule_dictionary_id(rule_of_frame(&frame));
	else if (rules_exidx_is_outermost(image, ra))
		id = rule_dictionary_id((struct rule){ .kind = RULE_END });
	if (image->from_code.granules && granule_try_lock()) {
		keep_rule(image, ra - 1, id);
		granule_unlock();
	}
	return id;
}

int prologue_step(struct rules_image *image, struct arch_regs *regs,
		  bool pc_exact,
		  bool (*read)(void *ctx, uintptr_t address, uint64_t *value),
		  void *ctx, bool *one_way)
{
	uintptr_t pc = (uintptr_t)regs->r[ARCH_REG_PC];
	struct prologue_frame frame;
	uint64_t base, cfa, ra;
	unsigned r;

	/* failures take longest: analyse once only */
	if ((!pc_exact && !prologue_find(image, pc)) ||
	    !frame_of(image, pc, pc_exact, &frame))
		return !pc_exact && rules_exidx_is_outermost(image, pc) ?
			       1 : -ENOENT;
	DEBUG_ASSERT(ARCH_FRAME_BASES >> frame.base & 1);
	base = regs->r[frame.base];
	cfa = base + (uint64_t)(int64_t)frame.cfa;
	if (frame.deref && !read(ctx, (uintptr_t)cfa, &cfa))
		return -EFAULT;
	if (frame.deref && cfa <= base)
		return -ENOENT;
	ra = regs->r[ARCH_REG_LR];
	if (!frame.ra_kept && !read(ctx, (uintptr_t)(cfa + (uint64_t)(int64_t)frame.ra), &ra))
		return -EFAULT;
	for (r = 0; r < ARCH_REG_COUNT; r++)
		if (frame.saved >> r & 1 &&
		    !read(ctx, (uintptr_t)((frame.by_base >> r & 1 ? base : cfa) +
					   (uint64_t)(int64_t)frame.at[r]),
			  &regs->r[r]))
			return -EFAULT;
	*one_way = frame.one_way;
	regs->r[ARCH_REG_SP] = cfa;
	regs->r[ARCH_REG_LR] = ra;
	regs->r[ARCH_REG_PC] = ra;
	return 0;
}

#endif
