/* test_target_file.c: descriptors that were inherited, or are said to have been,
 * and files of /proc that are read again and again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/recorder/process/target_file.h"

static char buffer[PROC_LINES_BUFFER];

static void none_is_none(void **state)
{
	/* what is said may be anything; 2 is standard error, to speak by */
	const int32_t bad[GL_FILES] = { -1, -2, 2, INT32_MIN, INT32_MAX, 900,
					901 };
	unsigned i;

	(void)state;
	target_file_init(bad, 1 << 30);
	for (i = 0; i < GL_FILES; i++)
		assert_int_equal(target_file(i), -1);
	for (i = 0; i < GL_FILE_EXE; i++)
		assert_int_equal(target_file_open(i), -ENOENT);
}

static bool maps_have(uintptr_t address)
{
	struct proc_lines_mapping mapping;
	struct proc_lines lines;
	const char *line;
	bool found = false;

	assert_int_equal(target_file_lines(&lines, GL_FILE_MAPS, buffer,
					   sizeof(buffer)), 0);
	while ((line = proc_lines_next(&lines)))
		found |= proc_lines_mapping(line, &mapping) &&
			 address >= mapping.start && address < mapping.end;
	proc_lines_close(&lines);
	return found;
}

/* Too few descriptors were allowed to inherit any. */
static void opened_by_the_process_id(void **state)
{
	const int32_t none[GL_FILES] = { -1, -1, -1, -1, -1, -1 };
	char path[64], exe[2][4096];
	ssize_t n;

	(void)state;
	target_file_init(none, getpid());
	assert_true(maps_have((uintptr_t)opened_by_the_process_id));
	target_file_path(GL_FILE_EXE, path, sizeof(path));
	n = readlink(path, exe[0], sizeof(exe[0]));
	assert_int_equal(readlink("/proc/self/exe", exe[1], sizeof(exe[1])),
			 n);
	assert_memory_equal(exe[0], exe[1], (size_t)n);
}

static void use(const char *path)
{
	int32_t file[GL_FILES] = { -1, -1, -1, -1, -1, -1 };

	file[GL_FILE_MAPS] = open(path, O_RDONLY);
	assert_true(file[GL_FILE_MAPS] >= 0);
	target_file_init(file, 1 << 30);
	assert_int_equal(target_file(GL_FILE_MAPS), file[GL_FILE_MAPS]);
	/* what the recorder starts has no business with it */
	assert_int_equal(fcntl(file[GL_FILE_MAPS], F_GETFD), FD_CLOEXEC);
}

static void read_anew_each_time(void **state)
{
	int reads = dup(0), i;
	void *page;

	(void)state;
	close(reads);
	use("/proc/self/maps");
	for (i = 0; i < 3; i++) {
		page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
		assert_true(maps_have((uintptr_t)page));
		munmap(page, 4096);
		assert_false(maps_have((uintptr_t)page));
	}
	close(target_file(GL_FILE_MAPS));
	i = dup(0);	/* readers have left nothing open */
	assert_int_equal(i, reads);
	close(i);
}

/* Only part of it was wanted. */
static void one_that_was_left(void **state)
{
	struct proc_lines lines;
	char first[256];

	(void)state;
	use("/proc/self/maps");
	assert_int_equal(target_file_lines(&lines, GL_FILE_MAPS, buffer,
					   sizeof(buffer)), 0);
	strncpy(first, proc_lines_next(&lines), sizeof(first) - 1);
	first[sizeof(first) - 1] = '\0';
	proc_lines_close(&lines);
	assert_int_equal(target_file_lines(&lines, GL_FILE_MAPS, buffer,
					   sizeof(buffer)), 0);
	assert_string_equal(proc_lines_next(&lines), first);
	proc_lines_close(&lines);
	close(target_file(GL_FILE_MAPS));
}

static void what_is_there_is_ready(void **state)
{
	char path[] = "/tmp/gnomon-test.XXXXXX";
	struct proc_lines lines;
	int fd = mkstemp(path);

	(void)state;
	assert_int_equal(write(fd, "a\nb\n", 4), 4);
	close(fd);
	assert_int_equal(proc_lines_open(&lines, path, buffer,
					 sizeof(buffer)), 0);
	unlink(path);
	assert_false(target_lines_ready(&lines));
	assert_string_equal(proc_lines_next(&lines), "a");
	assert_true(target_lines_ready(&lines));
	assert_string_equal(proc_lines_next(&lines), "b");
	assert_false(target_lines_ready(&lines));
	proc_lines_close(&lines);
	assert_null(proc_lines_next(&lines));
}

/* The list of a process that has ended meanwhile ends early. */
static void of_a_process_that_ends(void **state)
{
	struct proc_lines lines;
	pid_t child = fork();
	char maps[64];

	(void)state;
	if (child == 0)
		for (;;)
			pause();
	snprintf(maps, sizeof(maps), "/proc/%d/maps", child);
	use(maps);
	assert_int_equal(target_file_lines(&lines, GL_FILE_MAPS, buffer,
					   sizeof(buffer)), 0);
	while (proc_lines_next(&lines))
		assert_true(target_lines_last(&lines));
	assert_true(target_lines_last(&lines));
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_false(target_lines_last(&lines));
	proc_lines_close(&lines);
	close(target_file(GL_FILE_MAPS));
}

/* A target may close it for us, or say that a pipe is its map. */
static void what_cannot_be_read_is_said(void **state)
{
	int32_t file[GL_FILES] = { -1, -1, -1, -1, -1, -1 };
	struct proc_lines lines;
	int pipes[2], smaps = open("/proc/self/smaps", O_RDONLY);

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	file[GL_FILE_MAPS] = pipes[0];
	file[GL_FILE_SMAPS] = smaps;
	target_file_init(file, 1 << 30);
	assert_int_equal(target_file(GL_FILE_MAPS), -1);
	assert_int_equal(target_file_lines(&lines, GL_FILE_MAPS, buffer,
					   sizeof(buffer)), -ENOENT);
	close(smaps);
	assert_int_equal(target_file_lines(&lines, GL_FILE_SMAPS, buffer,
					   sizeof(buffer)), -EBADF);
	close(pipes[0]);
}

struct looked {
	const char *path;
	uintptr_t address;
	unsigned found;
};

static void look(const struct target_map *map, void *arg)
{
	struct looked *looked = arg;

	assert_true(map->path[0] != '\0' && map->start < map->end);
	looked->found += looked->address - map->start <
			 map->end - map->start &&
			 strcmp(map->path, looked->path) == 0;
}

/* The kernel's \012 for a line feed; and a name that has these four. */
static void paths_are_as_they_are(void **state)
{
	const int32_t none[GL_FILES] = { -1, -1, -1, -1, -1, -1 };
	static const char *const names[] = { "a b\nc\n", "a\\012b",
					     "plain" };
	char folder[] = "/tmp/gnomon-target.XXXXXX", path[128];
	unsigned i;

	(void)state;
	target_file_init(none, getpid());
	assert_non_null(mkdtemp(folder));
	for (i = 0; i < 3; i++) {
		struct looked looked = { .path = path };
		void *page;
		int fd;

		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		fd = open(path, O_RDWR | O_CREAT, 0600);
		assert_int_equal(ftruncate(fd, 4096), 0);
		page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
		close(fd);
		looked.address = (uintptr_t)page;
		target_file_maps(look, &looked);
		assert_int_equal(looked.found, 1);
		munmap(page, 4096);
		unlink(path);
	}
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(none_is_none),
		cmocka_unit_test(opened_by_the_process_id),
		cmocka_unit_test(read_anew_each_time),
		cmocka_unit_test(one_that_was_left),
		cmocka_unit_test(what_is_there_is_ready),
		cmocka_unit_test(of_a_process_that_ends),
		cmocka_unit_test(what_cannot_be_read_is_said),
		cmocka_unit_test(paths_are_as_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
