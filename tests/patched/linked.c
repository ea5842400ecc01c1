/*
 * linked.c: calls every function of an allocator that is linked into it, and
 * counts. Built with -DPREFIX=…, and -DJEMALLOC, -DTCMALLOC or -DMIMALLOC for
 * what only that one has, by tests/system/test_patched.py.
 *
 * usage: linked [threads|fork|exec|handler|late LIBRARY]
 */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "tgt.h"

#ifndef PREFIX
#define PREFIX
#endif
#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define F(name) JOIN(PREFIX, name)

#define ROUNDS 500
#define THREADS 4

void *F(malloc)(size_t size);
void *F(calloc)(size_t count, size_t size);
void *F(realloc)(void *block, size_t size);
void F(free)(void *block);
int F(posix_memalign)(void **block, size_t alignment, size_t size);
void *F(aligned_alloc)(size_t alignment, size_t size);
void *F(memalign)(size_t alignment, size_t size);
void *F(valloc)(size_t size);
#ifdef JEMALLOC
void *F(mallocx)(size_t size, int flags);
void *F(rallocx)(void *block, size_t size, int flags);
size_t F(xallocx)(void *block, size_t size, size_t extra, int flags);
void F(dallocx)(void *block, int flags);
void F(sdallocx)(void *block, size_t size, int flags);
#endif
#ifdef TCMALLOC
void *tc_malloc(size_t size);
void *tc_calloc(size_t count, size_t size);
void *tc_realloc(void *block, size_t size);
void *tc_memalign(size_t alignment, size_t size);
void *tc_new(size_t size);
void *tc_newarray(size_t size);
void *tc_new_nothrow(size_t size, const void *nothrow);
void tc_free(void *block);
void tc_delete(void *block);
void tc_delete_sized(void *block, size_t size);
void tc_deletearray(void *block);
#endif
#ifdef MIMALLOC
void *mi_zalloc(size_t size);
void *mi_mallocn(size_t count, size_t size);
void *mi_rezalloc(void *block, size_t size);
void *mi_expand(void *block, size_t size);
void *mi_malloc_aligned(size_t size, size_t alignment);
void *mi_heap_malloc(void *heap, size_t size);
void *mi_heap_calloc(void *heap, size_t count, size_t size);
void *mi_heap_recalloc_aligned_at(void *heap, void *block, size_t count,
				  size_t size, size_t alignment,
				  size_t offset);
char *mi_strdup(const char *text);
void mi_free_size(void *block, size_t size);
void *mi_new(size_t size);
#endif

static void gone(size_t size)
{
	TGT_ADD(tgt_counts.frees, 1);
	TGT_ADD(tgt_counts.freed_bytes, size);
}

TGT_FUNCTION void *tgt_take(void *block, size_t size)
{
	tgt_made(block, size);
	memset(block, 7, size);
	return block;
}

TGT_FUNCTION void tgt_drop(void *block, size_t size)
{
	gone(size);
	F(free)(block);
}

TGT_FUNCTION void tgt_stays(size_t size)
{
	tgt_take(F(malloc)(size), size);
}

TGT_FUNCTION void tgt_common(size_t n)
{
	void *a = tgt_take(F(malloc)(n), n);
	void *b = tgt_take(F(calloc)(3, n), 3 * n);
	void *c;

	a = tgt_take(F(realloc)(a, 4 * n), 4 * n);
	gone(n);
	a = tgt_take(F(realloc)(a, 4 * n + 1), 4 * n + 1);
	gone(4 * n);
	tgt_drop(b, 3 * n);
	if (F(posix_memalign)(&c, 64, n))
		abort();
	tgt_made(c, n);
	tgt_drop(c, n);
	tgt_drop(tgt_take(F(aligned_alloc)(64, 64 * n), 64 * n), 64 * n);
	tgt_drop(tgt_take(F(memalign)(256, n), n), n);
	tgt_drop(tgt_take(F(valloc)(n), n), n);
	tgt_drop(tgt_take(F(realloc)(NULL, n), n), n);
	tgt_drop(a, 4 * n + 1);
	F(free)(NULL);
	/* refused: nothing may be recorded */
	a = F(malloc)((size_t)1 << 62);
	b = F(calloc)((size_t)1 << 40, (size_t)1 << 40);
	if (a || b)
		abort();
}

#ifdef JEMALLOC
TGT_FUNCTION void tgt_own(size_t n)
{
	void *a = tgt_take(F(mallocx)(n, 0), n);
	void *b = tgt_take(F(mallocx)(n, 6), n);

	a = tgt_take(F(rallocx)(a, 3 * n, 0), 3 * n);
	gone(n);
	if (F(xallocx)(a, 3 * n - 1, 0, 0) >= 3 * n - 1) {
		tgt_made(a, 3 * n - 1);
		gone(3 * n);
	}
	if (F(xallocx)(b, (size_t)1 << 40, 0, 0) >= (size_t)1 << 40)
		abort();
	gone(3 * n - 1);
	F(sdallocx)(a, 3 * n - 1, 0);
	gone(n);
	F(dallocx)(b, 0);
}
#elif defined(TCMALLOC)
TGT_FUNCTION void tgt_own(size_t n)
{
	tgt_drop(tgt_take(tc_malloc(n), n), n);
	tgt_drop(tgt_take(tc_calloc(2, n), 2 * n), 2 * n);
	tgt_drop(tgt_take(tc_memalign(128, n), n), n);
	void *a = tgt_take(tc_new(n), n);
	a = tgt_take(tc_realloc(a, 2 * n), 2 * n);
	gone(n);
	gone(2 * n);
	tc_delete(a);
	a = tgt_take(tc_newarray(n), n);
	gone(n);
	tc_deletearray(a);
	a = tgt_take(tc_new_nothrow(n, ""), n);
	gone(n);
	tc_delete_sized(a, n);
	a = tgt_take(tc_malloc(n), n);
	gone(n);
	tc_free(a);
}
#elif defined(MIMALLOC)
TGT_FUNCTION void tgt_own(size_t n)
{
	void *heap = NULL;
	void *a = tgt_take(mi_zalloc(n), n);
	void *b = tgt_take(mi_mallocn(3, n), 3 * n);

	a = tgt_take(mi_rezalloc(a, 2 * n), 2 * n);
	gone(n);
	if (mi_expand(a, 2 * n - 1)) {
		tgt_made(a, 2 * n - 1);
		gone(2 * n);
	}
	if (mi_expand(b, 1000 * n))
		abort();
	tgt_drop(b, 3 * n);
	tgt_drop(a, 2 * n - 1);
	tgt_drop(tgt_take(mi_malloc_aligned(n, 64), n), n);
	tgt_drop(tgt_take(mi_heap_malloc(heap, n), n), n);
	a = tgt_take(mi_heap_calloc(heap, 2, n), 2 * n);
	a = tgt_take(mi_heap_recalloc_aligned_at(heap, a, 3, n, 64, 0),
		     3 * n);
	gone(2 * n);
	gone(3 * n);
	mi_free_size(a, 3 * n);
	a = mi_strdup("seven b");
	tgt_made(a, 8);
	tgt_drop(a, 8);
	tgt_drop(tgt_take(mi_new(n), n), n);
}
#else
static void tgt_own(size_t n)
{
	(void)n;
}
#endif

static void *work(void *nothing)
{
	(void)nothing;
	for (size_t n = 1; n <= ROUNDS; n++) {
		tgt_common(n);
		tgt_own(n);
	}
	return NULL;
}

static void threads(void)
{
	pthread_t list[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&list[i], NULL, work, NULL))
			abort();
	for (int i = 0; i < THREADS; i++)
		pthread_join(list[i], NULL);
}

/* A child that goes on allocating, and reports into its own line. */
static void with_child(void)
{
	int status;
	pid_t child;

	work(NULL);
	child = fork();
	if (child == 0) {
		memset(&tgt_counts, 0, sizeof(tgt_counts));
		work(NULL);
		tgt_report();
		_exit(0);
	}
	if (waitpid(child, &status, 0) != child || status)
		abort();
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	tgt_stays(12345);
	if (strcmp(how, "threads") == 0)
		threads();
	else if (strcmp(how, "fork") == 0)
		with_child();
	else
		work(NULL);
	if (strcmp(how, "exec") == 0) {
		tgt_report();
		execl(argv[0], argv[0], "again", NULL);
		abort();
	}
	tgt_report();
	return 0;
}
