/*
 * fuzz_reader.c: the whole way from a file to the figures: reader, merge,
 * model. The input is a list of chunks, which are given right checksums here,
 * because nothing would get past those otherwise:
 *
 *	type, ring, generation, flags (1 byte each), first, last, length (2
 *	bytes each), payload
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/base/tell.h"
#include "cli/commands.h"
#include "cli/model/model.h"
#include "cli/model/rows.h"
#include "cli/trace/compose.h"

#define TRACE_ID 1

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void add_chunk(struct buffer *out, struct cursor *c, uint64_t sequence)
{
	struct chunk chunk = { .sequence = sequence };
	struct buffer payload = { 0 };
	const uint8_t *bytes;
	size_t length;

	chunk.type = cursor_u8(c);
	chunk.ring = cursor_u8(c);
	chunk.generation = cursor_u8(c);
	chunk.flags = cursor_u8(c) & 1;
	chunk.first = cursor_u16(c);
	chunk.last = chunk.first + cursor_u16(c);
	length = cursor_u16(c);
	if (length > cursor_left(c))
		length = cursor_left(c);
	bytes = cursor_bytes(c, length);
	chunk.raw = (uint32_t)length * 4;
	buffer_add(&payload, (const char *)bytes, length);
	compose_chunk(out, &chunk, TRACE_ID, &payload);
	buffer_free(&payload);
}

/* The same by a command, from the first word to the last line. */
static void run_command(const struct command *command, const char *option,
			const char *path)
{
	char name[16], first[16], second[64];
	char *argv[] = { name, first, second, NULL };

	snprintf(name, sizeof(name), "%s", command->name);
	snprintf(first, sizeof(first), "%s", option);
	snprintf(second, sizeof(second), "%s", path);
	if (freopen("/dev/null", "w", stdout) == NULL)
		abort();
	command->main(command, 3, argv);
}

/* I1 of model.c: the sums over contexts are the totals. What was left out of
 * the trace may have had a higher peak, and be live; a sample is rounded. */
static void check_sums(struct model *model)
{
	const struct rows_query query = { .key = FIGURE_LIVE };
	struct rows rows;
	uint64_t live = 0, peak = 0, blocks = 0, at = 0;

	rows_collect(model, &query, &rows);
	rows_sort(&rows);
	for (size_t i = 0; i < rows.count; i++) {
		live += rows.list[i].figures.live_bytes;
		peak += rows.list[i].figures.peak_bytes;
	}
	while (model_next_block(model, &at) != NULL)
		blocks++;
	if (live != model->totals.live_bytes ||
	    (model->report.chunks[GT_TOTALS] == 0 &&
	     (peak != model->totals.peak_bytes ||
	      blocks != model->totals.live_blocks)))
		abort();
	free(rows.list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct model model;
	struct cursor c = cursor_over(data, size);
	struct buffer bytes = { 0 };
	uint64_t sequence = 0;
	char path[64];
	int fd;

	tell_set_quiet(true);
	tell_mute(true);
	compose_header(&bytes, TRACE_ID);
	while (cursor_left(&c) > 0)
		add_chunk(&bytes, &c, sequence++);
	fd = memfd_create("fuzz", 0);
	if (fd < 0 || write(fd, bytes.data, bytes.size) !=
	    (ssize_t)bytes.size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	model_init(&model);
	model_read(&model, path);
	if (model.sample_mean == 0)
		check_sums(&model);
	model_free(&model);
	if (size % 8 == 1)
		run_command(&cmd_report, "--json", path);
	else if (size % 8 == 2)
		run_command(&cmd_report, "--heap=.", path);
	else if (size % 8 == 4)
		run_command(&cmd_report, "--alive-at=50%", path);
	else if (size % 8 == 6)
		run_command(&cmd_report, "--from=start", path);
	else if (size % 8 == 3)
		run_command(&cmd_info, "--json", path);
	else if (size % 8 == 5)
		run_command(&cmd_info, "--sizes", path);
	else if (size % 8 == 7)
		run_command(cmd_export_command(), "-Fpprof", path);
	close(fd);
	buffer_free(&bytes);
	return 0;
}
