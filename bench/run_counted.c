/*
 * run_counted.c: runs a command and writes its cost, as JSON, to a file.
 *
 *	bench-run [--adopt] RESULT COMMAND [ARGUMENTS]
 *
 * Wall time from before exec to the command's end; CPU time, page faults and
 * the largest resident size from wait4(2), so of the command itself and of
 * children that it waited for; and perf_event_open(2)'s user-space counts of
 * the command and all its descendants: null where the machine or its policy
 * does not grant the counter (virtual machines mostly have none for
 * instructions and branches). Exits with the command's status.
 *
 * A recorder is no child of the program that it records. With --adopt all
 * remaining descendants of the command become children of bench-run, which
 * waits for them, too, and prints their sums in "adopted", from wait4(2). A
 * recorder's resident memory is sampled each 10 ms, since wait4's number
 * includes its target's before exec: the maximum of one, and the maximum of its
 * unshared memory (its private pages and those of its program). 0: no sample.
 *
 * The child waits at a pipe until its counters are open; they start at exec.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
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

#define RUN_RECORDER "gnomon-recorder"
#define RUN_SAMPLE_NS 10000000
#define RUN_CHILDREN_MAX 64	/* of which the memory is looked at */

/* What processes took, in sum. */
struct run_taken {
	unsigned count;
	uint64_t user_ns, system_ns, faults;
	long rss_kb, own_kb;	/* the most of one */
};

static struct run_taken run_command, run_adopted;
static uint64_t run_start, run_wall;
static int run_status;

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

static void run_add(struct run_taken *taken, const struct rusage *usage)
{
	taken->count++;
	taken->user_ns += run_ns(&usage->ru_utime);
	taken->system_ns += run_ns(&usage->ru_stime);
	taken->faults += (uint64_t)(usage->ru_minflt + usage->ru_majflt);
}

/* Looks at the memory of a process, if it is a recorder. */
static void run_sample_one(pid_t pid)
{
	char path[64], line[256], name[32] = "";
	long anonymous = 0, file = 0, most = 0;
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	status = fopen(path, "re");
	if (!status)
		return;
	while (fgets(line, sizeof(line), status)) {
		sscanf(line, "Name: %31s", name);
		sscanf(line, "VmHWM: %ld", &most);
		sscanf(line, "RssAnon: %ld", &anonymous);
		sscanf(line, "RssFile: %ld", &file);
	}
	fclose(status);
	if (strcmp(name, RUN_RECORDER) != 0)
		return;
	if (most > run_adopted.rss_kb)
		run_adopted.rss_kb = most;
	if (anonymous + file > run_adopted.own_kb)
		run_adopted.own_kb = anonymous + file;
}

static void run_sample(void)
{
	int pids[RUN_CHILDREN_MAX], count = 0;
	char path[64];
	FILE *children;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children",
		 (int)getpid());
	children = fopen(path, "re");
	if (!children)
		return;
	while (count < RUN_CHILDREN_MAX &&
	       fscanf(children, "%d", &pids[count]) == 1)
		count++;
	fclose(children);
	while (count > 0)
		run_sample_one(pids[--count]);
}

/* Takes one that has ended. */
static void run_reap(pid_t ended, pid_t command, int status,
		     const struct rusage *usage)
{
	if (ended != command) {
		run_add(&run_adopted, usage);
		return;
	}
	run_wall = run_now() - run_start;
	run_status = status;
	run_add(&run_command, usage);
	run_command.rss_kb = usage->ru_maxrss;
}

/* Waits for the command, and with `adopt` for all others. */
static int run_wait(pid_t command, bool adopt, const sigset_t *child_ended)
{
	const struct timespec nap = { 0, RUN_SAMPLE_NS };
	struct rusage usage;
	int status;
	pid_t ended;

	for (;;) {
		ended = wait4(adopt ? -1 : command, &status,
			      adopt ? WNOHANG : 0, &usage);
		if (ended < 0)
			return errno == ECHILD && run_command.count ? 0 : -1;
		if (ended > 0)
			run_reap(ended, command, status, &usage);
		if (!adopt)
			return 0;
		if (ended == 0 && sigtimedwait(child_ended, NULL, &nap) < 0)
			run_sample();
	}
}

static void run_print_taken(FILE *out, const struct run_taken *taken)
{
	fprintf(out, "\"user_ns\":%" PRIu64 ",\"system_ns\":%" PRIu64
		",\"faults\":%" PRIu64 ",\"rss_kb\":%ld", taken->user_ns,
		taken->system_ns, taken->faults, taken->rss_kb);
}

static int run_child(int gate, char **argv, const sigset_t *child_ended)
{
	char byte;

	if (read(gate, &byte, 1) != 1)
		return 125;
	sigprocmask(SIG_UNBLOCK, child_ended, NULL);
	execvp(argv[0], argv);
	fprintf(stderr, "bench: %s: %s\n", argv[0], strerror(errno));
	return 127;
}

int main(int argc, char **argv)
{
	bool adopt = argc > 1 && strcmp(argv[1], "--adopt") == 0;
	sigset_t child_ended;
	int gate[2];
	FILE *out;
	pid_t pid;

	argv += adopt;
	if (argc - adopt < 3) {
		fprintf(stderr, "usage: bench-run [--adopt] RESULT COMMAND …\n");
		return 2;
	}
	sigemptyset(&child_ended);
	sigaddset(&child_ended, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child_ended, NULL);
	out = fopen(argv[1], "we");
	if (!out || (adopt && prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) ||
	    pipe(gate) != 0 || (pid = fork()) < 0) {
		fprintf(stderr, "bench: %s: %s\n", argv[1], strerror(errno));
		return 125;
	}
	if (pid == 0) {
		close(gate[1]);
		_exit(run_child(gate[0], argv + 2, &child_ended));
	}
	run_open_counters(pid);
	run_start = run_now();
	if (write(gate[1], "", 1) != 1 ||
	    run_wait(pid, adopt, &child_ended) != 0) {
		fprintf(stderr, "bench: %s\n", strerror(errno));
		return 125;
	}
	fprintf(out, "{\"wall_ns\":%" PRIu64 ",", run_wall);
	run_print_taken(out, &run_command);
	run_print_counters(out);
	if (adopt) {
		fprintf(out, ",\"adopted\":{\"count\":%u,\"own_kb\":%ld,",
			run_adopted.count, run_adopted.own_kb);
		run_print_taken(out, &run_adopted);
		fputs("}", out);
	}
	fputs("}\n", out);
	if (fclose(out) != 0)
		return 125;
	return WIFEXITED(run_status) ? WEXITSTATUS(run_status) :
				       128 + WTERMSIG(run_status);
}
