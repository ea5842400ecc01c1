/*
 * rules_exidx.c: see rules_exidx.h.
 *
 * An entry covers a whole function by one rule, from its start to the next
 * entry's. The rule is valid only once the function has made its frame, as it
 * has where it calls.
 *
 * EXIDX_CANTUNWIND marks outermost functions, but also everything that was
 * compiled without tables. So it means nothing, and the code is analysed
 * (prologue.h).
 *
 * The code by which signal handlers return pops all registers, including sp.
 * The C libraries' tables describe that, but do not mark the caller as
 * interrupted: such code is recognised by its instructions.
 */
#include <errno.h>

#include "signal_frame.h"
#include "unwind/base/assertion.h"
#include "unwind/rules/rule_dictionary.h"
#include "unwind/rules/rules_exidx.h"

/* Bytes of an outermost function, up to its last call. */
#define OUTERMOST_BYTES 64

struct step_reader {
	bool (*read)(void *ctx, uintptr_t address, uint64_t *value);
	void *ctx;
};

void rules_exidx_init(struct rules_image *image,
		      const struct rules_sections *sections)
{
	uintptr_t index = sections->exidx;
	unsigned i;

	for (i = 0; i < sections->segments; i++) {
		const struct rules_range *s = &sections->segment[i];

		if (index < s->start || index >= s->end ||
		    sections->exidx_size > s->end - index)
			continue;
		image->exidx = (struct exidx_image){
			.bytes = (const uint8_t *)s->start,
			.start = (uint32_t)s->start,
			.end = (uint32_t)s->end,
			.index = (uint32_t)index,
			.index_end = (uint32_t)(index + sections->exidx_size)
		};
	}
}

/* The entry for pc; its end is limited to that of the code. */
static int find_entry(const struct rules_image *image, uintptr_t pc,
		      struct exidx_entry *entry)
{
	int status = exidx_find(&image->exidx, (uint32_t)pc, entry);

	if (status)
		return status;
	if (entry->end > image->text_end)
		entry->end = (uint32_t)image->text_end;
	return pc < entry->end ? 0 : -EINVAL;
}

void rules_exidx_code(const struct rules_image *image, uintptr_t pc,
		      uintptr_t *start, uintptr_t *end)
{
	struct exidx_entry entry;
	int status = find_entry(image, pc, &entry);

	/* pc lies before the first entry */
	if (status == -ENOENT && exidx_at(&image->exidx, 0, &entry) == 0 &&
	    entry.start < *end)
		*end = entry.start;
	if (status)
		return;
	if (entry.start > *start)
		*start = entry.start;
	if (entry.end < *end)
		*end = entry.end;
}

static bool is_signal_code(const struct rules_image *image, uintptr_t pc)
{
	return ARCH_SIGNAL_CODE &&
	       rules_image_reads(image, pc, ARCH_SIGNAL_CODE) &&
	       arch_is_signal_return(pc);
}

bool rules_exidx_ends_thread(const struct rules_image *image, uintptr_t ra)
{
	return ARCH_ENDS_THREAD && rules_exidx_is_there(image) &&
	       ra % ARCH_INSTRUCTION == 0 &&
	       rules_image_reads(image, ra, ARCH_ENDS_THREAD) &&
	       arch_ends_thread(ra);
}

bool rules_exidx_is_outermost(const struct rules_image *image, uintptr_t ra)
{
	struct exidx_entry entry;

	if (rules_exidx_ends_thread(image, ra))
		return true;
	if (!rules_exidx_is_there(image) || ra % ARCH_INSTRUCTION ||
	    !rules_image_reads(image, ra - ARCH_CALL_MAX, ARCH_CALL_MAX) ||
	    find_entry(image, ra - 1, &entry))
		return false;
	if (!arch_after_call(ra))
		return !is_signal_code(image, ra);
	return entry.cannot && ra - entry.start <= OUTERMOST_BYTES;
}

uint16_t rules_exidx_find(struct rules_image *image, uintptr_t pc)
{
	struct granule_writer writer;
	struct exidx_entry entry;
	struct rule rule;
	uint16_t id;
	int status = find_entry(image, pc, &entry);

	if (status)
		return status == -ENOENT ? 0 : RULE_DICTIONARY_BAD;
	DEBUG_ASSERT(entry.start <= pc && pc < entry.end);
	rule = exidx_rule(&entry, ARCH_REG_FP);
	id = rule.kind == RULE_END ? 0 : rule_dictionary_id(rule);
	/* rules made ahead of time may know it */
	if ((!id && image->prepared.table) || !image->granules.granules ||
	    !granule_try_lock())
		return id;
	if (granule_begin(&writer, &image->granules, pc, entry.start,
			  entry.end)) {
		granule_row(&writer, entry.start, entry.end, id);
		granule_end(&writer);
	}
	granule_unlock();
	return id;
}

static bool read_half(void *ctx, uint32_t address, uint32_t *value)
{
	const struct step_reader *reader = ctx;
	uint64_t word;

	if (!reader->read(reader->ctx, address, &word))
		return false;
	*value = (uint32_t)word;
	return true;
}

/* Restores the interrupted registers from the signal frame that the code at pc
 * returns by. */
static int step_signal(struct arch_regs *regs, uintptr_t pc,
		       struct step_reader *reader)
{
	uintptr_t frame = (uintptr_t)regs->r[ARCH_REG_SP] +
			  arch_sigframe_ucontext(pc);
	uint64_t word;
	unsigned i;

	for (i = 0; i <= ARCH_SIGFRAME_PC; i += ARCH_WORD)
		if (!reader->read(reader->ctx, frame + i, &word))
			return -EFAULT;
	arch_regs_from_ucontext(regs, (const void *)frame);
	return 0;
}

int rules_exidx_step(struct rules_image *image, struct arch_regs *regs,
		     bool pc_exact, bool *is_signal,
		     bool (*read)(void *ctx, uintptr_t address,
				  uint64_t *value),
		     void *ctx)
{
	uintptr_t pc = (uintptr_t)regs->r[ARCH_REG_PC];
	struct step_reader reader = { read, ctx };
	uint32_t r[EXIDX_REGISTERS];
	struct exidx_entry entry;
	unsigned i;
	int status;

	if (!pc_exact && is_signal_code(image, pc)) {
		*is_signal = true;
		return step_signal(regs, pc, &reader);
	}
	status = find_entry(image, pc - !pc_exact, &entry);
	if (status)
		return status;
	for (i = 0; i < EXIDX_REGISTERS && i < ARCH_REG_COUNT; i++)
		r[i] = (uint32_t)regs->r[i];
	status = exidx_step(&entry, r, read_half, &reader);
	if (status == 1)
		return -ENOENT;
	for (i = 0; i < EXIDX_REGISTERS && i < ARCH_REG_COUNT; i++)
		regs->r[i] = r[i];
	return status;
}
