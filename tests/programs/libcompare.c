/*
 * libcompare.c: preloaded into a real program, it captures the stack of every
 * allocation and compares every COMPARE_EVERY-th (100) with libgcc's
 * _Unwind_Backtrace. At exit it writes counts to COMPARE_OUTPUT:
 *
 *	captures N / compared N / differences N / unfinished N
 *
 * and the first differences, frame by frame. The captures run under the
 * oracle if COMPARE_ORACLE is set.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <unwind.h>

#include "tests/unit/unwind_embed.h"

#define FRAMES_MAX 20000
#define SHOWN_MAX 5

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

struct reference {
	uintptr_t address[FRAMES_MAX];
	unsigned n;
};

static int ready = -1;
static unsigned long every = 100, captures, compared, differences, unfinished;
static int shown;
static FILE *out;
static struct reference reference;
static uintptr_t got[FRAMES_MAX];
static __thread struct capture_thread *self;
static __thread int inside;
static pid_t main_thread;

static _Unwind_Reason_Code collect(struct _Unwind_Context *c, void *data)
{
	struct reference *r = data;
	int before = 0;
	uintptr_t ip = _Unwind_GetIPInfo(c, &before);

	if (r->n < FRAMES_MAX && ip)
		r->address[r->n++] = ip + (before ? 1 : 0);
	return _URC_NO_REASON;
}

static void show(unsigned n, unsigned skip)
{
	unsigned i;

	if (!out || shown++ >= SHOWN_MAX)
		return;
	fprintf(out, "difference: ours %u theirs %u skip %u\n", n, reference.n,
		skip);
	for (i = 0; i < n || i + skip < reference.n; i++)
		fprintf(out, "  %#lx %#lx\n", i < n ? got[i] : 0,
			i + skip < reference.n ? reference.address[i + skip] :
						 0);
}

/* ra: the return address of the hook; the reference starts further in. */
static void compare(uint32_t context, uintptr_t ra)
{
	unsigned n, skip = 0;
	uint32_t stop;

	reference.n = 0;
	_Unwind_Backtrace(collect, &reference);
	n = embed_expand(context, got, FRAMES_MAX, &stop);
	while (skip < reference.n && reference.address[skip] != ra)
		skip++;
	compared++;
	if (stop != GT_STOP_BOTTOM)
		unfinished++;
	if (n != reference.n - skip ||
	    memcmp(got, reference.address + skip, n * sizeof(*got))) {
		differences++;
		show(n, skip);
	}
}

static void start(void)
{
	if (ready >= 0)
		return;
	ready = 0;
	main_thread = getpid();
	if (getenv("COMPARE_EVERY"))
		every = strtoul(getenv("COMPARE_EVERY"), NULL, 10);
	ready = embed_init(CAPTURE_AUTO, getenv("COMPARE_ORACLE") != NULL) == 0;
}

static void record(uintptr_t ra, uintptr_t cfa, uintptr_t fp)
{
	uint32_t context;

	if (inside)
		return;
	inside = 1;
	start();
	if (ready == 1 && !self)
		self = capture_thread_new(gettid() == main_thread);
	if (ready == 1 && self && getpid() == main_thread) {
		context = capture_stack(self, ra, cfa, fp);
		captures++;
		if (captures % every == 0 && gettid() == main_thread)
			compare(context, ra);
	}
	inside = 0;
}

#define RECORD()                                                      \
	record((uintptr_t)__builtin_return_address(0),                \
	       (uintptr_t)__builtin_dwarf_cfa(),                      \
	       *(uintptr_t *)__builtin_frame_address(0))
#define HOOK __attribute__((noinline, optimize("no-omit-frame-pointer")))

HOOK void *malloc(size_t n)
{
	void *p = __libc_malloc(n);

	RECORD();
	return p;
}

HOOK void *calloc(size_t n, size_t size)
{
	void *p = __libc_calloc(n, size);

	RECORD();
	return p;
}

HOOK void *realloc(void *old, size_t n)
{
	void *p = __libc_realloc(old, n);

	RECORD();
	return p;
}

__attribute__((destructor)) static void finish(void)
{
	const char *path = getenv("COMPARE_OUTPUT");
	const struct capture_counts *c;

	if (getpid() != main_thread || !path || !self)
		return;
	inside = 1;
	if (!out)
		out = fopen(path, "a");
	if (!out)
		return;
	c = capture_thread_counts(self);
	fprintf(out, "captures %lu\ncompared %lu\ndifferences %lu\n"
		     "unfinished %lu\njoined %lu\nfull %lu\nplain %lu\n"
		     "oracle_checks %lu\noracle_differences %lu\n",
		captures, compared, differences, unfinished, c->tier_join,
		c->tier_full, c->tier_plain, c->oracle_checks,
		c->oracle_differences);
	fclose(out);
}

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("COMPARE_OUTPUT");

	inside = 1;
	if (path)
		out = fopen(path, "a");
	inside = 0;
}
