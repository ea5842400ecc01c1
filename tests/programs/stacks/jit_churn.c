// FLAGS: -pthread
/*
 * jit_churn.c: threads that generate code, register its table, allocate through
 * it, deregister the table and unmap everything, over and over, so that each
 * reuses addresses of another's. Then children: one allocates through code that
 * its parent registered, one deregisters the table before its first allocation.
 */
#include <pthread.h>
#include <sys/wait.h>

#include "jit_code.h"
#include "tgt.h"

#define THREADS 3
#define ROUNDS 300
#define BLOCKS 10

extern void __register_frame(void *), __deregister_frame(void *);

/* Code in the first page, its table in the second. */
static uint8_t *make(uint8_t frame)
{
	uint8_t *pages = mmap(NULL, 2 * CODE_PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		abort();
	jit_make_table(pages + CODE_PAGE, pages, frame,
		       jit_make_code(pages, frame));
	return pages;
}

static void use(uint8_t *pages, size_t size)
{
	jit_call *jit = (jit_call *)(void *)pages;

	for (int i = 0; i < BLOCKS; i++)
		tgt_free(jit(tgt_malloc, size), size);
}

static void *churn(void *argument)
{
	uintptr_t number = (uintptr_t)argument;

	for (unsigned i = 0; i < ROUNDS; i++) {
		uint8_t *pages = make((uint8_t)(16 * ((number + i) % 6 + 1)));

		__register_frame(pages + CODE_PAGE);
		use(pages, 64 + number);
		__deregister_frame(pages + CODE_PAGE);
		munmap(pages, 2 * CODE_PAGE);
	}
	return NULL;
}

static void in_child(uint8_t *pages, int take_back)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		if (take_back)
			__deregister_frame(pages + CODE_PAGE);
		else
			use(pages, 500);
		_exit(0);
	}
	if (waitpid(child, &status, 0) != child || status)
		abort();
}

int main(void)
{
	pthread_t thread[THREADS];
	uint8_t *pages = make(48);

	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, churn, (void *)i))
			abort();
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	__register_frame(pages + CODE_PAGE);
	use(pages, 400);
	tgt_report();
	in_child(pages, 0);
	in_child(pages, 1);
	return 0;
}
