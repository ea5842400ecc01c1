/*
 * prologue.h: frames of code that no table covers, by the code itself. Only
 * where the port says what instructions do (ARCH_DECODES, decode.h); elsewhere
 * nothing is ever found.
 *
 * From a return address the code is followed to where the function is left:
 * there the stack pointer, the return address and all registers that a called
 * function must preserve are the caller's. What was done to them on the way
 * says where they are now. Where no way leads out (the rest ends in a function
 * that never returns), what was done since the function began says it. Where
 * both are known they must agree. What one alone says is followed where it leads
 * to a return address. Where there is but one, which errs in C++ here and there
 * (tests/arch/test_prologue.c), its threads get no barriers either. What is not
 * sure is not answered.
 *
 * Any thread, also signal handlers. Reads code of the image only, which has to
 * be mapped. Some microseconds, at the first look at an address.
 */
#ifndef GNOMON_UNWIND_PROLOGUE_H
#define GNOMON_UNWIND_PROLOGUE_H

#include <stdbool.h>
#include <stdint.h>

#include "decode.h"
#include "unwind/rules.h"

/* Registers that frames are found from. */
#ifndef ARCH_FRAME_BASES
#define ARCH_FRAME_BASES                                                     \
	(UINT32_C(1) << ARCH_REG_SP | UINT32_C(1) << ARCH_REG_FP)
#endif

/* Whether a function's beginning is found from a pc in it: where instructions are
 * of one size. Else the way onward has to be enough. */
#ifndef ARCH_DECODES_BACK
#define ARCH_DECODES_BACK 1
#endif

/* What the stack pointer is a multiple of where a function is called, if that
 * is to be believed. */
#ifndef ARCH_STACK_ALIGN
#define ARCH_STACK_ALIGN ARCH_WORD
#endif

/* Instructions in which a function may take room for its frame in steps, before
 * it stores its caller; 0: it takes it at once. */
#ifndef ARCH_ROOM_STEPS
#define ARCH_ROOM_STEPS 0
#endif

/* Where functions return by the link register only: the registers by which
 * others are gone to, other than by a switch. 0: they return by any. */
#ifndef ARCH_LINKAGE_REGISTERS
#define ARCH_LINKAGE_REGISTERS UINT64_C(0)
#endif

/* Code that can be read as such. */
struct prologue_code {
	uintptr_t start, end;
};

/* Where a frame's registers are. */
struct prologue_frame {
	uint8_t base;		/* of the CFA: of ARCH_FRAME_BASES */
	bool ra_kept;		/* the return address is in its register */
	bool one_way;		/* told by one of the two ways only */
	bool deref;		/* the CFA is the word at base + cfa */
	int32_t cfa;		/* CFA - base, bytes */
	int32_t ra;		/* where the return address is, bytes from the
				 * CFA; unless ra_kept */
	uint64_t saved;		/* registers, by 1 << number */
	int32_t at[ARCH_REG_COUNT];	/* where, bytes from the CFA; or, of
					 * those in by_base, from base */
	uint64_t by_base;
};

/*
 * The frame at pc: at a return address, or, if `exact`, where a signal came.
 * False: not known.
 */
bool prologue_frame(const struct prologue_code *code, uintptr_t pc, bool exact,
		    struct prologue_frame *frame);

#if ARCH_DECODES

/*
 * The id of the rule at a return address for which rules_find has none; 0: not
 * known. It is remembered in the image.
 */
uint16_t prologue_find(struct rules_image *image, uintptr_t ra);

/* One step, as rules_step_full where that answers -ENOENT. *one_way: as the frame
 * has it. */
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
