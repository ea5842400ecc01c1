/* embed_held.c: see the header. */
#include "cli/recorder/embed/embed_held.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/recorder/base/proc_file.h"
#include "cli/recorder/process/target_file.h"

#define EMBED_HELD_GONE " (deleted)"

struct embed_held_visit {
	struct embed_held *held;
	int pid;
	bool holds;		/* the last one */
	char last[GT_PATH_MAX];	/* a file's mappings follow one another */
};

static bool embed_held_is_gone(const char *path)
{
	size_t n = strlen(path), end = sizeof(EMBED_HELD_GONE) - 1;
	struct stat st;

	if (path[0] != '/')
		return false;
	return (n > end && strcmp(path + n - end, EMBED_HELD_GONE) == 0) ||
	       stat(path, &st);
}

static void embed_held_visit(const struct target_map *map, void *arg)
{
	struct embed_held_visit *visit = arg;
	struct embed_held *held = visit->held;
	char path[96];
	int fd;

	if (strcmp(map->path, visit->last) == 0) {
		if (visit->holds)
			held->file[held->count - 1].end = map->end;
		return;
	}
	snprintf(visit->last, sizeof(visit->last), "%s", map->path);
	visit->holds = false;
	if (held->count == EMBED_HELD_MAX || !embed_held_is_gone(map->path))
		return;
	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64,
		 visit->pid, map->start, map->end);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	visit->holds = fd >= 0;
	if (visit->holds)
		held->file[held->count++] = (struct embed_held_file){
			map->start, map->end, fd
		};
}

void embed_held_take(struct embed_held *held, int pid)
{
	struct embed_held_visit visit = { .held = held, .pid = pid };

	embed_held_close(held);
	if (proc_file_is_ours())
		target_file_maps(embed_held_visit, &visit);
}

int embed_held_find(const struct embed_held *held, uint64_t address)
{
	unsigned i;

	for (i = 0; i < held->count; i++)
		if (address >= held->file[i].start &&
		    address < held->file[i].end)
			return held->file[i].fd;
	return -1;
}

void embed_held_close(struct embed_held *held)
{
	while (held->count)
		close(held->file[--held->count].fd);
}
