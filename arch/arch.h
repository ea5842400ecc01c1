/*
 * arch.h: what one processor architecture must provide, and what the rest of
 * gnomon derives from it.
 *
 * A port is a folder beside this file with the same file names in it
 * (docs/PORTING.md):
 *
 *	flags.mk    compiler flags of what lives in the target
 *	regs.h      DWARF register numbers, struct arch_regs, ARCH_* constants:
 *		    addresses, signal frames, the numbers of the ELF format
 *	rule_word.h where functions put their return address
 *		    (ARCH_LINK_REGISTER), and how a frame's rule lies in a word
 *	calls.h     arch_after_call: whether an address is behind a call;
 *		    arch_return_address: what a word of the stack returns to;
 *		    the expression of lazy linkage tables
 *	entry.h     ARCH_CALLER_*: who called a hook; what comes before hooks
 *		    that cannot tell (the macro `entry`)
 *	syscall.h   raw system calls (arch_syscall6, error as -errno);
 *		    ARCH_STAT: what newfstatat fills;
 *		    arch_is_fork: which of them are one; ARCH_START_CALLS
 *	cycles.h    the cheapest counter that may serve as a time stamp, or
 *		    arch/monotonic.h where there is none; the thread pointer;
 *		    arch_is_stepped: whether the program has itself
 *		    interrupted after each instruction (SIGTRAP)
 *	shadow_stack.h  arch_shadow_stack_pointer: of the hardware's shadow
 *		    stack, 0 where there is none
 *	interrupted.h  arch_regs_from_ucontext: what a signal interrupted;
 *		    arch_is_signal_return: where handlers return to, if no
 *		    table knows that; arch_sigframe_ucontext: what lies there
 *	decode.h    ARCH_DECODES: whether code that no table covers is followed;
 *		    then arch_decode: what an instruction does to a frame
 *		    (arch/operation.h), arch_code_mode, and what
 *		    unwind/prologue.h has defaults for
 *	words.h     arch_blocks_equal, arch_pairs_equal: four words at a time;
 *		    arch_tags_are: eight; arch_word_is, arch_word_has:
 *		    one that others may write
 *	relocs.h    the relocations that bind a word to a function
 *	capture.S   arch_capture_regs: the caller's registers, as DWARF sees them
 *	clone.S     arch_clone_task: start a task on a stack of its own
 *	barriers.S  return stubs for barriers, and the table they jump by
 *	stubs.S     entry points that must be left by a tail jump
 *	hooks_raw.S  syscall(), left in the same way
 *	patching.h  ARCH_PATCHES: whether functions of an allocator that is
 *		    linked into the program are patched; if so, how, and
 *	patching.S  what their wrappers are entered by. Without it the
 *		    recorder says that those allocations are not recorded
 *
 * The compiler's include path decides which folder is meant; nothing outside
 * arch/ tests for an architecture.
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
 * Callee-saved registers are exact; caller-saved ones hold what they hold.
 * Async-signal-safe. Never fails.
 */
void arch_capture_regs(struct arch_regs *regs);

/*
 * clone(2) with the given flags; the child runs fn(arg) on the stack whose
 * highest address is stack_top (16-byte aligned) and with tls as its thread
 * pointer (if CLONE_SETTLS is among the flags), and must not return from it.
 * Returns the child's pid in the caller, or -errno.
 */
long arch_clone_task(unsigned long flags, void *stack_top, void *tls,
		     void (*fn)(void *arg), void *arg);

/*
 * Return stubs: ARCH_STUBS of them, ARCH_STUB_BYTES apart. Stub i returns to
 * arch_stub_table[i] and changes nothing else; an unwinder that meets its
 * address finds there the real return address. Stub 0 must not be used. The
 * table starts on a page, ends on one and is not writable at first.
 */
extern const uint8_t arch_stubs[];
extern uintptr_t arch_stub_table[];

/* Whether time stamps are a clock's (arch/monotonic.h). */
#ifndef ARCH_CLOCK
#define ARCH_CLOCK 0
#endif

/* The kind of program header that says where the index of unwind tables is, of
 * those of 32-bit ARM (unwind/exidx.h); 0: images have none. */
#ifndef ARCH_ELF_EXIDX
#define ARCH_ELF_EXIDX 0
#endif

/* How many bytes of code tell that a thread ends there (calls.h); 0: that is
 * for unwind tables to say. */
#ifndef ARCH_ENDS_THREAD
#define ARCH_ENDS_THREAD 0
static inline bool arch_ends_thread(uintptr_t code)
{
	(void)code;
	return false;
}
#endif

/* 1 where compilers seldom use the frame pointer's register for anything else:
 * a frame that counts from it finds it as functions far further in have it. */
#ifndef ARCH_FP_LASTS
#define ARCH_FP_LASTS 0
#endif

/* The number of a call whose ids have 32 bits. */
#ifndef ARCH_NR_ID
#define ARCH_NR_ID(name) __NR_##name
#endif

/*
 * Calls with numbers of 64 bits, sizes and places in files, which a port with
 * shorter words makes by other numbers, in pieces (ARCH_WIDE_CALLS: it has its
 * own in syscall.h), and what those calls' numbers are.
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
