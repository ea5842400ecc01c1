/*
 * fuzz_plan.c: what a plan is made of and what it is: ELF files with
 * allocators in them, for the command and for the writer, and plans, from
 * hostile bytes. The first byte chooses.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/base/terminal/tell.h"
#include "cli/recorder/embed/foreign.h"
#include "cli/run/plan_image.h"
#include "preload/patch/patch_plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_plan(const uint8_t *data, size_t size)
{
	struct patch_function function;
	struct patch_image image;
	struct patch_plan plan;

	if (!patch_plan_open(&plan, data, size))
		return;
	while (patch_plan_image(&plan, &image))
		for (uint32_t i = 0; i < image.functions; i++)
			if (!patch_plan_function(&plan, &function))
				return;
}

static int file_of(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", 0);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	return fd;
}

static void make_plan(const uint8_t *data, size_t size)
{
	int fd = file_of(data, size);
	struct buffer plan = { 0 };
	struct plan_file file;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (plan_file_open(&file, path))
		plan_image(&plan, &file, path, true, true);
	plan_file_close(&file);
	buffer_free(&plan);
	close(fd);
}

static void look(const uint8_t *data, size_t size)
{
	struct foreign foreign = { .state = FOREIGN_NONE };
	int fd = file_of(data, size);

	foreign_file(&foreign, fd, "fuzz", true);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1)
		return 0;
	tell_set_quiet(true);
	if (data[0] % 3 == 0)
		read_plan(data + 1, size - 1);
	else if (data[0] % 3 == 1)
		make_plan(data + 1, size - 1);
	else
		look(data + 1, size - 1);
	return 0;
}
