/*
 * index_cost.c: the cost of making a trace's index. Prints JSON.
 *
 *	bench-index TRACE FILE [OLDER]	a store of the trace, in FILE, out of one
 *					of the trace when it was shorter
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "cli/model/index/index_build.h"
#include "cli/store/store.h"

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void fail(const char *what, int error)
{
	fprintf(stderr, "bench-index: %s: %s\n", what, strerror(error));
	exit(1);
}

static struct store *open_store(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct store *store;

	if (fd < 0)
		fail(path, errno);
	if (store_open(fd, path, NULL, &store) != STORE_GOOD)
		fail(path, EINVAL);
	return store;
}

int main(int argc, char **argv)
{
	struct index_build build = { 0 };
	struct store *older = NULL;
	struct rusage usage;
	uint64_t wall, cpu;
	int error;

	if (argc < 3 || argc > 4) {
		fprintf(stderr, "usage: bench-index TRACE FILE [OLDER]\n");
		return 2;
	}
	if (argc == 4)
		older = open_store(argv[3]);
	build.trace = argv[1];
	build.older = older;
	build.fd = open(argv[2], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (build.fd < 0)
		fail(argv[2], errno);
	wall = clock_ns(CLOCK_MONOTONIC);
	cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	error = index_build(&build);
	if (error != 0)
		fail(argv[1], -error);
	getrusage(RUSAGE_SELF, &usage);
	printf("{\"events\": %" PRIu64 ", \"rows\": %" PRIu64 ", \"live\": %"
	       PRIu64 ", \"bytes\": %" PRIu64 ", \"extended\": %s, "
	       "\"wall_ns\": %" PRIu64 ", \"cpu_ns\": %" PRIu64
	       ", \"rss_kb\": %ld}\n", build.events, build.rows, build.live,
	       build.bytes, build.older != NULL ? "true" : "false",
	       clock_ns(CLOCK_MONOTONIC) - wall,
	       clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu, usage.ru_maxrss);
	store_close(older);
	close(build.fd);
	return 0;
}
