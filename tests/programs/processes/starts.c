// FLAGS: -pthread -D_GNU_SOURCE
/*
 * starts.c: starts itself as "starts leaf NAME" in every way, one after the
 * other, with the environment as it is and with others. A leaf prints its
 * environment in full, and allocates. So does a child made by fork without
 * exec.
 *
 *	starts		all of it
 *	starts many	in an environment of some ten thousand entries
 *	starts as FILE	all of it with another program in its place
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tgt.h"

#define MANY 12000

extern char **environ;
static char self[4096];
static char *own[] = { "OWN=1", "PATH=/bin", NULL };
static char *with_preload[] = { "LD_PRELOAD=libdl.so.2", "Z=26", NULL };
static char *empty[] = { NULL };

static int leaf(const char *name)
{
	tgt_write(name);
	tgt_write(":\n");
	for (char **at = environ; at && *at; at++) {
		if (!strncmp(*at, "MANY", 4))
			continue;
		tgt_write("  ");
		tgt_write(*at);
		tgt_write("\n");
	}
	tgt_free(tgt_malloc(100), 100);
	return 0;
}

#define ARGV(name) ((char *[]){ self, "leaf", name, NULL })

static void by_execve(void) { execve(self, ARGV("execve"), environ); }
static void by_own(void) { execve(self, ARGV("own"), own); }
static void by_empty(void) { execve(self, ARGV("empty"), empty); }
static void by_null(void) { execve(self, ARGV("null"), NULL); }
static void by_other(void) { execve(self, ARGV("other"), with_preload); }
static void by_execv(void) { execv(self, ARGV("execv")); }
static void by_execvp(void) { execvp(self, ARGV("execvp")); }
static void by_execvpe(void) { execvpe(self, ARGV("execvpe"), own); }
static void by_execl(void) { execl(self, self, "leaf", "execl", NULL); }
static void by_execlp(void) { execlp(self, self, "leaf", "execlp", NULL); }
static void by_execle(void)
{
	execle(self, self, "leaf", "execle", NULL, own);
}
static void by_fexecve(void)
{
	fexecve(open(self, O_RDONLY), ARGV("fexecve"), environ);
}
static void by_execveat(void)
{
	execveat(AT_FDCWD, self, ARGV("execveat"), own, 0);
	if (errno == ENOSYS)	/* an emulator */
		execve(self, ARGV("execveat"), own);
}
static void by_syscall(void)
{
	syscall(SYS_execve, self, ARGV("syscall"), own);
}
static void by_setenv(void)
{
	setenv("NEW", "x", 1);
	unsetenv("HOME");
	execv(self, ARGV("setenv"));
}
static void by_clearenv(void)
{
	clearenv();
	execv(self, ARGV("clearenv"));
}

static void (*const ways[])(void) = {
	by_execve, by_own, by_empty, by_null, by_other, by_execv, by_execvp,
	by_execvpe, by_execl, by_execlp, by_execle, by_fexecve, by_execveat,
	by_syscall, by_setenv, by_clearenv,
};

static void await(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		exit(3);
}

static void by_exec(int shared)
{
	for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		/* who changes its environment must have one */
		pid_t pid = shared && ways[i] != by_setenv &&
					ways[i] != by_clearenv ?
				    vfork() : fork();

		if (pid == 0) {
			ways[i]();
			_exit(127);
		}
		await(pid);
	}
}

static void by_spawn(void)
{
	pid_t pid;

	if (posix_spawn(&pid, self, NULL, NULL, ARGV("spawn"), own))
		exit(3);
	await(pid);
	if (posix_spawnp(&pid, self, NULL, NULL, ARGV("spawnp"), environ))
		exit(3);
	await(pid);
	tgt_print("missing", posix_spawn(&pid, "/nowhere", NULL, NULL,
					 ARGV("none"), own));
}

static int stop;

/* Changes the environment while others are started. */
static void *keep_changing(void *argument)
{
	char value[16];

	for (int i = 0; !__atomic_load_n(&stop, __ATOMIC_ACQUIRE); i++) {
		snprintf(value, sizeof(value), "%d", i % 7);
		setenv("CHANGING", value, 1);
		usleep(500);
	}
	return argument;
}

static void by_shell(void)
{
	char command[5000], line[256];
	FILE *pipe;

	snprintf(command, sizeof(command), "%s leaf system", self);
	tgt_print("system", system(command));
	tgt_print("shell", system(NULL));
	snprintf(command, sizeof(command), "%s leaf popen; exit 5", self);
	pipe = popen(command, "r");
	while (pipe && fgets(line, sizeof(line), pipe))
		tgt_write(line);
	tgt_print("pclose", pipe ? pclose(pipe) : -1);
	leaf("afterwards");
}

/* Nothing of ours stays behind, whoever changes what meanwhile. */
static void by_shell_while_changing(void)
{
	pthread_t thread;

	setenv("CHANGING", "", 1);
	pthread_create(&thread, NULL, keep_changing, NULL);
	for (int i = 0; i < 10; i++)
		if (system("sleep 0.01"))
			exit(3);
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	unsetenv("CHANGING");
	leaf("changed");
}

static void errors(void)
{
	errno = 0;
	tgt_print("execve", execve("/nowhere", ARGV("none"), own) + 2);
	tgt_print("errno", errno);
	tgt_print("execvp", execvp("nowhere-at-all", ARGV("none")) + 2);
	tgt_print("errno", errno);
	tgt_print("execl", execl("/", "x", NULL) + 2);
	tgt_print("errno", errno);
}

static void make_many(void)
{
	char name[32];

	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "MANY%d", i);
		setenv(name, "0123456789", 1);
	}
}

int main(int argc, char **argv, char **envp)
{
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n < 0)
		return 3;
	if (argc > 2 && !strcmp(argv[1], "leaf"))
		return leaf(argv[2]);
	if (argc > 2 && !strcmp(argv[1], "as"))
		snprintf(self, sizeof(self), "%s", argv[2]);
	else if (argc > 1)
		make_many();
	if (argc != 2 && envp != environ)
		return 4;
	leaf("main");
	if (fork() == 0) {
		leaf("forked");
		_exit(0);
	}
	if (wait(NULL) < 0)
		return 3;
	by_exec(0);
	by_exec(1);
	by_spawn();
	if (argc != 2) {
		by_shell();
		by_shell_while_changing();
	}
	errors();
	return 0;
}
