/*
 * rules_exidx.h: rules of images with the unwind tables of 32-bit ARM,
 * .ARM.exidx (exidx.h). On other architectures nothing here is called.
 *
 * Any thread, also signal handlers.
 */
#ifndef GNOMON_UNWIND_RULES_EXIDX_H
#define GNOMON_UNWIND_RULES_EXIDX_H

#include "unwind/rules/rules_image.h"

static inline bool rules_exidx_is_there(const struct rules_image *image)
{
	return ARCH_ELF_EXIDX && image->exidx.index_end;
}

/* Sets image->exidx, if the section lies in one of the segments. */
void rules_exidx_init(struct rules_image *image,
		      const struct rules_sections *sections);

/* Cuts *start and *end down to the code of the entry for pc; without an entry
 * they are unchanged. */
void rules_exidx_code(const struct rules_image *image, uintptr_t pc,
		      uintptr_t *start, uintptr_t *end);

/* Whether the code at ra goes on to the system call that ends a thread
 * (arch_ends_thread). A thread's first function returns there, so no frame lies
 * outward of that function's. */
bool rules_exidx_ends_thread(const struct rules_image *image, uintptr_t ra);

/*
 * Whether ra, a return address for which neither an entry nor the code gives a
 * rule, is the outermost frame's. It is if a thread ends there, if a function
 * whose entry is EXIDX_CANTUNWIND begins shortly before it, or if ra follows no
 * call and is no signal handler's return.
 */
bool rules_exidx_is_outermost(const struct rules_image *image, uintptr_t ra);

/* Like rules_find, for a pc in the image's code without a stored rule. 0 also
 * for EXIDX_CANTUNWIND. */
uint16_t rules_exidx_find(struct rules_image *image, uintptr_t pc);

/*
 * Like rules_step_full, for such a pc: `read` stores the word at `address` in
 * *value, or returns false. If regs are those of the code by which a signal
 * handler returns, *is_signal becomes true; otherwise it is not written.
 */
int rules_exidx_step(struct rules_image *image, struct arch_regs *regs,
		     bool pc_exact, bool *is_signal,
		     bool (*read)(void *ctx, uintptr_t address,
				  uint64_t *value),
		     void *ctx);

#endif
