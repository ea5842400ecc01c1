// FLAGS: -pthread
/*
 * grower.c THREADS STACKS FORKS: so many threads allocate once and stay while
 * the main thread allocates from so many different stacks. Then as many
 * processes, one after the other and each the child of the one before, do the
 * same.
 */
#include <pthread.h>
#include <sys/wait.h>

#include "tgt.h"

#define STACK (64 << 10)
#define BRANCHES 8

static pthread_barrier_t here, over;

static void path(unsigned kind);

/* Eight ways onward from each of the frames on the way: kinds of stacks. */
#define WAY(n) \
	static void way_##n(unsigned kind) \
	{ \
		path(kind / BRANCHES); \
		__asm__ volatile(""); \
	}
WAY(0)
WAY(1)
WAY(2)
WAY(3)
WAY(4)
WAY(5)
WAY(6)
WAY(7)

static void path(unsigned kind)
{
	static void (*const ways[BRANCHES])(unsigned) = {
		way_0, way_1, way_2, way_3, way_4, way_5, way_6, way_7
	};

	if (kind)
		ways[kind % BRANCHES](kind);
	else
		tgt_free(tgt_malloc(24), 24);
	__asm__ volatile("");
}

static void *stay(void *argument)
{
	path(1);
	pthread_barrier_wait(&here);
	pthread_barrier_wait(&over);
	return argument;
}

static int grow(unsigned count, unsigned stacks)
{
	pthread_t threads[count];
	pthread_attr_t attributes;
	unsigned i;

	pthread_barrier_init(&here, NULL, count + 1);
	pthread_barrier_init(&over, NULL, count + 1);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	for (i = 0; i < count; i++)
		if (pthread_create(&threads[i], &attributes, stay, NULL))
			return 1;
	pthread_barrier_wait(&here);
	for (i = 0; i < stacks; i++)
		path(i);
	pthread_barrier_wait(&over);
	for (i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned forks, i;

	if (argc < 4)
		return 2;
	forks = strtoul(argv[3], NULL, 10);
	for (i = 0; i <= forks; i++) {
		int status = 0;
		pid_t child;

		if (grow(strtoul(argv[1], NULL, 10),
			 strtoul(argv[2], NULL, 10)))
			return 1;
		child = i < forks ? fork() : -1;
		if (!child)
			continue;
		if (child > 0 && (waitpid(child, &status, 0) != child ||
				  status))
			return 3;
		break;
	}
	return 0;
}
