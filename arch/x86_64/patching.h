/*
 * patching.h (x86-64): the instructions between a patched function and its
 * wrapper (preload/patch/patch.h), and their shared layout.
 */
#ifndef GNOMON_ARCH_PATCHING_H
#define GNOMON_ARCH_PATCHING_H

#define ARCH_PATCHES 1

/* Offset of the wrapper's address in struct patch_slot. */
#define ARCH_PATCH_WRAPPER 8

/* Distance in bytes from the frame pointer of arch_patch_entry down to struct
 * patch_frame. */
#define ARCH_PATCH_FRAME 16

#define ARCH_PATCH_TRAP 0xcc	/* a byte that traps when executed: int3 */

#define ARCH_PATCH_THUNK 32	/* maximum size of a thunk, bytes */

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/*
 * A thunk jumps here: calls the wrapper of the thunk's slot with the arguments
 * unchanged, and returns as the wrapper returns. The second entry preserves all
 * registers except the result.
 */
extern const uint8_t arch_patch_entry[], arch_patch_entry_keeping[];

/* Writes the distance to `target` into the 4 bytes at `field`, whose run-time
 * address is `at`; it is relative to `tail` bytes behind them. False: too
 * far. */
static inline bool arch_patch_relative(uint8_t *field, uintptr_t at,
				       unsigned tail, uintptr_t target)
{
	int64_t distance = (int64_t)(target - (at + 4 + tail));
	int32_t near = (int32_t)distance;

	memcpy(field, &near, 4);
	return near == distance;
}

/* The jump that replaces a function's first instructions: 5 bytes. */
static inline bool arch_patch_jump(uint8_t *to, uintptr_t at,
				   uintptr_t target)
{
	to[0] = 0xe9;
	return arch_patch_relative(to + 1, at + 1, 0, target);
}

/* Writes a thunk: it loads the slot's address and jumps to the address stored
 * at `entry`, one of the two entries above; all three are near each other. */
static inline void arch_patch_thunk(uint8_t *to, uintptr_t at, uintptr_t slot,
				    uintptr_t entry, bool keeping)
{
	/* push %rbp; mov %rsp,%rbp; push %r11 */
	static const uint8_t keep[6] = { 0x55, 0x48, 0x89, 0xe5, 0x41, 0x53 };

	if (keeping) {
		memcpy(to, keep, sizeof(keep));
		to += sizeof(keep);
		at += sizeof(keep);
	}
	memcpy(to, "\x4c\x8d\x1d", 3);		/* lea slot(%rip),%r11 */
	arch_patch_relative(to + 3, at + 3, 0, slot);
	memcpy(to + 7, "\xff\x25", 2);		/* jmp *entry(%rip) */
	arch_patch_relative(to + 9, at + 9, 0, entry);
}

#endif /* __ASSEMBLER__ */
#endif
