// FLAGS: -pthread
/*
 * grower.c THREADS STACKS FORKS [filtered|limited]: THREADS threads allocate
 * once and stay while the main thread allocates from STACKS different stacks.
 * Then FORKS processes, one after the other and each the child of the previous
 * one, do the same. filtered: before, a filter forbids mremap: the call would
 * kill. limited: once its threads exist, the first process has few addresses
 * left.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "branches.h"
#include "tgt.h"

#define STACK (64 << 10)

static pthread_barrier_t made, here, over;
static bool limited;

static void at_the_end(void)
{
	tgt_free(tgt_malloc(24), 24);
}

static void *stay(void *argument)
{
	pthread_barrier_wait(&made);
	path(1);
	pthread_barrier_wait(&here);
	pthread_barrier_wait(&over);
	return argument;
}

/* Enough for a small heap, but for no thread's own. */
static int limit_addresses(void)
{
	struct rlimit limit;
	unsigned long pages = 0;
	FILE *statm = fopen("/proc/self/statm", "r");

	if (!statm || fscanf(statm, "%lu", &pages) != 1)
		return -1;
	fclose(statm);
	limit.rlim_cur = limit.rlim_max = pages * 4096 + (4 << 20);
	return setrlimit(RLIMIT_AS, &limit);
}

static int grow(unsigned count, unsigned stacks)
{
	pthread_t threads[count];
	pthread_attr_t attributes;
	unsigned i;

	pthread_barrier_init(&made, NULL, count + 1);
	pthread_barrier_init(&here, NULL, count + 1);
	pthread_barrier_init(&over, NULL, count + 1);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	for (i = 0; i < count; i++)
		if (pthread_create(&threads[i], &attributes, stay, NULL))
			return 1;
	if (limited && limit_addresses())
		return 1;
	pthread_barrier_wait(&made);
	pthread_barrier_wait(&here);
	for (i = 0; i < stacks; i++)
		path(i);
	pthread_barrier_wait(&over);
	for (i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static int forbid(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mremap, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { 4, code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
	unsigned forks, i;

	if (argc < 4)
		return 2;
	limited = argc > 4 && !strcmp(argv[4], "limited");
	if (argc > 4 && !limited && forbid())
		return 4;
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
