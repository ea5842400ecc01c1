// CC: musl-gcc
// FLAGS: -pthread
/*
 * musl.c: a musl program with threads, unusual requests and longjmp.
 */
#include <pthread.h>
#include <setjmp.h>

#include "tgt.h"

#define THREADS 4
#define BLOCKS 1000

/* Not of this C library; whoever has it all the same must do it right. */
extern void __longjmp_chk(jmp_buf to, int value) __attribute__((weak));

static void jump(sigjmp_buf to, int how)
{
	tgt_free(tgt_malloc(20 + how), 20 + how);
	if (how == 1)
		longjmp(to, 2);
	if (how == 2)
		_longjmp(to, 3);
	if (how == 3 && __longjmp_chk) {
		__longjmp_chk(to, 4);
		abort();
	}
	siglongjmp(to, how + 1);
}

/* Each jump goes on with the next. */
static void jumps(void)
{
	sigjmp_buf here;
	int how = sigsetjmp(here, 1);

	if (how < 5)
		jump(here, how ? how : 1);
	tgt_free(tgt_malloc(20 + how), 20 + how);
}

static void *work(void *argument)
{
	(void)argument;
	jumps();
	for (int i = 0; i < BLOCKS; i++) {
		void *p = tgt_malloc(30 + i);

		p = tgt_realloc(p, 30 + i, 60 + i);
		if (i % 4)
			tgt_free(p, 60 + i);
	}
	return NULL;
}

int main(void)
{
	pthread_t thread[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, work, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	tgt_report();
	return 0;
}
