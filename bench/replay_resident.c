/*
 * replay_resident.c: see replay_resident.h. stdio would allocate.
 */
#include "bench/replay_resident.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KIB 1024

uint64_t resident_bytes(void)
{
	static int statm = -1;
	char text[128];
	char *second;
	ssize_t n;

	if (statm < 0)
		statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	n = pread(statm, text, sizeof(text) - 1, 0);
	if (n <= 0)
		return 0;
	text[n] = 0;
	second = strchr(text, ' ');
	return second == NULL ? 0 : strtoull(second, NULL, 10) *
		(uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t resident_peak(void)
{
	static char text[8192];
	int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	ssize_t n = file < 0 ? -1 : read(file, text, sizeof(text) - 1);
	char *line;

	close(file);
	if (n <= 0)
		return 0;
	text[n] = 0;
	line = strstr(text, "VmHWM:");
	return line == NULL ? 0 : strtoull(line + 6, NULL, 10) * KIB;
}

void resident_forget_peak(void)
{
	int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
	ssize_t n = file < 0 ? -1 : write(file, "5", 1);

	(void)n;	/* then the peak is that since the start */
	close(file);
}
