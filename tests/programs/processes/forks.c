// FLAGS: -pthread
/*
 * forks.c: children made in every way, while threads of the parent allocate.
 *
 *	forks fork	children that allocate and exit; some fork again
 *	forks threads	the same, each child forked by a thread of its own
 *	forks exec	fork + exec of this program as "forks leaf"
 *	forks vfork	vfork + exec, and vfork + _exit
 *	forks spawn	posix_spawn
 *	forks same	exec in the same process
 *	forks leaf	allocates and reports, the end of a chain
 *
 * Prints the parent's own numbers; each child writes its own to the file
 * PREFIX.<pid>, where PREFIX is the environment's FORKS_PREFIX.
 */
#include <pthread.h>
#include <spawn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "tgt.h"

#define CHILDREN 10
#define THREADS 3
#define LEAF_BLOCKS 1000

extern char **environ;
static const char *self;
static int stop;

static void allocate(int blocks)
{
	for (int i = 0; i < blocks; i++) {
		void *p = tgt_malloc(40 + i % 100);

		if (i % 10)
			tgt_free(p, 40 + i % 100);
	}
}

static void *keep_busy(void *argument)
{
	(void)argument;
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE))
		allocate(100);
	return NULL;
}

/* From here on standard output is this process's own file. */
static void own_output(void)
{
	const char *prefix = getenv("FORKS_PREFIX");
	char path[4096];
	int fd;

	if (!prefix)
		return;
	snprintf(path, sizeof(path), "%s.%d", prefix, (int)getpid());
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0)
		_exit(1);
	close(fd);
}

/* A forked child counts from zero: its trace is its own. */
static void start_anew(void)
{
	memset(&tgt_counts, 0, sizeof(tgt_counts));
	own_output();
}

static void make_grandchild(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		start_anew();
		allocate(100);
		tgt_report();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	allocate(10);
}

static void be_child(int n)
{
	start_anew();
	allocate(LEAF_BLOCKS + n);
	if (n == CHILDREN - 1)
		make_grandchild();
	tgt_report();
	if (n % 2)
		exit(0);
	_exit(0);
}

static void run_leaf(void)
{
	char *argv[] = { (char *)self, "leaf", NULL };

	execv(self, argv);
	_exit(127);
}

static void await(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		exit(3);
}

static void child_by_fork(int n)
{
	pid_t pid = fork();

	if (pid == 0)
		be_child(n);
	await(pid);
}

/* From many stacks, hardly one of them twice. */
static void descend(int depth, int turn)
{
	if (turn % 2)
		allocate(1);
	if (depth)
		descend(depth - 1, turn / 2 + depth);
	else
		allocate(1);
}

static void *fork_deep(void *n)
{
	pid_t pid = fork();

	if (pid == 0) {
		start_anew();
		for (int i = 0; i < LEAF_BLOCKS; i++)
			descend(i % 30, i + *(int *)n);
		tgt_report();
		_exit(0);
	}
	await(pid);
	return NULL;
}

static void child_by_thread(int n)
{
	pthread_t thread;

	/* every second one by the main thread */
	if (n % 2) {
		fork_deep(&n);
		return;
	}
	if (pthread_create(&thread, NULL, fork_deep, &n))
		exit(3);
	pthread_join(thread, NULL);
}

static void child_by_exec(int n)
{
	pid_t pid = fork();

	if (pid == 0) {
		if (n % 2)
			allocate(50);
		run_leaf();
	}
	await(pid);
}

static void child_by_vfork(int n)
{
	pid_t pid = vfork();

	if (pid == 0) {
		if (n % 2)
			_exit(0);
		run_leaf();
	}
	await(pid);
}

static void child_by_spawn(int n)
{
	char *argv[] = { (char *)self, "leaf", NULL };
	pid_t pid;

	(void)n;
	if (posix_spawn(&pid, self, NULL, NULL, argv, environ))
		exit(3);
	await(pid);
}

static int leaf(void)
{
	own_output();
	allocate(LEAF_BLOCKS);
	tgt_report();
	return 0;
}

static void make_children(void (*child)(int))
{
	pthread_t thread[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, keep_busy, NULL);
	for (int i = 0; i < CHILDREN; i++) {
		allocate(20);
		child(i);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*child)(int);
	} ways[] = {
		{ "fork", child_by_fork },
		{ "threads", child_by_thread },
		{ "exec", child_by_exec },
		{ "vfork", child_by_vfork },
		{ "spawn", child_by_spawn },
	};
	const char *way = argc > 1 ? argv[1] : "fork";

	self = argv[0];
	if (!strcmp(way, "leaf"))
		return leaf();
	if (!strcmp(way, "same")) {
		allocate(500);
		tgt_report();
		run_leaf();
	}
	for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(way, ways[i].name))
			make_children(ways[i].child);
	tgt_report();
	return 0;
}
