// LINK: bare_call.S
/*
 * no_tables.c: allocates through code without an unwind table, and through code
 * made at run time. The profiler unwinds the first by its instructions; at the
 * second, walks end with a reason.
 */
#include <sys/mman.h>

#include "tgt.h"

#define BLOCKS 1000

void *bare_call(void *(*function)(size_t), size_t size);

/* The same code in memory of our own; it is position independent. */
static void *(*made_at_run_time(void))(void *(*)(size_t), size_t)
{
	void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (code == MAP_FAILED)
		exit(1);
	memcpy(code, (const void *)bare_call, 64);
	if (mprotect(code, 4096, PROT_READ | PROT_EXEC))
		exit(1);
	return (void *(*)(void *(*)(size_t), size_t))code;
}

int main(void)
{
	void *(*jit)(void *(*)(size_t), size_t) = made_at_run_time();

	for (int i = 0; i < BLOCKS; i++) {
		void *p = bare_call(tgt_malloc, 100);
		void *q = jit(tgt_malloc, 200);

		tgt_free(p, 100);
		if (i % 2)
			tgt_free(q, 200);
	}
	tgt_report();
	return 0;
}
