// FLAGS: -D_GNU_SOURCE
/*
 * unshare.c: unshare and setns, each in a child of its own that allocates
 * before and after; prints each result, and errno.
 *
 *	spaces		all of them
 *	spaces NUMBER	unshare(NUMBER) alone, in this process
 *	spaces time	a time namespace of its own, in this process
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>

#include "tgt.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

static void allocate(void)
{
	for (int i = 0; i < 1000; i++)
		tgt_free(tgt_malloc(100), 100);
}

static void answer(const char *what, int result)
{
	tgt_print(what, (uint64_t)(result + 2));
	tgt_print("errno", (uint64_t)errno);
}

static void by_unshare(int flags)
{
	errno = 99;
	answer("unshare", unshare(flags));
}

static void by_time(void)
{
	int fd;

	errno = 99;
	answer("unshare", unshare(CLONE_NEWTIME));
	fd = open("/proc/self/ns/time_for_children", O_RDONLY);
	errno = 99;
	answer("setns", setns(fd, CLONE_NEWTIME));
	answer("again", setns(fd, 0));
	answer("wrong", setns(fd, CLONE_NEWNET));
	close(fd);
}

static void by_itself(void)
{
	static const char *const names[] = {
		"cgroup", "ipc", "mnt", "net", "pid", "user", "uts", "time"
	};
	char path[64];

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int fd;

		snprintf(path, sizeof(path), "/proc/self/ns/%s", names[i]);
		fd = open(path, O_RDONLY);
		errno = 99;
		answer(names[i], setns(fd, 0));
		close(fd);
	}
}

static void by_user(void)
{
	by_unshare(CLONE_NEWUSER);
	by_unshare(CLONE_NEWNS | CLONE_NEWPID);
	by_unshare(CLONE_VM);
	if (fork() == 0) {
		allocate();
		tgt_print("is 1", getpid() == 1);	/* in a pid namespace */
		_exit(0);
	}
	wait(NULL);
}

static void in_child(void (*fn)(void), int flags)
{
	if (fork() == 0) {
		allocate();
		if (fn)
			fn();
		else
			by_unshare(flags);
		allocate();
		_exit(0);
	}
	wait(NULL);
}

int main(int argc, char **argv)
{
	static const int flags[] = {
		CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
		CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWTIME,
		CLONE_VM, CLONE_SIGHAND, CLONE_THREAD, CLONE_FS, CLONE_FILES,
		CLONE_SYSVSEM, CLONE_VM | CLONE_NEWUSER, 0x1
	};

	allocate();
	if (argc > 1 && !strcmp(argv[1], "time")) {
		by_time();
	} else if (argc > 1) {
		by_unshare(atoi(argv[1]));
	} else {
		for (unsigned i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
			in_child(NULL, flags[i]);
		in_child(by_itself, 0);
		in_child(by_time, 0);
		in_child(by_user, 0);
	}
	allocate();
	tgt_report();
	return 0;
}
