// FLAGS: -pthread -D_GNU_SOURCE
/*
 * naming.c: threads get names in every way, including refused ones. Prints the
 * results of the calls.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "tgt.h"

static pthread_barrier_t step;

static void use(void)
{
	tgt_free(tgt_malloc(60), 60);
}

static void answer(const char *what, int result, int error)
{
	tgt_print(what, (uint64_t)(unsigned)result);
	tgt_print("  errno", error);
}

/* Named by itself, more than once, and in vain. */
static void *self(void *unused)
{
	use();
	answer("set", pthread_setname_np(pthread_self(), "self one"), 0);
	use();
	answer("too_long", pthread_setname_np(pthread_self(),
					      "sixteen letters!"), 0);
	errno = 0;
	answer("bad", prctl(PR_SET_NAME, 8, 0, 0, 0), errno);
	errno = 77;
	answer("kept", prctl(PR_SET_NAME, "self two, and so on", 0, 0, 0),
	       errno);
	use();
	return unused;
}

/* Named by another. */
static void *other(void *unused)
{
	use();
	pthread_barrier_wait(&step);
	pthread_barrier_wait(&step);
	use();
	return unused;
}

/* By a system call that no function makes. */
static void *raw(void *unused)
{
	use();
	answer("raw", syscall(SYS_prctl, PR_SET_NAME, "raw one"), 0);
	use();
	return unused;
}

/* Through a file, which is noticed later. */
static void *by_file(void *unused)
{
	char path[64];
	int fd;

	use();
	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", gettid());
	fd = open(path, O_WRONLY);
	answer("file", write(fd, "by file", 7), 0);
	close(fd);
	sleep(2);
	use();
	return unused;
}

/* Has the name of who made it. */
static void *heir(void *unused)
{
	use();
	return unused;
}

/* Allocates nothing at all. */
static void *silent(void *unused)
{
	pthread_setname_np(pthread_self(), "silent one");
	return unused;
}

/* Does nothing that is recorded for a while. */
static void *late(void *unused)
{
	usleep(300000);
	use();
	return unused;
}

/* With a name that would do harm where it is printed. */
static void *hostile(void *unused)
{
	use();
	pthread_setname_np(pthread_self(), "\033[31mred\n\"\\");
	return unused;
}

static pthread_t start(void *(*function)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, function, NULL))
		abort();
	return thread;
}

int main(void)
{
	static void *(*const one_by_one[])(void *) = {
		self, raw, by_file, heir, silent, hostile, late
	};
	pthread_t thread;
	char name[16];

	use();
	prctl(PR_SET_NAME, "the parent", 0, 0, 0);
	pthread_barrier_init(&step, NULL, 2);
	thread = start(other);
	pthread_barrier_wait(&step);
	answer("other", pthread_setname_np(thread, "other one"), 0);
	pthread_getname_np(thread, name, sizeof(name));
	tgt_print(name, 0);
	pthread_barrier_wait(&step);
	pthread_join(thread, NULL);
	for (size_t i = 0; i < sizeof(one_by_one) / sizeof(*one_by_one); i++)
		pthread_join(start(one_by_one[i]), NULL);
	tgt_report();
	return 0;
}
