/*
 * life_cost.c: costs of processes that hardly allocate. Prints JSON: the median
 * of N steps, in ns.
 *
 *	bench-lives forks N	a child that allocates once and exits, waited for
 *	bench-lives maps N	a mapping of 64 KiB, one page of it written to
 *	bench-lives execs N NAME=VALUE…
 *				from execve to main, of a child with this
 *				environment and no other
 *	bench-lives idle	says {"pid": …}, and waits for the end of its input
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <valgrind/callgrind.h>

#define LIFE_MAP (64u << 10)
#define LIFE_BORN "born"	/* the child of execs: LIFE_BORN TIME */

static uint64_t life_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void life_failed(const char *what)
{
	perror(what);
	exit(1);
}

static void life_wait(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status != 0) {
		fprintf(stderr, "bench-lives: a child failed\n");
		exit(1);
	}
}

static uint64_t life_fork(void)
{
	uint64_t begin = life_now();
	pid_t pid = fork();

	if (pid < 0)
		life_failed("fork");
	if (pid == 0) {
		void *volatile block = malloc(100);

		exit(block == NULL);
	}
	life_wait(pid);
	return life_now() - begin;
}

static uint64_t life_map(void)
{
	uint64_t begin = life_now();
	volatile char *map = mmap(NULL, LIFE_MAP, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		life_failed("mmap");
	map[0] = 1;
	munmap((void *)map, LIFE_MAP);
	return life_now() - begin;
}

/* The child tells through a pipe, which is its standard output. */
static uint64_t life_exec(char **environment)
{
	char self[] = "/proc/self/exe", born[] = LIFE_BORN, time[32];
	char *argv[] = { self, born, time, NULL };
	uint64_t took;
	int ends[2];
	pid_t pid;

	if (pipe(ends))
		life_failed("pipe");
	pid = fork();
	if (pid < 0)
		life_failed("fork");
	if (pid == 0) {
		dup2(ends[1], STDOUT_FILENO);
		snprintf(time, sizeof(time), "%" PRIu64, life_now());
		execve(self, argv, environment);
		_exit(127);
	}
	close(ends[1]);
	if (read(ends[0], &took, sizeof(took)) != sizeof(took))
		life_failed("no answer");
	close(ends[0]);
	life_wait(pid);
	return took;
}

static int life_born(const char *executed)
{
	uint64_t took = life_now() - strtoull(executed, NULL, 10);

	return write(STDOUT_FILENO, &took, sizeof(took)) != sizeof(took);
}

static int life_idle(void)
{
	char byte;

	printf("{\"pid\": %d}\n", (int)getpid());
	fflush(stdout);
	return read(STDIN_FILENO, &byte, 1) != 0;
}

static int life_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	size_t count = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	uint64_t *took;

	if (argc > 2 && !strcmp(argv[1], LIFE_BORN))
		return life_born(argv[2]);
	if (argc > 1 && !strcmp(argv[1], "idle"))
		return life_idle();
	took = calloc(count, sizeof(*took));
	if (took == NULL || count == 0)
		return 2;
	CALLGRIND_TOGGLE_COLLECT;	/* bench_callgrind.py */
	for (size_t i = 0; i < count; i++)
		took[i] = !strcmp(argv[1], "forks") ? life_fork() :
			!strcmp(argv[1], "maps") ? life_map() :
			life_exec(argv + 3);
	CALLGRIND_TOGGLE_COLLECT;
	qsort(took, count, sizeof(*took), life_compare);
	printf("{\"ns\": %" PRIu64 "}\n", took[count / 2]);
	free(took);
	return 0;
}
