// FLAGS: -pthread -D_GNU_SOURCE
/*
 * fork_trees.c WAY: children without exec, made in all possible ways.
 *
 *	chain		each child forks the next
 *	many		two hundred, some twenty at a time
 *	threads		from four threads at once
 *	handler		in a signal handler, which may have interrupted malloc
 *	workers		servers that serve some requests and are replaced
 *	clone		raw and _Fork, with shared files, with the same parent
 *	shared		vfork, and clone with the parent's memory
 *	loader		while another thread is inside dl_iterate_phdr
 *
 * Numbers as in forks.c: a separate process reports into PREFIX.<pid>; a child
 * that shares its parent's memory counts there.
 */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "tgt.h"

#define STACK (256 << 10)

static void allocate(int blocks)
{
	for (int i = 0; i < blocks; i++) {
		void *p = tgt_malloc(40 + i % 100);

		if (i % 10)
			tgt_free(p, 40 + i % 100);
	}
}

static void start_anew(void)
{
	const char *prefix = getenv("FORKS_PREFIX");
	char path[4096];
	int fd;

	memset(&tgt_counts, 0, sizeof(tgt_counts));
	if (!prefix)
		return;
	snprintf(path, sizeof(path), "%s.%ld", prefix, syscall(SYS_getpid));
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0)
		_exit(1);
	close(fd);
}

static void await_all(void)
{
	int status;

	for (;;) {
		pid_t pid = wait(&status);

		if (pid < 0 && errno == ECHILD)
			return;
		if (pid > 0 && status)
			_exit(3);
	}
}

static void be_child(int blocks)
{
	start_anew();
	allocate(blocks);
	tgt_report();
	_exit(0);
}

static void by_chain(void)
{
	for (int i = 0; i < 15; i++) {
		allocate(10);
		if (fork()) {
			await_all();
			if (i)
				tgt_report();
			else
				return;
			_exit(0);
		}
		start_anew();
	}
	allocate(10);
	tgt_report();
	_exit(0);
}

static void by_many(void)
{
	for (int i = 0; i < 200; i++) {
		if (fork() == 0)
			be_child(50 + i);
		if (i % 20 == 19)
			await_all();
		allocate(3);
	}
}

static void *fork_some(void *argument)
{
	for (int i = 0; i < 8; i++) {
		allocate(100);
		if (fork() == 0)
			be_child(100 + i);
	}
	return argument;
}

static void by_threads(void)
{
	pthread_t thread[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, fork_some, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	await_all();
}

static volatile sig_atomic_t forks;

/* Only what is allowed in a handler: _Fork, and blocks of its own that are
 * not taken from the allocator that it may have interrupted. */
static void on_alarm(int number)
{
	pid_t pid = number && forks < 20 ? (forks++, _Fork()) : 1;

	if (pid == 0)
		_exit(0);
}

static void by_handler(void)
{
	struct sigaction action = { .sa_handler = on_alarm,
				    .sa_flags = SA_RESTART };
	struct itimerval often = { { 0, 2000 }, { 0, 2000 } };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	while (forks < 20)
		allocate(100);
	often = (struct itimerval){ { 0, 0 }, { 0, 0 } };
	setitimer(ITIMER_REAL, &often, NULL);
	await_all();
	/* and one that goes on as a program, from a quiet moment */
	raise(SIGUSR1);
}

static void on_user(int number)
{
	if (number && fork() == 0)
		be_child(77);
}

enum { ANSWER = 'a', LAST_ANSWER = 'l' };

#define SERVED 10	/* requests, by each worker */

/* A server's worker: a request is a byte, and so is the answer. */
static void work(int requests, int not_ours, int answers)
{
	char c;

	close(not_ours);
	start_anew();
	for (int served = 0; served < SERVED && read(requests, &c, 1) == 1;
	     served++) {
		allocate(30);
		c = served + 1 < SERVED ? ANSWER : LAST_ANSWER;
		if (write(answers, &c, 1) != 1)
			_exit(1);
	}
	tgt_report();
	_exit(0);
}

static void by_workers(void)
{
	int requests[2], answers[2], sent = 0, served = 0;
	char c = 'x';

	if (pipe(requests) || pipe(answers))
		_exit(1);
	for (int i = 0; i < 4; i++)
		if (fork() == 0)
			work(requests[0], requests[1], answers[1]);
	while (served < 200) {
		while (sent < 200 && sent - served < 8 && ++sent)
			if (write(requests[1], &c, 1) != 1)
				_exit(1);
		if (read(answers[0], &c, 1) != 1)
			_exit(1);
		served++;
		allocate(5);
		if (c == LAST_ANSWER && waitpid(-1, NULL, 0) > 0 &&
		    fork() == 0)
			work(requests[0], requests[1], answers[1]);
	}
	/* those that still wait for a request find none */
	close(requests[1]);
}

static void by_clone(void)
{
	static const unsigned long flags[] = {
		SIGCHLD, CLONE_FILES | SIGCHLD, CLONE_FS | SIGCHLD,
		CLONE_FILES | CLONE_FS | SIGCHLD,
	};

	for (unsigned i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		allocate(20);
		if (syscall(SYS_clone, flags[i], 0, 0, 0, 0) == 0) {
			/* a shared table has no output of its own */
			if (flags[i] & CLONE_FILES)
				unshare(CLONE_FILES);
			be_child(60 + i);
		}
		await_all();
	}
	if (_Fork() == 0)
		be_child(90);
	await_all();
	/* a child that makes a sibling */
	if (fork() == 0) {
		if (syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0))
			be_child(70);
		be_child(80);
	}
	usleep(100000);
	await_all();
}

static int use_parents_memory(void *argument)
{
	allocate(*(int *)argument);
	_exit(0);
}

static void by_shared_memory(void)
{
	char *stack = malloc(STACK);
	int blocks = 50, pid;

	for (int i = 0; i < 10; i++) {
		pid = vfork();
		if (pid == 0) {
			allocate(blocks);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
		allocate(5);
		pid = clone(use_parents_memory, stack + STACK,
			    CLONE_VM | CLONE_VFORK | SIGCHLD, &blocks);
		waitpid(pid, NULL, 0);
		allocate(5);
		/* the parent does nothing until it has ended */
		pid = clone(use_parents_memory, stack + STACK,
			    CLONE_VM | SIGCHLD, &blocks);
		waitpid(pid, NULL, 0);
	}
	free(stack);
}

static int loading = 1;

static int linger(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)info, (void)size, (void)data;
	usleep(3000);
	return 0;
}

static void *keep_looking(void *argument)
{
	while (__atomic_load_n(&loading, __ATOMIC_ACQUIRE))
		dl_iterate_phdr(linger, NULL);
	return argument;
}

static void by_loader(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, keep_looking, NULL);
	for (int i = 0; i < 20; i++) {
		usleep(2000);
		if (fork() == 0)
			be_child(60);
	}
	await_all();
	__atomic_store_n(&loading, 0, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*by)(void);
	} ways[] = {
		{ "chain", by_chain }, { "many", by_many },
		{ "threads", by_threads }, { "handler", by_handler },
		{ "workers", by_workers }, { "clone", by_clone },
		{ "shared", by_shared_memory }, { "loader", by_loader },
	};
	const char *way = argc > 1 ? argv[1] : "chain";

	signal(SIGUSR1, on_user);
	allocate(20);
	for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(way, ways[i].name))
			ways[i].by();
	await_all();
	tgt_report();
	return 0;
}
