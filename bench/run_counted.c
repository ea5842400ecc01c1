/*
 * run_counted.c: run a command and say what it took, as JSON in a file.
 *
 *	bench-run RESULT COMMAND [ARGUMENTS]
 *
 * Wall time from before exec to the command's end, CPU time and the largest
 * resident size from wait4(2), and what perf_event_open(2) counts in user
 * space over the command and its children: null where the machine or its
 * policy does not grant the counter (virtual machines mostly have none for
 * instructions and branches). Exits as the command did.
 *
 * The child waits at a pipe until its counters are open; they start at exec.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct run_counter {
	const char *name;
	uint32_t type;
	uint64_t config;
	int fd;
} run_counters[] = {
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, -1 },
	{ "branch_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES,
	  -1 },
	{ "page_faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, -1 },
};
#define RUN_COUNTERS (sizeof(run_counters) / sizeof(*run_counters))

static uint64_t run_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static uint64_t run_ns(const struct timeval *tv)
{
	return (uint64_t)tv->tv_sec * 1000000000u +
	       (uint64_t)tv->tv_usec * 1000u;
}

/* A counter that cannot be had stays at -1 and is reported as null. */
static void run_open_counters(pid_t pid)
{
	struct perf_event_attr attr;
	size_t i;

	for (i = 0; i < RUN_COUNTERS; i++) {
		memset(&attr, 0, sizeof(attr));
		attr.size = sizeof(attr);
		attr.type = run_counters[i].type;
		attr.config = run_counters[i].config;
		attr.disabled = 1;
		attr.enable_on_exec = 1;
		attr.inherit = 1;
		attr.exclude_kernel = 1;
		attr.exclude_hv = 1;
		run_counters[i].fd = (int)syscall(SYS_perf_event_open, &attr,
						  pid, -1, -1,
						  PERF_FLAG_FD_CLOEXEC);
	}
}

static void run_print_counters(FILE *out)
{
	uint64_t value;
	size_t i;

	for (i = 0; i < RUN_COUNTERS; i++) {
		fprintf(out, ",\"%s\":", run_counters[i].name);
		if (run_counters[i].fd >= 0 &&
		    read(run_counters[i].fd, &value, sizeof(value)) ==
			    sizeof(value))
			fprintf(out, "%" PRIu64, value);
		else
			fputs("null", out);
	}
}

static int run_child(int gate, char **argv)
{
	char byte;

	if (read(gate, &byte, 1) != 1)
		return 125;
	execvp(argv[0], argv);
	fprintf(stderr, "bench: %s: %s\n", argv[0], strerror(errno));
	return 127;
}

int main(int argc, char **argv)
{
	struct rusage usage;
	uint64_t wall;
	int status, gate[2];
	FILE *out;
	pid_t pid;

	if (argc < 3) {
		fprintf(stderr, "usage: bench-run RESULT COMMAND …\n");
		return 2;
	}
	out = fopen(argv[1], "we");
	if (!out || pipe(gate) != 0 || (pid = fork()) < 0) {
		fprintf(stderr, "bench: %s: %s\n", argv[1], strerror(errno));
		return 125;
	}
	if (pid == 0) {
		close(gate[1]);
		_exit(run_child(gate[0], argv + 2));
	}
	run_open_counters(pid);
	wall = run_now();
	if (write(gate[1], "", 1) != 1 ||
	    wait4(pid, &status, 0, &usage) != pid) {
		fprintf(stderr, "bench: %s\n", strerror(errno));
		return 125;
	}
	wall = run_now() - wall;
	fprintf(out, "{\"wall_ns\":%" PRIu64 ",\"user_ns\":%" PRIu64
		",\"system_ns\":%" PRIu64 ",\"rss_kb\":%ld", wall,
		run_ns(&usage.ru_utime), run_ns(&usage.ru_stime),
		usage.ru_maxrss);
	run_print_counters(out);
	fputs("}\n", out);
	if (fclose(out) != 0)
		return 125;
	return WIFEXITED(status) ? WEXITSTATUS(status) :
				   128 + WTERMSIG(status);
}
