// FLAGS: -D_GNU_SOURCE -fvisibility=hidden -ftls-model=initial-exec -lgcc_s
/*
 * libcompare.c: preloaded in front of the profiler, takes the stack of every
 * 100th allocation with the C runtime's own unwinder (_Unwind_Backtrace) and
 * writes it to the file COMPARE_OUTPUT; also of 200 in a row out of 20000, so
 * that captures use the caches that previous ones filled. With
 * COMPARE_PERIOD=N, of every N-th and no others. Such an allocation reaches the
 * profiler through functions of the section compare_sampled, by which the
 * checker recognises the stacks that must be equal: see test_stacks.py.
 *
 * The file, in 64-bit words: start and end of all code of this library, start
 * and end of the sampled functions; then for each stack the number of its
 * frames and their return addresses, innermost first, without this library's.
 *
 * Each thread counts for itself, and writes a stack in one piece.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <unwind.h>

#define PERIOD 100
#define BURST 200
#define FRAMES_MAX 8192
#define OURS __attribute__((noinline, section("compare_text")))
#define SAMPLED __attribute__((noinline, section("compare_sampled")))
#define EXPORTED __attribute__((visibility("default"))) OURS

extern const char __start_compare_text[], __stop_compare_text[];
extern const char __start_compare_sampled[], __stop_compare_sampled[];

static void *(*next_malloc)(size_t);
static void *(*next_calloc)(size_t, size_t);
static void *(*next_realloc)(void *, size_t);

static int output = -1;
static unsigned long period = PERIOD, burst = BURST;
static __thread unsigned long calls;
static __thread int inside;
static __thread uint64_t stack[FRAMES_MAX + 1];
static uintptr_t profiler_start, profiler_end;	/* its code */

/* dlsym may itself want memory before the first answer. */
static char early[4096];
static size_t early_used;

OURS static void *early_block(size_t size)
{
	void *p = early + early_used;

	early_used += (size + 15) & ~(size_t)15;
	if (early_used > sizeof(early))
		abort();
	return p;
}

OURS static void find_next(void)
{
	next_calloc = dlsym(RTLD_NEXT, "calloc");
	next_realloc = dlsym(RTLD_NEXT, "realloc");
	next_malloc = dlsym(RTLD_NEXT, "malloc");
}

OURS static void put(const void *data, size_t size)
{
	if (write(output, data, size) != (ssize_t)size)
		abort();
}

/* Stubs of the profiler's that stand for return addresses are frames to the
 * unwinder, but not of the program. */
OURS static int find_profiler(struct dl_phdr_info *info, size_t size,
			      void *unused)
{
	const char *name = strrchr(info->dlpi_name, '/');
	int i;

	(void)size;
	(void)unused;
	if (!name || strcmp(name, "/libgnomon.so"))
		return 0;
	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_flags & PF_X) {
			profiler_start = info->dlpi_addr +
					 info->dlpi_phdr[i].p_vaddr;
			profiler_end = profiler_start +
				       info->dlpi_phdr[i].p_memsz;
		}
	return 1;
}

__attribute__((constructor)) OURS static void compare_open(void)
{
	const char *path = getenv("COMPARE_OUTPUT");
	uint64_t header[4] = {
		(uintptr_t)__start_compare_text,
		(uintptr_t)__stop_compare_text,
		(uintptr_t)__start_compare_sampled,
		(uintptr_t)__stop_compare_sampled,
	};

	if (!path)
		return;
	if (getenv("COMPARE_PERIOD")) {
		period = strtoul(getenv("COMPARE_PERIOD"), NULL, 10);
		burst = 0;
	}
	output = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC,
		      0600);
	if (output >= 0)
		put(header, sizeof(header));
	dl_iterate_phdr(find_profiler, NULL);
}

OURS static _Unwind_Reason_Code add_frame(struct _Unwind_Context *context,
					  void *argument)
{
	uint64_t pc = _Unwind_GetIP(context);

	(void)argument;
	if (pc >= (uintptr_t)__start_compare_text &&
	    pc < (uintptr_t)__stop_compare_text)
		return _URC_NO_REASON;
	if (pc >= profiler_start && pc < profiler_end)
		return _URC_NO_REASON;
	if (pc && stack[0] < FRAMES_MAX)
		stack[++stack[0]] = pc;
	return _URC_NO_REASON;
}

/* Whether this call is one to compare; if so its stack has been written. */
OURS static int take_sample(void)
{
	if (output < 0 || inside)
		return 0;
	if (++calls % period && (!burst || calls / burst % period))
		return 0;
	inside = 1;
	stack[0] = 0;
	_Unwind_Backtrace(add_frame, NULL);
	put(stack, (stack[0] + 1) * sizeof(stack[0]));
	inside = 0;
	return 1;
}

SAMPLED static void *sampled_malloc(size_t size)
{
	void *p = next_malloc(size);

	__asm__ volatile("" : : "r"(p) : "memory");
	return p;
}

SAMPLED static void *sampled_calloc(size_t count, size_t size)
{
	void *p = next_calloc(count, size);

	__asm__ volatile("" : : "r"(p) : "memory");
	return p;
}

SAMPLED static void *sampled_realloc(void *old, size_t size)
{
	void *p = next_realloc(old, size);

	__asm__ volatile("" : : "r"(p) : "memory");
	return p;
}

EXPORTED void *malloc(size_t size)
{
	if (!next_malloc)
		find_next();
	return take_sample() ? sampled_malloc(size) : next_malloc(size);
}

EXPORTED void *calloc(size_t count, size_t size)
{
	if (!next_malloc) {
		if (next_calloc)
			return next_calloc(count, size);
		if (early_used)
			return early_block(count * size);
		early_used = 16;
		find_next();
	}
	return take_sample() ? sampled_calloc(count, size) :
		next_calloc(count, size);
}

EXPORTED void *realloc(void *old, size_t size)
{
	if (!next_malloc)
		find_next();
	/* A refused or freeing one makes no block that could be counted. */
	if (size == 0 || size > PTRDIFF_MAX)
		return next_realloc(old, size);
	return take_sample() ? sampled_realloc(old, size) :
		next_realloc(old, size);
}
