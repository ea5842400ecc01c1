/*
 * test_pprof.c: what programs do not show at will: code in no file, stacks
 * that end early, images that are not as they should be, sampled traces, names
 * that are no text. Read back by protobuf-c and zlib.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "cli/export/exporters.h"
#include "cli/export/pprof/profile.pb-c.h"
#include "tests/unit/model_feed.h"

#define PLAIN_MAX (1 << 20)
#define NODE(i) (GT_STOP_COUNT + (uint32_t)(i))

static struct model *model;
static struct frames frames;
static Pprof__Profile *profile;

/* ---- making and reading ---- */

static int begin(void **state)
{
	(void)state;
	model = model_new(NULL, NULL);
	feed_thread(model, 0, 10);
	return 0;
}

static void node(uint32_t i, uint32_t parent, uint64_t address)
{
	feed_node(model, NODE(i), parent, address);
}

static void allocate(uint32_t i, uint64_t size)
{
	static uint64_t stamp;
	struct trace_event event = {
		.stamp = ++stamp, .address = stamp * 4096, .size = size,
		.context = NODE(i), .kind = GT_ALLOC
	};

	model_events(model, model_lane(1, false), &event, 1);
}

static void image(uint32_t index, uint32_t flags, const char *path,
		  const struct trace_segment *segments, unsigned count)
{
	struct trace_image record = {
		.what = GT_IMAGE_MAPPED, .index = index, .flags = flags,
		.first_node = NODE(0), .segment_count = count,
		.path = path, .path_size = strlen(path),
		.build_id = (const uint8_t *)"\x01\xfe", .build_id_size = 2,
	};

	size_t before = model_images(model)->count;

	memcpy(record.segments, segments, count * sizeof(*segments));
	feed_image(model, &record);
	assert_int_equal(model_images(model)->count, before + 1);
}

static Pprof__Profile *unpacked(char *bytes, size_t size)
{
	uint8_t *plain = malloc(PLAIN_MAX);
	z_stream stream = { .next_in = (uint8_t *)bytes,
			    .avail_in = (uInt)size, .next_out = plain,
			    .avail_out = PLAIN_MAX };
	Pprof__Profile *read;

	assert_int_equal(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	assert_int_equal(stream.avail_in, 0);
	read = pprof__profile__unpack(NULL, stream.total_out, plain);
	inflateEnd(&stream);
	free(plain);
	assert_non_null(read);
	return read;
}

static void export_all(enum measure cost)
{
	struct debugfile_places places = { 0 };
	const struct query query = { .order = cost };
	struct export export = { .query = &query, .model = model,
				 .frames = &frames, .cost = cost };
	char *bytes;
	size_t size;

	model_finish(model);
	frames_init(&frames, model, &places, false);
	export.out = open_memstream(&bytes, &size);
	assert_int_equal(export_pprof.write(&export), 0);
	fclose(export.out);
	profile = unpacked(bytes, size);
	free(bytes);
}

static int end(void **state)
{
	(void)state;
	if (profile != NULL)
		pprof__profile__free_unpacked(profile, NULL);
	profile = NULL;
	frames_free(&frames);
	model_free(model);
	return 0;
}

static const char *text(int64_t number)
{
	assert_true((uint64_t)number < profile->n_string_table);
	return profile->string_table[number];
}

static const Pprof__Location *location_of(const Pprof__Sample *sample,
					  size_t i)
{
	assert_true(i < sample->n_location_id);
	assert_true(sample->location_id[i] - 1 < profile->n_location);
	return profile->location[sample->location_id[i] - 1];
}

static const Pprof__Mapping *mapping_of(const Pprof__Location *location)
{
	assert_true(location->mapping_id - 1 < profile->n_mapping);
	return profile->mapping[location->mapping_id - 1];
}

static const char *name_of(const Pprof__Location *location)
{
	assert_int_equal(location->n_line, 1);
	return text(profile->function[location->line[0]->function_id - 1]->name);
}

/* ---- cases ---- */

static void equal_stacks_are_one_sample(void **state)
{
	static const char map[] = "1000 100 made\n";

	(void)state;
	feed_names(model, map);
	/* Two nodes for the same code, and one for another place in it. */
	node(0, GT_STOP_BOTTOM, 0x1010);
	node(1, GT_STOP_BOTTOM, 0x1010);
	node(2, GT_STOP_BOTTOM, 0x1020);
	allocate(0, 5);
	allocate(1, 7);
	allocate(2, 11);
	export_all(MEASURE_LIVE);
	assert_int_equal(profile->n_sample, 2);
	assert_int_equal(profile->n_location, 2);
	assert_int_equal(profile->n_function, 1);
	assert_int_equal(profile->sample[0]->n_value, 4);
	assert_int_equal(profile->sample[0]->value[0], 2);
	assert_int_equal(profile->sample[0]->value[1], 12);
	assert_int_equal(profile->sample[0]->value[3], 12);
	assert_int_equal(profile->sample[1]->value[3], 11);
	assert_string_equal(name_of(location_of(profile->sample[0], 0)),
			    "made");
	assert_int_equal(location_of(profile->sample[0], 0)->address, 0x100f);
}

static void an_early_end_is_the_last_frame(void **state)
{
	const Pprof__Sample *sample;

	(void)state;
	node(0, GT_STOP_NO_RULE, 0x1010);
	node(1, NODE(0), 0x2010);
	allocate(1, 5);
	export_all(MEASURE_LIVE);
	assert_int_equal(profile->n_sample, 1);
	sample = profile->sample[0];
	assert_int_equal(sample->n_location_id, 3);
	assert_int_equal(location_of(sample, 0)->address, 0x200f);
	assert_int_equal(location_of(sample, 0)->n_line, 0);
	assert_non_null(strstr(name_of(location_of(sample, 2)),
			       "no unwind table"));
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(text(mapping_of(location_of(sample,
						i))->filename), "[no file]");
}

static void segments_are_mapped_from_page_to_page(void **state)
{
	static const struct trace_segment program[] = {
		{ 0x400000, 0x1000, 0, 4 },
		{ 0x401234, 0x2000, 0x1234, 5 },
	}, library[] = {
		{ 0x7000, 0x10, 0x5000, 5 },
	};
	const Pprof__Mapping *mapping;

	(void)state;
	image(1, 0, "/lib/none.so", library, 1);
	image(2, GT_IMAGE_MAIN, "/bin/none", program, 2);
	node(0, GT_STOP_BOTTOM, 0x402000);
	node(1, NODE(0), 0x7008);
	allocate(1, 5);
	export_all(MEASURE_LIVE);
	assert_int_equal(profile->n_mapping, 2);
	mapping = profile->mapping[0];
	assert_string_equal(text(mapping->filename), "/bin/none");
	assert_string_equal(text(mapping->build_id), "01fe");
	assert_int_equal(mapping->memory_start, 0x401000);
	assert_int_equal(mapping->memory_limit, 0x404000);
	assert_int_equal(mapping->file_offset, 0x1000);
	assert_false(mapping->has_functions || mapping->has_filenames ||
		     mapping->has_line_numbers || mapping->has_inline_frames);
	mapping = mapping_of(location_of(profile->sample[0], 0));
	assert_string_equal(text(mapping->filename), "/lib/none.so");
	assert_int_equal(mapping->memory_start, 0x7000);
	assert_int_equal(mapping->memory_limit, 0x8000);
	assert_int_equal(mapping->file_offset, 0x5000);
}

/* What returns to a segment's first byte was called from before it. */
static void an_address_at_the_edge_has_its_mapping(void **state)
{
	static const struct trace_segment library[] = {
		{ 0x7000, 0x10, 0x5000, 5 },
	};

	(void)state;
	image(1, 0, "/lib/none.so", library, 1);
	node(0, GT_STOP_BOTTOM, 0x7000);
	allocate(0, 5);
	export_all(MEASURE_LIVE);
	assert_string_equal(text(mapping_of(location_of(profile->sample[0],
					    0))->filename), "/lib/none.so");
	/* No program is known: the first mapping is nobody's. */
	assert_int_equal(profile->n_mapping, 2);
	assert_string_equal(text(profile->mapping[0]->filename), "[no file]");
}

static void a_sample_is_scaled(void **state)
{
	uint64_t sum = 0, wanted = 0;

	(void)state;
	feed_info(model, "sample", "1000");
	for (uint32_t i = 0; i < 8; i++)
		node(i, GT_STOP_BOTTOM, 0x1000 * (i + 1));
	for (uint32_t i = 0; i < 400; i++)
		allocate(i % 8, 1 + i);
	export_all(MEASURE_TOTAL);
	assert_int_equal(profile->period, 1000);
	assert_int_equal(profile->n_sample, 8);
	for (size_t i = 0; i < 8; i++)
		sum += (uint64_t)profile->sample[i]->value[1];
	for (size_t i = 0; i < model_contexts(model)->cost_count; i++)
		wanted += model_contexts(model)->costs[i].total_bytes;
	assert_int_equal(sum, wanted);
	assert_true(sum > 400 * 401 / 2);	/* what was seen of it */
	assert_string_equal(text(profile->default_sample_type), "alloc_space");
	assert_string_equal(text(profile->period_type->type), "space");
	assert_string_equal(text(profile->period_type->unit), "bytes");
}

static void bytes_that_are_no_text(void **state)
{
	static const char map[] = "1000 100 a\xff" "b\n";

	(void)state;
	feed_names(model, map);
	node(0, GT_STOP_BOTTOM, 0x1010);
	allocate(0, 5);
	export_all(MEASURE_TEMPORARY);
	assert_string_equal(name_of(location_of(profile->sample[0], 0)),
			    "a\xef\xbf\xbd" "b");
	assert_int_equal(profile->sample[0]->n_value, 5);
	assert_int_equal(profile->n_sample_type, 5);
	assert_string_equal(text(profile->default_sample_type),
			    "temporary_objects");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(equal_stacks_are_one_sample),
		CASE(an_early_end_is_the_last_frame),
		CASE(segments_are_mapped_from_page_to_page),
		CASE(an_address_at_the_edge_has_its_mapping),
		CASE(a_sample_is_scaled),
		CASE(bytes_that_are_no_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
