/*
 * recorders.c: see recorders.h. A recorder has its own process name, and its
 * target's pid as first argument (cli/recorder/recorder_main.c).
 */
#include "cli/command/recorders.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/base/text/base_name.h"
#include "cli/command/control_format.h"

#define WORDS_MAX 4096	/* holds the first two words of a command line */

/* Reads the first n - 1 bytes of a file of /proc/PID and adds a NUL; returns
 * their number. */
static ssize_t read_some(const char *pid, const char *name, char *to, size_t n)
{
	char path[300];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	got = read(fd, to, n - 1);
	close(fd);
	to[got > 0 ? got : 0] = '\0';
	return got;
}

/* A word that is a pid and nothing else; 0: it is not. */
static pid_t id_of(const char *word)
{
	char *end;
	long pid = strtol(word, &end, 10);

	return end != word && *end == '\0' && pid > 0 && pid <= INT_MAX ?
		       (pid_t)pid : 0;
}

/* 0: not a recorder. */
static pid_t recorded_by(const char *recorder)
{
	char text[WORDS_MAX], *word, *next;
	pid_t pid = 0;
	ssize_t got;

	if (read_some(recorder, "comm", text, sizeof(text)) <= 0 ||
	    strcmp(text, CONTROL_RECORDER "\n") != 0)
		return 0;
	/* Empty after its end. An emulator's words come first. */
	got = read_some(recorder, "cmdline", text, sizeof(text));
	for (word = text; got > 0 && pid == 0; word = next) {
		next = word + strlen(word) + 1;
		if (next >= text + got)
			return 0;
		if (word == text ||
		    strcmp(base_name(word), CONTROL_RECORDER) == 0)
			pid = id_of(next);
	}
	return pid;
}

pid_t recorders_whom(pid_t pid)
{
	char name[16];

	snprintf(name, sizeof(name), "%d", (int)pid);
	return recorded_by(name);
}

pid_t recorders_find(pid_t pid)
{
	DIR *list = opendir("/proc");
	struct dirent *entry;
	pid_t found = 0;

	if (list == NULL)
		return 0;
	while (found == 0 && (entry = readdir(list)) != NULL)
		if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9' &&
		    recorded_by(entry->d_name) == pid)
			found = (pid_t)strtol(entry->d_name, NULL, 10);
	closedir(list);
	return found;
}

bool recorders_await(pid_t recorder, unsigned max_us)
{
	struct pollfd end = { .events = POLLIN };

	end.fd = (int)syscall(SYS_pidfd_open, recorder, 0);
	if (end.fd < 0)
		return errno == ESRCH;
	poll(&end, 1, (int)(max_us / 1000) + 1);
	close(end.fd);
	return true;
}
