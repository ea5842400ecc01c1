/*
 * brief.c: a forked child that records little, in a group of its own.
 *
 *	brief exits	it ends by _exit
 *	brief killed	it kills its group
 *	brief stopped	it stops its group; its parent lets it go on when the
 *			standard input ends, and it ends
 *	brief forks	it forks another child, which does the same as it
 *	brief unshares	it leaves a namespace
 *	brief many	it allocates more than its first ring holds
 *
 * A child writes its numbers to FORKS_PREFIX.<pid>, and then its number to its
 * parent's standard output.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include "tgt.h"

#define BLOCKS 40
#define MANY 20000

static int out;

static void allocate(int blocks)
{
	for (int i = 0; i < blocks; i++) {
		void *p = tgt_malloc(40 + i % 100);

		if (i % 3)
			tgt_free(p, 40 + i % 100);
	}
}

static void own_output(void)
{
	char path[4096];
	int fd;

	memset(&tgt_counts, 0, sizeof(tgt_counts));
	snprintf(path, sizeof(path), "%s.%d", getenv("FORKS_PREFIX"),
		 (int)getpid());
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0)
		_exit(1);
	close(fd);
}

static void say(void)
{
	tgt_report();
	dprintf(out, "%d\n", (int)getpid());
}

static void be_child(const char *way)
{
	setpgid(0, 0);
	own_output();
	allocate(strcmp(way, "many") ? BLOCKS : MANY);
	if (!strcmp(way, "forks") && fork() == 0) {
		own_output();
		allocate(BLOCKS);
	}
	if (!strcmp(way, "unshares") && unshare(CLONE_FS))
		_exit(2);
	say();
	if (!strcmp(way, "killed"))
		kill(0, SIGKILL);
	if (!strcmp(way, "stopped"))
		kill(0, SIGSTOP);
	while (!strcmp(way, "forks") && wait(NULL) > 0)
		;
	_exit(0);
}

int main(int argc, char **argv)
{
	pid_t pid;
	char byte;

	if (argc < 2)
		return 2;
	out = dup(STDOUT_FILENO);
	free(tgt_malloc(10));
	pid = fork();
	if (pid == 0)
		be_child(argv[1]);
	if (!strcmp(argv[1], "stopped")) {
		waitpid(pid, NULL, WUNTRACED);
		if (read(STDIN_FILENO, &byte, 1))
			return 3;
		kill(pid, SIGCONT);
	}
	return waitpid(pid, NULL, 0) != pid;
}
