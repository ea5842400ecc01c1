// FLAGS: -pthread -D_GNU_SOURCE
/*
 * daemon.c RESULT ROOT WAY: becomes a daemon in the traditional way, and then
 * allocates with threads of its own: forks twice, makes a session, changes to
 * "/", sets the umask, closes all descriptors, one by one ("each") or by
 * close_range() ("range"), and opens /dev/null for 0, 1 and 2. If ROOT is not
 * "-" it makes that empty directory its root.
 *
 * It writes its observations and counts to the file RESULT, which it opens with
 * nothing else open, before the change of root. Its last line is "end 1".
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

#include "tgt.h"

#define DESCRIPTORS 1024
#define BLOCKS 20000
#define THREADS 4

static void *work(void *argument)
{
	size_t size = (uintptr_t)argument;

	for (int i = 0; i < BLOCKS; i++) {
		void *p = tgt_malloc(size);

		if (i % 10)
			tgt_free(p, size);
		if (i % 1000 == 0)
			usleep(1000);
	}
	return NULL;
}

/* As many forks as a daemon makes; only the last child goes on. */
static void leave_parents(void)
{
	for (int i = 0; i < 2; i++) {
		pid_t pid = fork();

		if (pid)
			_exit(pid < 0);
		if (i == 0 && setsid() < 0)
			_exit(1);
		/* what the parent had is the parent's */
		memset(&tgt_counts, 0, sizeof(tgt_counts));
		tgt_free(tgt_malloc(77), 77);
	}
}

struct closes {
	uint64_t done, error, range;
};

static void close_all(int by_range, struct closes *closes)
{
	if (by_range) {
		closes->range = close_range(0, ~0u, 0);
	} else {
		for (int fd = 0; fd < DESCRIPTORS; fd++)
			if (close(fd) == 0)
				closes->done++;
			else
				closes->error = errno;
	}
	if (open("/dev/null", O_RDWR) != 0 || dup(0) != 1 || dup(0) != 2)
		_exit(2);
}

/* Each that is open a line, by asking for it. */
static void print_open(void)
{
	for (int fd = 0; fd < DESCRIPTORS; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			tgt_print("open", fd);
}

static void print_entries(const char *key, const char *path)
{
	DIR *directory = opendir(path);
	struct dirent *entry;
	uint64_t entries = 0;

	if (!directory) {
		tgt_print("errno", errno);
		return;
	}
	while ((entry = readdir(directory)))
		entries++;
	closedir(directory);
	tgt_print(key, entries);
}

static void allocate(void)
{
	pthread_t thread[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, work,
				   (void *)(i * 100 + 10)))
			_exit(4);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

int main(int argc, char **argv)
{
	struct closes closes = { 0 };

	if (argc < 4)
		return 2;
	tgt_free(tgt_malloc(10), 10);
	leave_parents();
	if (chdir("/"))
		return 3;
	umask(027);
	close_all(!strcmp(argv[3], "range"), &closes);
	if (open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600) < 0 ||
	    dup2(3, 1) < 0)
		return 3;
	tgt_print("closed", closes.done);
	tgt_print("error", closes.error);
	tgt_print("range", closes.range);
	print_open();
	print_entries("descriptors", "/proc/self/fd");
	print_entries("tasks", "/proc/self/task");
	if (strcmp(argv[2], "-"))
		tgt_print("chroot", chroot(argv[2]) || chdir("/"));
	allocate();
	print_open();
	print_entries("root", ".");
	tgt_report();
	tgt_print("end", 1);
	return 0;
}
