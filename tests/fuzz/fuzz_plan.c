/*
 * fuzz_plan.c: what a plan is made of and what it is: ELF files with
 * allocators in them, for the command and for the recorder, and plans, from
 * hostile bytes. The first byte chooses.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/base/terminal/log.h"
#include "cli/recorder/embed/static_allocator.h"
#include "cli/run/patch_plan_image.h"
#include "preload/patch/patch_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_plan(const uint8_t *data, size_t size)
{
	struct patch_function function;
	struct patch_image image;
	struct patch_read plan;

	if (!patch_read_open(&plan, data, size))
		return;
	while (patch_read_image(&plan, &image))
		for (uint32_t i = 0; i < image.functions; i++)
			if (!patch_read_function(&plan, &function))
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
	struct patch_plan_file file;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (patch_plan_file_open(&file, path))
		patch_plan_image(&plan, &file, path, true, true);
	patch_plan_file_close(&file);
	buffer_free(&plan);
	close(fd);
}

static void look(const uint8_t *data, size_t size)
{
	struct static_allocator allocator = {
		.state = STATIC_ALLOCATOR_NONE,
	};
	int fd = file_of(data, size);

	static_allocator_file(&allocator, fd, "fuzz", true);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1)
		return 0;
	log_set_quiet(true);
	if (data[0] % 3 == 0)
		read_plan(data + 1, size - 1);
	else if (data[0] % 3 == 1)
		make_plan(data + 1, size - 1);
	else
		look(data + 1, size - 1);
	return 0;
}
