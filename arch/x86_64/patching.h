/*
 * patching.h (x86-64): the few instructions that lead from a patched function
 * to its wrapper (preload/patch/patch.h) and the layout both sides agree on.
 */
#ifndef GNOMON_ARCH_PATCHING_H
#define GNOMON_ARCH_PATCHING_H

#define ARCH_PATCHES 1

/* struct patch_slot: where the wrapper's address lies in it. */
#define ARCH_PATCH_WRAPPER 8

/* struct patch_frame begins so many bytes below the frame pointer of
 * arch_patch_entry. */
#define ARCH_PATCH_FRAME 16

#define ARCH_PATCH_TRAP 0xcc	/* a byte that traps if it is run: int3 */

#define ARCH_PATCH_THUNK 32	/* room for one, at most */

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/*
 * Entered by a jump from a thunk: call the wrapper of the slot that the thunk
 * named with the arguments as they are, and return as it returns. The second
 * one leaves all registers but the result as they were.
 */
extern const uint8_t arch_patch_entry[], arch_patch_entry_keeping[];

/* The 4 bytes at `field`, which will be at the address `at`, as a distance
 * to `target` from `tail` bytes behind them. Whether it is that near. */
static inline bool arch_patch_relative(uint8_t *field, uintptr_t at,
				       unsigned tail, uintptr_t target)
{
	int64_t distance = (int64_t)(target - (at + 4 + tail));
	int32_t near = (int32_t)distance;

	memcpy(field, &near, 4);
	return near == distance;
}

/* The jump that takes an entry's place: 5 bytes. */
static inline bool arch_patch_jump(uint8_t *to, uintptr_t at,
				   uintptr_t target)
{
	to[0] = 0xe9;
	return arch_patch_relative(to + 1, at + 1, 0, target);
}

/* A thunk: names the slot, and jumps to the address that lies at `entry`,
 * which is where one of the two above is; all three are near each other. */
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
