/*
 * process_files.c: /proc/PID/root leads into another mount namespace.
 * /proc/PID/map_files/RANGE opens the file that is mapped in a range, even if
 * it was deleted.
 */
#include "cli/symbol/files/process_files.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"

#define DELETED " (deleted)"

char *process_files_path(int pid, const char *path)
{
	return path[0] == '/' ? grow_format("/proc/%d/root%s", pid, path) :
		NULL;
}

/* Whether a line of maps is for this file; *range must have room for the
 * line. */
static bool is_about(const char *line, const char *path, char *range)
{
	const char *name = strchr(line, '/');
	size_t size = strlen(path), blank = strcspn(line, " ");

	if (name == NULL || strncmp(name, path, size) != 0)
		return false;
	name += size;
	if (strncmp(name, DELETED, strlen(DELETED)) == 0)
		name += strlen(DELETED);
	if (*name != '\n' && *name != 0)
		return false;
	memcpy(range, line, blank);
	range[blank] = 0;
	return true;
}

int process_files_mapped(int pid, const char *path)
{
	char *maps = grow_format("/proc/%d/maps", pid);
	FILE *file = fopen(maps, "re");
	char *line = NULL, *range, *link;
	size_t room = 0;
	int fd = -1;

	free(maps);
	if (file == NULL)
		return -1;
	while (fd < 0 && getline(&line, &room, file) > 0) {
		range = grow_alloc(room);
		if (is_about(line, path, range)) {
			link = grow_format("/proc/%d/map_files/%s", pid,
					   range);
			fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
			free(link);
			/* Its other ranges would fail, too. */
			if (fd < 0) {
				free(range);
				break;
			}
		}
		free(range);
	}
	free(line);
	fclose(file);
	return fd;
}
