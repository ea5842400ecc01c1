/*
 * rules.h: finds the unwind rule for a program counter.
 *
 * A rule says, for one range of code, where the canonical frame address (CFA,
 * DWARF 5 section 6.4) is and where the caller's frame pointer was saved. Real
 * programs have few distinct rules (under 800 in a library of 50 MB). All
 * images therefore share one dictionary of 8-byte rules. An image's table holds
 * 2 or 3 bytes a row: the row's offset in a granule of 256 bytes, and the
 * rule's id. Rows are made lazily, in one forward pass per FDE; ranges without
 * a rule are stored as well. All this takes less memory than the .eh_frame it
 * is made from.
 *
 * Any thread may call these functions, also from a signal handler. Writers
 * exclude each other by a try-lock; a thread that does not get it interprets
 * the FDE without storing rows.
 */
#ifndef GNOMON_UNWIND_RULES_H
#define GNOMON_UNWIND_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch.h"

enum rule_kind {
	RULE_NONE,	/* no entry covers this pc; rule id 0 */
	RULE_FRAME,	/* CFA = base + cfa_off, pc where `ra` says */
	RULE_CODE,	/* likewise, from one analysis of the code only: the
			 * return address is checked (prologue.h) */
	RULE_CODE_DEREF,	/* like RULE_DEREF, from code, checked */
	RULE_DEREF,	/* CFA = *(fp + cfa_off): realigned stacks */
	RULE_PLT,	/* CFA = sp + cfa_off + arch_plt_pushed(pc) */
	RULE_SIGNAL,	/* a signal frame: registers lie in the ucontext */
	RULE_END,	/* pc is undefined: the outermost frame */
	RULE_COMPLEX,	/* needs all registers: rules_step_full */
	RULE_BAD	/* the table's entry is malformed */
};

enum rule_base { RULE_BASE_SP, RULE_BASE_FP };

/*
 * fp_off: 0: the caller's frame pointer is this frame's; otherwise it was saved
 * at CFA + fp_off * ARCH_WORD. In RULE_DEREF and RULE_CODE_DEREF it is relative
 * to this frame's fp, not to the CFA, and 0 is an offset like any other: the
 * caller's frame pointer was saved at fp + fp_off * ARCH_WORD (compilers that
 * realign a stack push it there: DW_CFA_expression fp, breg<fp> 0). RULE_SIGNAL
 * has no offsets: ARCH_SIGFRAME_* give the positions. ra: where the return
 * address is (arch_rule_ra_offset): 0 is the usual slot, and the only one where
 * calls push it.
 */
struct rule {
	int32_t cfa_off;	/* bytes */
	int16_t fp_off;		/* words */
	uint8_t base : 1;	/* enum rule_base */
	uint8_t ra : 7;
	uint8_t kind : 7;	/* enum rule_kind */
	uint8_t signs : 1;	/* the return address is signed */
};
_Static_assert(sizeof(struct rule) == 8, "rules are one word");

#define RULES_MAX 65535u
/* Read-only for callers; rules_dictionary[id] for any id ever returned. */
extern __attribute__((visibility("hidden")))
struct rule *rules_dictionary;

enum { RULES_SEGMENTS_MAX = 8 };

struct rules_range {
	uintptr_t start, end;
};

/* The known facts about an image's unwind tables. All addresses are
 * run-time. */
struct rules_sections {
	uintptr_t text_start, text_end;	/* executable range covered */
	struct rules_range code;	/* its largest readable code segment;
					 * empty: none */
	uintptr_t bias;			/* run-time minus link-time address */
	uintptr_t eh_frame_hdr;		/* 0: none */
	size_t eh_frame_hdr_size;
	uintptr_t eh_frame;		/* 0: take it from eh_frame_hdr */
	size_t eh_frame_size;		/* 0: up to the terminator, but not
					 * beyond readable_end */
	uintptr_t exidx;		/* of ARM's tables (.ARM.exidx); 0:
					 * none */
	size_t exidx_size;
	/* eh_frame comes from a file that may not be the mapped one: it is used
	 * only if all its records are well-formed. */
	bool unverified;
	uintptr_t readable_start, readable_end;	/* the segment of eh_frame_hdr;
						 * without that, of eh_frame */
	/* Readable segments, which may contain eh_frame if it is not beside its
	 * header. */
	unsigned int segments;
	struct rules_range segment[RULES_SEGMENTS_MAX];
};

struct rules_image;	/* opaque; from unwind_alloc */

/* Sets the dictionary up. 0, or -ENOMEM. Called once, and again in a forked
 * child whose copy of our memory was wiped: forgets everything from before. */
int rules_init(void);

/*
 * Makes the (empty) table of an image. Reads only the header of eh_frame_hdr.
 * NULL: no memory. An image without tables is no error: rules_find returns 0
 * for it.
 */
struct rules_image *rules_image_new(const struct rules_sections *sections);

/*
 * The id of the rule for the instruction at pc (for a return address, pass it
 * minus 1). 0: no entry. Never fails otherwise.
 */
uint16_t rules_find(struct rules_image *image, uintptr_t pc);

/*
 * One step by the full rules of the FDE that covers pc, with all registers, for
 * any kind of rule (also FRAME, PLT, SIGNAL). regs: the frame's on entry, the
 * caller's on return (pc and sp included). pc_exact: regs' pc is the executing
 * instruction (innermost frame, or interrupted by a signal); otherwise it is a
 * return address. Memory is read only by `read` (ctx is passed through). 0; 1:
 * no caller (pc undefined); -ENOENT: no entry; -EFAULT: a read failed; -EINVAL:
 * the entry is malformed. On failure *regs is unspecified. *is_signal: the
 * frame was a signal frame, so the next pc is exact; set it to false before.
 */
int rules_step_full(struct rules_image *image, struct arch_regs *regs,
		    bool pc_exact, bool *is_signal,
		    bool (*read)(void *ctx, uintptr_t address,
				 uint64_t *value),
		    void *ctx);

/* The same for a pc that a signal interrupted, and only by rules made ahead of
 * time (rule_files.h): those are valid at every instruction. */
int rules_step_prepared(const struct rules_image *image,
			struct arch_regs *regs, bool *is_signal,
			bool (*read)(void *ctx, uintptr_t address,
				     uint64_t *value),
			void *ctx);

/* Sizes for `info` and tests: rules in the dictionary; bytes of tables. */
uint32_t rules_count(void);
size_t rules_bytes(void);

#endif
