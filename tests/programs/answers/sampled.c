// FLAGS: -pthread
/*
 * sampled.c THREADS ROUNDS: blocks of many sizes from four functions; each
 * thread ends the blocks of the previous one, by free or realloc. Only
 * site_kept leaves blocks at the end. Prints the usual lines, and for each
 * function: blocks, bytes, and for site_kept the live ones.
 */
#include <pthread.h>

#include "tgt.h"

#define THREADS_MAX 8
#define BOXES 64

struct parcel {
	size_t size;
};

static void *_Atomic box[THREADS_MAX][BOXES];
static unsigned threads = 1, rounds = 1000;
static uint64_t small_blocks, small_bytes, medium_blocks, medium_bytes,
	large_blocks, large_bytes, kept_blocks, kept_bytes;

#define SITE(name)                                                       \
	static __attribute__((noinline)) void *site_##name(size_t size)  \
	{                                                                \
		void *p = tgt_malloc(size);                              \
                                                                         \
		TGT_ADD(name##_blocks, 1);                               \
		TGT_ADD(name##_bytes, size);                             \
		return p;                                                \
	}
SITE(small)
SITE(medium)
SITE(large)
SITE(kept)

static void end(void *p, unsigned how)
{
	size_t size;

	if (!p)
		return;
	size = ((struct parcel *)p)->size;
	if (how % 4 == 0) {
		p = tgt_realloc(p, size, size / 2 + 16);
		size = size / 2 + 16;
	}
	tgt_free(p, size);
}

static void *work(void *argument)
{
	unsigned own = (unsigned)(uintptr_t)argument, i;

	for (i = 0; i < rounds; i++) {
		void *_Atomic *to = &box[(own + 1) % threads][i % BOXES];
		struct parcel *p;
		size_t size = 16 + i * 7 % 100;

		if (i % 50 == 7) {
			size = 5000 + i % 1000;
			p = site_large(size);
		} else if (i % 5 == 0) {
			size = 300 + i % 300;
			p = site_medium(size);
		} else {
			p = site_small(size);
		}
		p->size = size;
		end(__atomic_exchange_n(to, p, __ATOMIC_ACQ_REL), i);
		if (i % 20 == 3)
			tgt_sink = site_kept(200 + i % 64);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS_MAX];

	if (argc > 1)
		threads = atoi(argv[1]);
	if (argc > 2)
		rounds = atoi(argv[2]);
	for (uintptr_t i = 1; i < threads; i++)
		if (pthread_create(&thread[i], NULL, work, (void *)i))
			return 1;
	work(NULL);
	for (unsigned i = 1; i < threads; i++)
		pthread_join(thread[i], NULL);
	for (unsigned i = 0; i < threads; i++)
		for (unsigned k = 0; k < BOXES; k++)
			end(box[i][k], k);
	tgt_print("small_blocks", small_blocks);
	tgt_print("small_bytes", small_bytes);
	tgt_print("medium_blocks", medium_blocks);
	tgt_print("medium_bytes", medium_bytes);
	tgt_print("large_blocks", large_blocks);
	tgt_print("large_bytes", large_bytes);
	tgt_print("kept_blocks", kept_blocks);
	tgt_print("kept_bytes", kept_bytes);
	tgt_report();
	return 0;
}
