// FLAGS: -pthread
/*
 * small_stacks.c: how much stack the profiler uses: in a thread's first
 * allocation and in later ones, in a full walk, in a child forked by a thread,
 * in a handler on a stack of its own. Prints bytes as "used_…"; then allocates
 * in threads and handlers with the smallest possible stacks.
 */
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "tgt.h"

#define ROOM (256 << 10)
#define SMALL_HANDLER 8192	/* what programs take from SIGSTKSZ */
#define DEPTH 20

static char *painted(size_t size)
{
	char *room = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (room == MAP_FAILED)
		abort();
	memset(room, 0xa5, size);
	return room;
}

static size_t used(const char *room, size_t size)
{
	size_t i = 0;

	while (i < size && room[i] == (char)0xa5)
		i++;
	return size - i;
}

static void *nothing(void *unused)
{
	return unused;
}

static void *allocate(void *unused)
{
	tgt_free(tgt_malloc(50), 50);
	return unused;
}

static int descend(int depth)
{
	volatile char room[16];

	room[0] = depth;
	if (depth)
		return descend(depth - 1) + room[0];
	allocate(NULL);
	return room[0];
}

static void *allocate_deep(void *unused)
{
	tgt_sink = (void *)(uintptr_t)descend(DEPTH);
	return unused;
}

static char *fork_room;

/* Its report is the child's own. */
static void *allocate_forked(void *unused)
{
	pid_t child = fork();

	if (child == 0) {
		allocate(NULL);
		tgt_print("used_forked", used(fork_room, ROOM));
		_exit(0);
	}
	waitpid(child, NULL, 0);
	return unused;
}

static void run_on(char *room, size_t size, void *(*function)(void *))
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	if (pthread_attr_setstack(&attributes, room, size) ||
	    pthread_create(&thread, &attributes, function, NULL))
		abort();
	pthread_join(thread, NULL);
}

static void measure(const char *what, void *(*function)(void *))
{
	char *room = painted(ROOM);

	fork_room = room;
	run_on(room, ROOM, function);
	tgt_print(what, used(room, ROOM));
}

static void handler(int number)
{
	(void)number;
	allocate(NULL);
}

static void raise_on(char *room, size_t size)
{
	stack_t stack = { .ss_sp = room, .ss_size = size };

	if (sigaltstack(&stack, NULL))
		abort();
	raise(SIGUSR1);
}

int main(void)
{
	struct sigaction action = {
		.sa_handler = handler,
		.sa_flags = SA_ONSTACK,
	};
	char *room = painted(ROOM);

	measure("used_nothing", nothing);
	measure("used_first", allocate);
	measure("used_again", allocate);
	measure("used_deep", allocate_deep);
	measure("used_parent", allocate_forked);
	sigaction(SIGUSR1, &action, NULL);
	raise_on(room, ROOM);
	tgt_print("used_handler", used(room, ROOM));
	for (int i = 0; i < 10; i++) {
		run_on(painted(PTHREAD_STACK_MIN), PTHREAD_STACK_MIN,
		       i % 2 ? allocate : allocate_deep);
		raise_on(painted(SMALL_HANDLER), SMALL_HANDLER);
	}
	tgt_report();
	return 0;
}
