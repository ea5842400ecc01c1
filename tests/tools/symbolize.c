/*
 * symbolize.c: prints functions and lines of addresses in an ELF file, like
 * `addr2line -fi`, for tests that compare.
 *
 * usage: symbolize [-d PATH]... [-r SYSROOT] [-p PID] [-b BUILD_ID]
 *	[-n] [-1] [-s] FILE <addresses
 *
 * Prints a line for each function, and for each address one before them:
 *	0xADDRESS
 *	FUNCTION<tab>FILE:LINE:COLUMN
 * -n: contact no servers; -1: one by one instead of all at once; -s: print the
 * time this took on standard error. Without -b the build-id is that of FILE.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/base/terminal/log.h"
#include "cli/symbol/elf/elffile.h"
#include "cli/symbol/names/symbols.h"

#define PATHS_MAX 16

struct options {
	struct debugfile_places places;
	const char *paths[PATHS_MAX];
	const char *build_id;
	int pid;
	bool one_by_one;
	bool seconds;
};

static size_t parse_id(uint8_t id[64], const char *hex)
{
	size_t size = 0;
	unsigned byte;

	while (size < 64 && sscanf(hex + 2 * size, "%2x", &byte) == 1)
		id[size++] = (uint8_t)byte;
	return size;
}

static size_t read_id(uint8_t id[ELF_TABLES_ID_MAX],
		      const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct elffile *file = fd >= 0 ? elffile_open(fd, path) : NULL;
	size_t size;

	if (file == NULL)
		return 0;
	size = elf_tables_id(&file->tables, id);
	elffile_close(file);
	return size;
}

static void print(const struct symbol_request *request,
		  const struct symbol_place *place)
{
	printf("0x%" PRIx64 "\n", request->address);
	for (size_t i = 0; i < place->count; i++) {
		const struct symbol_frame *frame = &place->frames[i];

		printf("%s\t%s:%u:%u\n",
		       frame->function ? frame->function : "??",
		       frame->file ? frame->file : "??", frame->line,
		       frame->column);
	}
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void run(const struct options *options,
		const struct symbol_image *image)
{
	struct symbol_request *list = NULL;
	size_t count = 0, capacity = 0;
	struct symbols *symbols = symbols_new(&options->places, true);
	double start;
	uint64_t address;

	while (scanf("%" SCNx64, &address) == 1) {
		GROW(list, count, capacity);
		list[count].index = 0;
		list[count].image = *image;
		list[count].address = address;
		list[count++].exact = true;
	}
	start = now();
	if (!options->one_by_one)
		symbols_prepare(symbols, list, count);
	if (options->seconds)
		fprintf(stderr, "%.3f\n", now() - start);
	for (size_t i = 0; i < count; i++)
		print(&list[i], symbols_find(symbols, 0, image,
					     list[i].address, true));
	symbols_free(symbols);
	free(list);
}

int main(int argc, char **argv)
{
	struct options options = { .places = {
		.paths = options.paths, .notes = log_notes(),
	} };
	struct symbol_image image = { 0 };
	uint8_t id[64];
	int option;

	while ((option = getopt(argc, argv, "d:r:p:b:n1s")) != -1) {
		switch (option) {
		case 'd':
			if (options.places.path_count < PATHS_MAX)
				options.paths[options.places.path_count++] =
					optarg;
			break;
		case 'r': options.places.sysroot = optarg; break;
		case 'p': options.pid = atoi(optarg); break;
		case 'b': options.build_id = optarg; break;
		case 'n': options.places.no_debuginfod = true; break;
		case '1': options.one_by_one = true; break;
		case 's': options.seconds = true; break;
		default: return 2;
		}
	}
	if (optind + 1 != argc)
		return 2;
	image.file.path = argv[optind];
	image.file.build_id = id;
	image.file.build_id_size = options.build_id ?
		parse_id(id, options.build_id) : read_id(id, argv[optind]);
	image.file.pid = options.pid;
	run(&options, &image);
	return 0;
}
