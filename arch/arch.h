/*
 * arch.h: the interface that each processor architecture implements, and what
 * gnomon derives from it.
 *
 * A port is a folder beside this file with the same file names in it
 * (docs/PORTING.md):
 *
 *	flags.mk    compiler flags of code that runs in the target
 *	regs.h      DWARF register numbers, struct arch_regs, ARCH_* constants:
 *		    addresses, signal frames, the numbers of the ELF format
 *	rule_word.h where functions put their return address
 *		    (ARCH_LINK_REGISTER), and how a frame's rule lies in a word
 *	calls.h     arch_after_call: whether a call ends at an address;
 *		    arch_return_address: the address in a stack word;
 *		    the CFA expression of lazy PLT entries
 *	entry.h     ARCH_CALLER_*: the caller of a hook; the macro `entry`: code
 *		    before hooks that cannot find their caller themselves
 *	syscall.h   raw system calls (arch_syscall6, error as -errno);
 *		    ARCH_STAT: the structure that newfstatat fills;
 *		    arch_is_fork: whether a call forks; ARCH_START_CALLS
 *	cycles.h    the cheapest counter that may serve as a time stamp, or
 *		    arch/monotonic.h where there is none; the thread pointer;
 *		    arch_is_stepped: whether the thread is single-stepped by
 *		    its own program (SIGTRAP)
 *	shadow_stack.h  arch_shadow_stack_pointer: of the hardware shadow
 *		    stack, 0 where there is none
 *	signal_frame.h  arch_regs_from_ucontext: registers at a signal;
 *		    arch_is_signal_return: the handlers' return address, if no
 *		    unwind table covers it; arch_sigframe_ucontext: its frame
 *	decode.h    ARCH_DECODES: whether code without a table is analysed;
 *		    then arch_decode: an instruction's effect on a frame
 *		    (arch/operation.h), arch_code_mode, and replacements for
 *		    the defaults in unwind/rules/prologue.h
 *	words.h     arch_blocks_equal, arch_pairs_equal: compare four words at
 *		    a time; arch_tags_are: eight; arch_word_is, arch_word_has:
 *		    one that other threads may write
 *	relocs.h    the relocations that bind a word to a function
 *	capture.S   arch_capture_regs: the caller's registers by DWARF numbers
 *	clone.S     arch_clone_task: start a task on a stack of its own
 *	barriers.S  return stubs for barriers, and the table of their targets
 *	stubs.S     entry points that must be left by a tail jump
 *	hooks_raw.S  syscall(), left in the same way
 *	patching.h  ARCH_PATCHES: whether functions of a static allocator are
 *		    patched; if so, how, and
 *	patching.S  the entries of their wrappers. Without it the recorder
 *		    reports that those allocations are not recorded
 *
 * The compiler's include path selects the folder; nothing outside arch/ tests
 * for an architecture.
 */
#ifndef GNOMON_ARCH_H
#define GNOMON_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calls.h"
#include "regs.h"
#include "syscall.h"
#include "cycles.h"
#include "relocs.h"
#include "rule_word.h"
#include "shadow_stack.h"
#include "words.h"

/*
 * Fill *regs with the registers that the caller of this function would have
 * after its return: pc is the return address, sp the value after the return.
 * Callee-saved registers are exact; caller-saved ones have their current
 * values. Async-signal-safe. Never fails.
 */
void arch_capture_regs(struct arch_regs *regs);

/*
 * clone(2) with the given flags; the child runs fn(arg) on the stack whose
 * highest address is stack_top (16-byte aligned) and with tls as its thread
 * pointer (if CLONE_SETTLS is among the flags), fn must not return. Returns the
 * child's pid in the caller, or -errno.
 */
long arch_clone_task(unsigned long flags, void *stack_top, void *tls,
		     void (*fn)(void *arg), void *arg);

/*
 * Return stubs: ARCH_STUBS of them, ARCH_STUB_BYTES apart. Stub i returns to
 * arch_stub_table[i] and changes nothing else. An unwinder that reaches a
 * stub's address finds the real return address by its unwind table. Stub 0 must
 * not be used. The table starts on a page, ends on one and is not writable at
 * first.
 */
extern const uint8_t arch_stubs[];
extern uintptr_t arch_stub_table[];

/* Whether time stamps come from a clock (arch/monotonic.h). */
#ifndef ARCH_CLOCK
#define ARCH_CLOCK 0
#endif

/* The type of program header for the index of 32-bit ARM's unwind tables
 * (unwind/rules/exidx.h); 0: the architecture has none. */
#ifndef ARCH_ELF_EXIDX
#define ARCH_ELF_EXIDX 0
#endif

/* How many bytes of code arch_ends_thread reads to recognise the end of a
 * thread (calls.h); 0: unwind tables mark it. */
#ifndef ARCH_ENDS_THREAD
#define ARCH_ENDS_THREAD 0
static inline bool arch_ends_thread(uintptr_t code)
{
	(void)code;
	return false;
}
#endif

/* 1 if compilers seldom use the frame pointer's register for anything else: a
 * frame whose CFA is relative to it finds the value in functions far further
 * in. */
#ifndef ARCH_FP_LASTS
#define ARCH_FP_LASTS 0
#endif

/* The number of the variant of a system call with 32-bit ids. */
#ifndef ARCH_NR_ID
#define ARCH_NR_ID(name) __NR_##name
#endif

/*
 * System calls with 64-bit sizes and file offsets, and their numbers. A port
 * with shorter words has other call numbers and passes these arguments in
 * pieces (ARCH_WIDE_CALLS: syscall.h defines its own).
 */
#ifndef ARCH_WIDE_CALLS
#define ARCH_NR_MMAP __NR_mmap
#define ARCH_NR_FSTATAT __NR_newfstatat

static inline long arch_mmap(void *at, size_t size, int prot, int flags,
			     int fd, uint64_t offset)
{
	return arch_syscall6(__NR_mmap, (long)at, (long)size, prot, flags, fd,
			     (long)offset);
}

static inline long arch_pread(int fd, void *to, size_t size, uint64_t offset)
{
	return arch_syscall6(__NR_pread64, fd, (long)to, (long)size,
			     (long)offset, 0, 0);
}

static inline long arch_ftruncate(int fd, uint64_t size)
{
	return arch_syscall6(__NR_ftruncate, fd, (long)size, 0, 0, 0, 0);
}

static inline long arch_fallocate(int fd, int mode, uint64_t offset,
				  uint64_t size)
{
	return arch_syscall6(__NR_fallocate, fd, mode, (long)offset,
			     (long)size, 0, 0);
}
#endif

static inline long arch_syscall0(long n)
{
	return arch_syscall6(n, 0, 0, 0, 0, 0, 0);
}

static inline long arch_syscall1(long n, long a)
{
	return arch_syscall6(n, a, 0, 0, 0, 0, 0);
}

static inline long arch_syscall2(long n, long a, long b)
{
	return arch_syscall6(n, a, b, 0, 0, 0, 0);
}

static inline long arch_syscall3(long n, long a, long b, long c)
{
	return arch_syscall6(n, a, b, c, 0, 0, 0);
}

static inline long arch_syscall4(long n, long a, long b, long c, long d)
{
	return arch_syscall6(n, a, b, c, d, 0, 0);
}

static inline long arch_syscall5(long n, long a, long b, long c, long d,
				 long e)
{
	return arch_syscall6(n, a, b, c, d, e, 0);
}

#endif
