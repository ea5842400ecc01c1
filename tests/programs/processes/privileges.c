// FLAGS: -pthread -D_GNU_SOURCE
/*
 * privileges.c WAY: drops privileges in the named way, while a thread
 * allocates, prints "now", waits for a line, and reports.
 *
 *	setuid		setgroups, setgid, setuid
 *	setres		setresgid, setresuid, as most daemons
 *	many		the same with thousands of groups
 *	init		initgroups, setreuid, setregid
 *	raw		the system calls themselves
 *	caps		capset and the bounding set, no new privileges
 *	there		seteuid, and back
 *	space		a user namespace of its own, and another user there
 *	exec		setuid, then another program
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "tgt.h"

#define NOBODY 65534
#define MANY 5000

int capset(void *header, const void *data);

static int stop;

static void *keep_busy(void *argument)
{
	(void)argument;
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		tgt_free(tgt_malloc(100), 100);
		usleep(1000);
	}
	return NULL;
}

static void must(const char *what, int result)
{
	int error = errno;

	if (!result)
		return;
	perror(what);	/* may change errno */
	_exit(error == EPERM || error == ENOSPC ? 77 : 3);
}

static void by_setuid(void)
{
	gid_t groups[] = { 12, 34 };

	must("setgroups", setgroups(2, groups));
	must("setgid", setgid(NOBODY));
	must("setuid", setuid(NOBODY));
}

static void by_setres(void)
{
	must("setgroups", setgroups(0, NULL));
	must("setresgid", setresgid(NOBODY, NOBODY, NOBODY));
	must("setresuid", setresuid(NOBODY, NOBODY, NOBODY));
}

static void by_many(void)
{
	static gid_t groups[MANY];
	unsigned i;

	for (i = 0; i < MANY; i++)
		groups[i] = 1000 + 3 * i;
	must("setgroups", setgroups(MANY, groups));
	must("setresuid", setresuid(NOBODY, NOBODY, NOBODY));
}

static void by_init(void)
{
	must("initgroups", initgroups("nobody", 77));
	must("setregid", setregid(NOBODY, NOBODY));
	must("setreuid", setreuid(NOBODY, NOBODY));
}

static void by_raw(void)
{
	must("setresuid", syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY));
}

static void by_caps(void)
{
	struct __user_cap_header_struct header = {
		_LINUX_CAPABILITY_VERSION_3, 0
	};
	struct __user_cap_data_struct data[2] = {
		{ 1u << CAP_KILL, 1u << CAP_KILL, 0 }, { 0, 0, 0 }
	};

	must("drop", prctl(PR_CAPBSET_DROP, CAP_SYS_MODULE, 0, 0, 0));
	must("capset", capset(&header, data));
	must("no new", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
}

static void by_there(void)
{
	must("setegid", setegid(NOBODY));
	must("seteuid", seteuid(NOBODY));
	tgt_free(tgt_malloc(5), 5);
	must("seteuid", seteuid(0));
	must("setegid", setegid(0));
}

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		must(path, -1);
	close(fd);
}

static void by_space(void)
{
	must("unshare", unshare(CLONE_NEWUSER));
	put("/proc/self/uid_map", "5 0 1\n");
	must("setresuid", setresuid(5, 5, 5));
}

static void check_errors(void)
{
	errno = 0;
	tgt_print("again", setuid(0) != 0);
	tgt_print("errno", errno);
	errno = 42;
	tgt_print("same", setuid(geteuid()) == 0);
	tgt_print("errno", errno);
}

static void wait_for_a_line(void)
{
	char c = 0;

	tgt_write("now\n");
	while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
		;
}

static void give_up(const char *way)
{
	static const struct {
		const char *name;
		void (*by)(void);
	} ways[] = {
		{ "setuid", by_setuid }, { "setres", by_setres },
		{ "many", by_many },
		{ "init", by_init }, { "raw", by_raw }, { "caps", by_caps },
		{ "there", by_there }, { "space", by_space },
		{ "exec", by_setuid },
	};

	for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(way, ways[i].name))
			ways[i].by();
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "setuid";
	int alone = !strcmp(way, "space") || !strcmp(way, "raw");
	pthread_t thread;

	tgt_free(tgt_malloc(10), 10);
	if (!alone)
		pthread_create(&thread, NULL, keep_busy, NULL);
	give_up(way);
	if (strcmp(way, "there") && strcmp(way, "caps") && strcmp(way, "space"))
		check_errors();
	wait_for_a_line();
	if (!strcmp(way, "exec"))
		execl("/bin/cat", "cat", NULL);
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	if (!alone)
		pthread_join(thread, NULL);
	tgt_report();
	return 0;
}
