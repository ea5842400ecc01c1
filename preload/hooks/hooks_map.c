/*
 * hooks_map.c: hooks of calls that change mappings, recorded with their stacks
 * (EXTRA events, preload/format.h), never as allocations.
 *
 * Each calls the real function with its own arguments and records the call
 * after success. munmap is recorded before the call, as a free is: else another
 * thread could get the range, and its stamp, first. A failure of munmap is
 * recorded after the call.
 *
 * Called by the program from everywhere: before this library is relocated (then
 * it makes the system call itself), in signal handlers, by allocators that a
 * hook has called. Mappings that the C library makes inside its own functions
 * do not pass here; the recorder finds them (maps_watch.h).
 *
 * I1: errno and the arguments of the real call are never changed. I2: makes no
 * system call except the requested one: the program may have forbidden itself
 * all others. (pthread_create has made the one that unwind_read makes.)
 */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include "preload/base/sys.h"
#include "preload/hooks/hooks_wrap.h"
#include "preload/interpose/patched_code.h"
#include "preload/ring/arenas.h"
#include "preload/sample/skip.h"

HOOKS_ENTERED(mmap);
HOOKS_ENTERED(mmap64);
HOOKS_ENTERED(munmap);
HOOKS_ENTERED(mremap);
HOOKS_ENTERED(mprotect);
HOOKS_ENTERED(brk);
HOOKS_ENTERED(sbrk);
HOOKS_ENTERED(shmat);
HOOKS_ENTERED(shmdt);
HOOKS_ENTERED(pthread_create);

#define HOOKS_MAP_PAGE 4096u	/* munmap requires multiples of at least this */
#define HOOKS_MAP_FAILED 1	/* size of an UNMAP: the one before failed */

static bool hooks_map_on(void)
{
	return producer_options.number[OPTION_MAPS] == OPTION_MAPS_ON;
}

/* Converts the result of a system call to the C library's convention; sets
 * errno only if its address is known. */
static long hooks_map_raw(long result)
{
	int *(*where)(void) = (int *(*)(void))real_slots[REAL___errno_location];

	if (!sys_failed(result))
		return result;
	if (where)
		*where() = (int)-result;
	return -1;
}

/* Whether a static allocator makes this call for a hook. */
static bool hooks_map_patched(uintptr_t ra)
{
	return hooks_in_real && patched_code_inside(ra);
}

/*
 * What each call of mmap and munmap checks, on one cache line, as a system call
 * leaves little in the caches: whether they are never recorded, and one range
 * of the code whose calls need more checks: code of allocators, and ours. Until
 * hooks_map_start it is all code.
 */
static struct {
	_Alignas(4 * sizeof(uintptr_t)) uintptr_t start;
	uintptr_t size;
	bool never;
} hooks_map_near = { 0, UINTPTR_MAX, false };

void hooks_map_start(void)
{
	uintptr_t start = real.own_start, end = start + real.own_size;
	unsigned i;

	if (!producer)
		return;		/* the options are not read yet */
	hooks_map_near.never = !hooks_map_on();
	if (hooks_map_near.never || patched_code_any())
		return;
	for (i = 0; i < wrap_range_count; i++) {
		start = base_min(start, wrap_ranges[i].start);
		end = base_max(end, wrap_ranges[i].start + wrap_ranges[i].size);
	}
	hooks_map_near.start = start;
	hooks_map_near.size = end - start;
}

static BASE_SLOW bool hooks_map_scan(uintptr_t ra, uint64_t *within)
{
	if (!hooks_map_on())
		return false;
	if (wrap_allocators(ra) || hooks_map_patched(ra))
		*within = GT_WITHIN_ALLOCATOR;
	return true;
}

/* Whether the call is recorded, and on whose behalf it was made (*within). */
static inline bool hooks_map_reports(uintptr_t ra, uint64_t *within)
{
	*within = GT_WITHIN_PROGRAM;
	return likely(ra - hooks_map_near.start >= hooks_map_near.size) ||
	       hooks_map_scan(ra, within);
}

/* Prefetches the next record during a system call: the recorder has last read
 * that memory. */
static inline void hooks_map_ahead(void)
{
	const struct thread *thread = producer_tls;
	const struct gl_ring *ring;

	if (likely(thread) && likely(ring = thread->ring))
		ring_fetch(ring);
}

static void hooks_map_made(void *start, size_t size, int prot, int flags,
			   int fd, off64_t offset, struct hooks_caller caller)
{
	uint64_t args[GT_EXTRA_ARGS];

	if (!hooks_map_reports(caller.ra, &args[3]))
		return;
	args[0] = (uint32_t)prot | (uint64_t)(uint32_t)flags << 32;
	args[1] = (uint32_t)fd;
	args[2] = (uint64_t)offset;
	hooks_extra(GT_EXTRA_MAP, (uintptr_t)start, size, args, caller);
}

/* The real mmap or mmap64; the other one is NULL. */
struct hooks_map_real {
	__typeof__(mmap) *narrow;
	__typeof__(mmap64) *wide;
};

static inline __attribute__((always_inline)) void *
hooks_map_make(struct hooks_map_real to, void *at, size_t size, int prot,
	       int flags, int fd, off64_t offset)
{
	return to.wide ? to.wide(at, size, prot, flags, fd, offset) :
			 to.narrow(at, size, prot, flags, fd, (off_t)offset);
}

/* mmap by any of its names. Neither is set: this library is not relocated
 * yet. */
static inline void *hooks_map_call(struct hooks_map_real to, void *at,
				   size_t size, int prot, int flags, int fd,
				   off64_t offset, struct hooks_caller caller)
{
	void *start;

	if (unlikely(!to.narrow && !to.wide))
		return (void *)hooks_map_raw(sys_mmap(at, size, prot, flags,
						      fd, offset));
	if (unlikely(hooks_map_near.never))
		return hooks_map_make(to, at, size, prot, flags, fd, offset);
	hooks_map_ahead();
	start = hooks_map_make(to, at, size, prot, flags, fd, offset);
	if (likely(start != MAP_FAILED))
		hooks_map_made(start, size, prot, flags, fd, offset, caller);
	return start;
}

HOOK void *mmap(void *at, size_t size, int prot, int flags, int fd,
		off_t offset)
{
	const struct hooks_map_real to = { REAL(mmap), NULL };

	return hooks_map_call(to, at, size, prot, flags, fd, offset,
			      HOOKS_CALLER);
}

HOOK void *mmap64(void *at, size_t size, int prot, int flags, int fd,
		  off64_t offset)
{
	/* some C libraries lack mmap64: mmap does the same there */
	const struct hooks_map_real to = {
		REAL(mmap64) ? NULL : REAL(mmap), REAL(mmap64)
	};

	return hooks_map_call(to, at, size, prot, flags, fd, offset,
			      HOOKS_CALLER);
}

static void hooks_map_gone(void *start, size_t size, bool failed,
			   struct hooks_caller caller)
{
	uint64_t args[GT_EXTRA_ARGS] = { failed ? HOOKS_MAP_FAILED : 0 };

	if (hooks_map_reports(caller.ra, &args[3]))
		hooks_extra(GT_EXTRA_UNMAP, (uintptr_t)start, size, args,
			    caller);
}

HOOK int munmap(void *start, size_t size)
{
	__typeof__(munmap) *function = REAL(munmap);
	/* not calls that the kernel rejects at once */
	bool known = size && (uintptr_t)start % HOOKS_MAP_PAGE == 0 &&
		    likely(!hooks_map_near.never);
	int result;

	if (unlikely(!function))
		return hooks_map_raw(sys_munmap(start, size));
	if (known)
		hooks_map_gone(start, size, false, HOOKS_CALLER);
	result = function(start, size);
	if (unlikely(result) && known)
		hooks_map_gone(start, size, true, HOOKS_CALLER);
	return result;
}

static void hooks_map_moved(void *start, size_t size, void *old,
			    size_t old_size, int flags,
			    struct hooks_caller caller)
{
	uint64_t args[GT_EXTRA_ARGS] = {
		(uintptr_t)old, old_size, (uint32_t)flags,
	};

	if (hooks_map_reports(caller.ra, &args[3]))
		hooks_extra(GT_EXTRA_REMAP, (uintptr_t)start, size, args,
			    caller);
}

/* The fifth argument exists only with some flags. It is always passed on: a
 * real function reads it only with those flags. */
HOOK void *mremap(void *old, size_t old_size, size_t size, int flags, ...)
{
	__typeof__(mremap) *function = REAL(mremap);
	void *start, *at;
	va_list list;

	va_start(list, flags);
	at = va_arg(list, void *);
	va_end(list);
	if (unlikely(!function))
		return (void *)hooks_map_raw(
			arch_syscall5(__NR_mremap, (long)old, old_size, size,
				      flags, (long)at));
	start = function(old, old_size, size, flags, at);
	if (likely(start != MAP_FAILED))
		hooks_map_moved(start, size, old, old_size, flags,
				HOOKS_CALLER);
	return start;
}

static void hooks_map_protected(void *start, size_t size, int prot,
				struct hooks_caller caller)
{
	const uint64_t args[GT_EXTRA_ARGS] = { (uint32_t)prot };

	hooks_extra(GT_EXTRA_PROTECT, (uintptr_t)start, size, args, caller);
}

HOOK int mprotect(void *start, size_t size, int prot)
{
	__typeof__(mprotect) *function = REAL(mprotect);
	int result;

	if (unlikely(!function))
		return hooks_map_raw(arch_syscall3(__NR_mprotect, (long)start,
						   size, prot));
	result = function(start, size, prot);
	if (likely(!result) && size && hooks_map_on())
		hooks_map_protected(start, size, prot, HOOKS_CALLER);
	return result;
}

/* Not every C library has it. */
int pkey_mprotect_wrap(void *start, size_t size, int prot, int key)
{
	int result = pkey_mprotect_real(start, size, prot, key);

	if (likely(!result) && size && hooks_map_on())
		hooks_map_protected(start, size, prot, HOOKS_CALLER);
	return result;
}

static void hooks_map_broken(uintptr_t old, uintptr_t now,
			     struct hooks_caller caller)
{
	uint64_t args[GT_EXTRA_ARGS] = { old };

	if (hooks_map_reports(caller.ra, &args[3]))
		hooks_extra(GT_EXTRA_BRK, now,
			    now > old ? now - old : old - now, args, caller);
}

/* Sets the break by a system call, while this library is not relocated and
 * keeps no break. */
static uintptr_t hooks_map_break(void *to)
{
	return arch_syscall1(__NR_brk, (long)to);
}

HOOK int brk(void *to)
{
	__typeof__(brk) *function = REAL(brk);
	__typeof__(sbrk) *ask = REAL(sbrk);
	uintptr_t old, now;
	int result;

	if (unlikely(!function))
		return hooks_map_break(to) == (uintptr_t)to ?
			       0 : hooks_map_raw(-ENOMEM);
	/* the C library knows it: no system call */
	old = ask && hooks_map_on() ? (uintptr_t)ask(0) : 0;
	now = old;
	result = function(to);
	if (!result && old)
		now = (uintptr_t)ask(0);	/* below its start it does not
						 * move */
	if (!result && now != old)
		hooks_map_broken(old, now, HOOKS_CALLER);
	return result;
}

HOOK void *sbrk(intptr_t more)
{
	__typeof__(sbrk) *function = REAL(sbrk);
	uintptr_t old, to;
	void *result;

	if (unlikely(!function)) {
		old = hooks_map_break(NULL);
		to = old + (uintptr_t)more;
		if (more && hooks_map_break((void *)to) != to)
			return (void *)hooks_map_raw(-ENOMEM);
		return (void *)old;
	}
	result = function(more);
	if (more && result != (void *)-1)
		hooks_map_broken((uintptr_t)result,
				 (uintptr_t)result + (uintptr_t)more,
				 HOOKS_CALLER);
	return result;
}

static void hooks_map_attached(void *start, int id, int flags,
			       struct hooks_caller caller)
{
	const uint64_t args[GT_EXTRA_ARGS] = { (uint32_t)id, (uint32_t)flags };

	/* only the kernel knows the length: the recorder reads the maps */
	hooks_extra(GT_EXTRA_SHMAT, (uintptr_t)start, 0, args, caller);
	recorder_hint_maps();
}

HOOK void *shmat(int id, const void *at, int flags)
{
	__typeof__(shmat) *function = REAL(shmat);
	void *start;

	if (unlikely(!function))
		return (void *)hooks_map_raw(
			arch_syscall3(__NR_shmat, id, (long)at, flags));
	start = function(id, at, flags);
	if (start != (void *)-1 && hooks_map_on())
		hooks_map_attached(start, id, flags, HOOKS_CALLER);
	return start;
}

HOOK int shmdt(const void *start)
{
	__typeof__(shmdt) *function = REAL(shmdt);
	int result;

	if (unlikely(!function))
		return hooks_map_raw(
			arch_syscall1(__NR_shmdt, (long)start));
	result = function(start);
	if (!result && hooks_map_on())
		hooks_extra(GT_EXTRA_SHMDT, (uintptr_t)start, 0, NULL,
			    HOOKS_CALLER);
	return result;
}

/* The variable belongs to the program: the new thread may have ended, and the
 * memory be unmapped. */
static void hooks_map_created(const void *variable, uint64_t began,
			      struct hooks_caller caller)
{
	uint64_t args[GT_EXTRA_ARGS] = { 0 };
	uint64_t thread;

	if (skip_dormant())
		return;
	if (!unwind_read((uintptr_t)variable, &thread))
		return;
	/* the thread's first event is no earlier than this call */
	if (producer_tls && producer_tls->own)
		args[1] = ((arch_cycles() - began) >>
			   producer->live->tick_shift) + 1;
	hooks_extra(GT_EXTRA_CREATE, thread, 0, args, caller);
	recorder_hint_maps();
}

static void hooks_map_creates(void)
{
	struct gl_shared *shared = producer ? producer->shared : NULL;

	if (shared)
		arenas_report_threads(shared);
}

HOOK int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			void *(*begin)(void *), void *argument)
{
	__typeof__(pthread_create) *function = REAL_LATE(pthread_create);
	uint64_t began = arch_cycles();
	int err;

	if (unlikely(!function))
		return ENOSYS;
	hooks_map_creates();
	err = function(thread, attributes, begin, argument);
	if (likely(!err))
		hooks_map_created(thread, began, HOOKS_CALLER);
	return err;
}

/* C11's, which does not call pthread_create through the loader. */
int thrd_create_wrap(void *thread, int (*begin)(void *), void *argument)
{
	uint64_t began = arch_cycles();
	int err = thrd_create_real(thread, begin, argument);

	if (!err)
		hooks_map_created(thread, began, HOOKS_CALLER);
	return err;
}
