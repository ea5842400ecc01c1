// FLAGS: -pthread -D_GNU_SOURCE
/*
 * loader_lock.c: a thread lists mapped modules, and its callback takes a lock
 * that others hold while they allocate. Their lock order is right: a thread
 * with the lock never calls the loader. It must stay right with a recorder
 * below.
 *
 *	lister: loader's lock ─▶ mutex		others: mutex ─▶ malloc
 *
 * The stacks are deep and never the same for long, so that the recorder's work
 * for stacks includes new rules and new barriers. One thread also calls code
 * written at run time, which belongs to no module.
 */
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>

#include "tgt.h"

#define THREADS 2
#define ROUNDS 20000
#define DEPTH_LEAST 20
#define DEPTH_MORE 80
#define PAGE 4096

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int stop;

static __attribute__((noinline)) uint64_t go_down(unsigned depth,
						  unsigned seed)
{
	volatile char room[1 + seed % 7 * 48];
	uint64_t result;

	room[0] = (char)seed;
	if (depth) {
		result = go_down(depth - 1, seed * 5 + 1) + 1;
	} else {
		void *p = tgt_malloc(32 + seed % 64);

		result = 0;
		tgt_free(p, 32 + seed % 64);
	}
	return result + (room[0] != (char)seed);
}

static uint64_t go_down_plainly(void)
{
	return go_down(3, 1);
}

/* mov rax, target; sub rsp, 8; call rax; add rsp, 8; ret */
static void *write_code(uint64_t (*target)(void))
{
	static const unsigned char before[] = { 0x48, 0xb8 };
	static const unsigned char after[] = {
		0x48, 0x83, 0xec, 0x08, 0xff, 0xd0, 0x48, 0x83, 0xc4, 0x08,
		0xc3
	};
	unsigned char *code = mmap(NULL, PAGE,
				   PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (code == MAP_FAILED)
		abort();
	memcpy(code, before, sizeof(before));
	memcpy(code + sizeof(before), &target, sizeof(target));
	memcpy(code + sizeof(before) + sizeof(target), after, sizeof(after));
	return code;
}

static void *allocate(void *argument)
{
	unsigned seed = 1 + (unsigned)(uintptr_t)argument;
	union {
		void *code;
		uint64_t (*call)(void);
	} written = { write_code(go_down_plainly) };

	for (int i = 0; i < ROUNDS; i++) {
		seed = seed * 1103515245 + 12345;
		pthread_mutex_lock(&mutex);
		if (go_down(DEPTH_LEAST + (seed >> 16) % DEPTH_MORE, seed) !=
		    DEPTH_LEAST + (seed >> 16) % DEPTH_MORE)
			abort();
		if (argument && i % 16 == 0)
			written.call();
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static int take_lock(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)info;
	(void)size;
	(void)data;
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	return 0;
}

static void *list(void *argument)
{
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE))
		dl_iterate_phdr(take_lock, NULL);
	return argument;
}

int main(void)
{
	pthread_t lister, thread[THREADS];

	pthread_create(&lister, NULL, list, NULL);
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, allocate, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	pthread_join(lister, NULL);
	tgt_report();
	return 0;
}
