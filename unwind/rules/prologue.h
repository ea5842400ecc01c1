/*
 * prologue.h: derives frames from the machine code, where no unwind table
 * covers it. Needs a port that decodes instructions (ARCH_DECODES, decode.h);
 * without one it finds nothing.
 *
 * The analysis follows the code from the return address to where the function
 * returns: there the stack pointer, the return address and all callee-saved
 * registers are the caller's. The operations on the way say where they are now.
 * If no path returns (a function that never returns is called), the analysis
 * starts from the function's beginning instead. If both are known, they must
 * agree. A result of only one of them is used if it leads to a return address.
 * With only the forward analysis, which is sometimes wrong in C++
 * (tests/arch/test_prologue.c), the threads also get no barriers. An uncertain
 * result is not returned.
 *
 * Any thread, also signal handlers. Reads only code of the image, which must be
 * mapped. Takes some microseconds when an address is first examined.
 */
#ifndef GNOMON_UNWIND_PROLOGUE_H
#define GNOMON_UNWIND_PROLOGUE_H

#include <stdbool.h>
#include <stdint.h>

#include "decode.h"
#include "unwind/rules/rules.h"

/* Registers that a CFA may be relative to. */
#ifndef ARCH_FRAME_BASES
#define ARCH_FRAME_BASES                                                     \
	(UINT32_C(1) << ARCH_REG_SP | UINT32_C(1) << ARCH_REG_FP)
#endif

/* Whether a function's beginning can be found from a pc in it: only with
 * instructions of one size. Otherwise the forward analysis must suffice. */
#ifndef ARCH_DECODES_BACK
#define ARCH_DECODES_BACK 1
#endif

/* The alignment of the stack pointer at calls, if it can be relied on. */
#ifndef ARCH_STACK_ALIGN
#define ARCH_STACK_ALIGN ARCH_WORD
#endif

/* The number of instructions in which a function may allocate its frame in
 * steps, before it stores the return address; 0: it allocates at once. */
#ifndef ARCH_ROOM_STEPS
#define ARCH_ROOM_STEPS 0
#endif

/* If functions return by the link register only: the registers of other
 * indirect jumps that are no switches. 0: functions return by any register. */
#ifndef ARCH_LINKAGE_REGISTERS
#define ARCH_LINKAGE_REGISTERS UINT64_C(0)
#endif

/* A range of readable code. */
struct prologue_code {
	uintptr_t start, end;
};

/* Where a frame's caller's registers are. */
struct prologue_frame {
	uint8_t base;		/* of the CFA: one of ARCH_FRAME_BASES */
	bool ra_kept;		/* the return address is still in its
				 * register */
	bool one_way;		/* known from one of the two analyses only */
	bool deref;		/* the CFA is the word at base + cfa */
	int32_t cfa;		/* CFA - base, bytes */
	int32_t ra;		/* address of the return address, in bytes from
				 * the CFA; unless ra_kept */
	uint64_t saved;		/* mask of saved registers, 1 << number */
	int32_t at[ARCH_REG_COUNT];	/* where, in bytes from the CFA; for
					 * those in by_base, from base */
	uint64_t by_base;
};

/*
 * The frame at pc: a return address, or, if `exact`, the pc that a signal
 * interrupted. False: not known.
 */
bool prologue_frame(const struct prologue_code *code, uintptr_t pc, bool exact,
		    struct prologue_frame *frame);

#if ARCH_DECODES

/*
 * The id of the rule at a return address for which rules_find has none; 0: not
 * known. Stored in the image.
 */
uint16_t prologue_find(struct rules_image *image, uintptr_t ra);

/* Like rules_step_full, where that returns -ENOENT. *one_way: as in the
 * frame. */
int prologue_step(struct rules_image *image, struct arch_regs *regs,
		  bool pc_exact,
		  bool (*read)(void *ctx, uintptr_t address, uint64_t *value),
		  void *ctx, bool *one_way);

#else

static inline uint16_t prologue_find(struct rules_image *image, uintptr_t ra)
{
	(void)image;
	(void)ra;
	return 0;
}

static inline int
prologue_step(struct rules_image *image, struct arch_regs *regs,
	      bool pc_exact,
	      bool (*read)(void *ctx, uintptr_t address, uint64_t *value),
	      void *ctx, bool *one_way)
{
	*one_way = false;
	(void)image;
	(void)regs;
	(void)pc_exact;
	(void)read;
	(void)ctx;
	return -2;		/* ENOENT */
}

#endif

#endif
