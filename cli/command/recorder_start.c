/*
 * recorder_start.c: see recorder_start.h. Three signs show that a recorder is
 * starting. They appear one after the other: the process's environment will
 * load our library; it has loaded the library; a task of it has become
 * gnomon-recorder. The last sign still holds when the control socket appears.
 * The first two hold for the whole life of a process, so they count only in a
 * young one. Main thread.
 */
#include "cli/command/recorder_start.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/command/recorders.h"

#define RECORDER_START_LIBRARY "/libgnomon.so"
#define RECORDER_START_PAUSE_US 5000
#define RECORDER_START_TIMEOUT_US 2000000
#define RECORDER_START_YOUNG_S 2.0	/* it may just have loaded our library */
#define RECORDER_START_NEW_S 0.1	/* it may be about to execute its program */

/* The process's file in /proc; NULL if there is none or we may not read it. */
static FILE *open_file(pid_t pid, const char *name)
{
	char *path = grow_format("/proc/%d/%s", (int)pid, name);
	FILE *file = fopen(path, "re");

	free(path);
	return file;
}

/* Whether a piece of the file, ended by this byte, names our library. */
static bool names_library(pid_t pid, const char *name, int end,
			  const char *begin)
{
	FILE *file = open_file(pid, name);
	char *piece = NULL;
	size_t size = 0;
	bool found = false;

	while (!found && file != NULL &&
	       getdelim(&piece, &size, end, file) > 0)
		found = strncmp(piece, begin, strlen(begin)) == 0 &&
			strstr(piece, RECORDER_START_LIBRARY) != NULL;
	free(piece);
	if (file != NULL)
		fclose(file);
	return found;
}

/* From field 22 of /proc/PID/stat: start time in ticks since the machine
 * booted. */
static double age_s(pid_t pid)
{
	FILE *file = open_file(pid, "stat");
	unsigned long long ticks = 0;
	struct timespec now;
	char line[1024];
	const char *at;

	at = file != NULL && fgets(line, sizeof(line), file) != NULL ?
		strrchr(line, ')') : NULL;
	for (int field = 2; at != NULL && field < 22; field++)
		at = strchr(at + 1, ' ');
	if (at != NULL)
		ticks = strtoull(at, NULL, 10);
	if (file != NULL)
		fclose(file);
	if (ticks == 0 || clock_gettime(CLOCK_BOOTTIME, &now) != 0)
		return RECORDER_START_YOUNG_S;
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9 -
		(double)ticks / (double)sysconf(_SC_CLK_TCK);
}

/* The pid in the process's own namespace: the last number of its line NSpid. */
static pid_t inner_pid(pid_t pid)
{
	FILE *file = open_file(pid, "status");
	char *line = NULL, *last;
	size_t size = 0;
	long inner = 0;

	while (inner == 0 && file != NULL &&
	       getline(&line, &size, file) > 0)
		if (strncmp(line, "NSpid:", 6) == 0) {
			last = strrchr(line, '\t');
			inner = last ? strtol(last, NULL, 10) : pid;
		}
	free(line);
	if (file != NULL)
		fclose(file);
	return inner > 0 ? (pid_t)inner : pid;
}

static bool is_starting(pid_t pid)
{
	double age = age_s(pid);

	if (age < RECORDER_START_NEW_S)
		return true;
	if (age < RECORDER_START_YOUNG_S &&
	    (names_library(pid, "maps", '\n', "") ||
	     names_library(pid, "environ", 0, "LD_PRELOAD=")))
		return true;
	return recorders_find(inner_pid(pid)) != 0;
}

bool recorder_start_pause(pid_t pid, unsigned *waited_us)
{
	struct timespec pause = { 0, RECORDER_START_PAUSE_US * 1000 };

	if (*waited_us >= RECORDER_START_TIMEOUT_US || !is_starting(pid))
		return false;
	nanosleep(&pause, NULL);
	*waited_us += RECORDER_START_PAUSE_US;
	return true;
}
