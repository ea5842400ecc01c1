/* test_map_index.c: blocks in mappings, over time, against brute force. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "cli/model/filters.h"
#include "cli/model/map_index.h"
#include "cli/model/model_state.h"
#include "tests/unit/filter_words.h"

#define MAPPINGS 60
#define SPACE 40		/* addresses */
#define TIME 200

static struct model *model;

static struct mapping *add(uint64_t start, uint64_t size, uint64_t from,
			   uint64_t to, const char *path)
{
	struct maps *maps = &model->maps;

	maps->list[maps->count] = (struct mapping){
		.start = start, .size = size, .mapped = from, .unmapped = to,
		.path = path,
	};
	return &maps->list[maps->count++];
}

static void begin(struct mapping *list)
{
	model = model_new(NULL, NULL);
	model->trace = "a.trace";
	model->maps.list = list;
}

static void end(void)
{
	model->maps.list = NULL;
	model->maps.count = 0;
	model_free(model);
}

static struct map_index *made(const char *value)
{
	struct filter *filter = filter_new(NULL);
	struct map_index *maps;

	assert_int_equal(filter_take_word(filter, "map", value), 0);
	maps = map_index_new(filter, model, "--map");
	assert_non_null(maps);
	filter_free(filter);
	return maps;
}

/* NULL: in none that is known. */
static const char *brute(uint64_t address, uint64_t stamp)
{
	const struct mapping *now = NULL, *next = NULL;

	for (size_t i = 0; i < model->maps.count; i++) {
		const struct mapping *m = &model->maps.list[i];

		if (address < m->start || address >= m->start + m->size)
			continue;
		if (m->mapped <= stamp && (!now || m->mapped > now->mapped))
			now = m;
		if (m->mapped > stamp && (!next || m->mapped < next->mapped))
			next = m;
	}
	if (now != NULL && (now->unmapped == 0 || now->unmapped > stamp))
		return now->path;
	return next != NULL ? next->path : NULL;
}

/* By its index; and that it is the same up to where it says. */
static void compare_mapping(const struct map_index *maps, uint64_t address,
			    uint64_t stamp, const char *path)
{
	uint64_t until, unused;
	uint32_t mapping = map_index_at(maps, address, stamp, &until);

	assert_true(until > address);
	for (uint64_t at = address; at < until && at < address + SPACE; at++)
		assert_int_equal(map_index_at(maps, at, stamp, &unused),
				 mapping);
	if (path == NULL)
		assert_int_equal(mapping, MAP_INDEX_NONE);
	else
		assert_ptr_equal(model->maps.list[mapping].path, path);
}

static void compare(const struct map_index *maps, uint64_t address,
		    uint64_t stamp)
{
	const char *path = brute(address, stamp);
	uint32_t number = map_index_path(maps, address, stamp);

	assert_int_equal(map_index_wants(maps, address, stamp),
			 path != NULL && path[0] == 'y');
	if (path == NULL)
		assert_int_equal(number, MAP_INDEX_NONE);
	else
		assert_string_equal(map_index_name(maps, number), path);
	compare_mapping(maps, address, stamp, path);
}

static void random_mappings(void **state)
{
	static struct mapping list[MAPPINGS];
	struct map_index *maps;

	(void)state;
	for (unsigned seed = 1; seed <= 20; seed++) {
		srandom(seed);
		begin(list);
		for (unsigned i = 0; i < MAPPINGS; i++) {
			uint64_t start = 1 + (uint64_t)random() % SPACE;
			uint64_t from = 3 * i + 1;	/* all different */

			add(start, 1 + (uint64_t)random() % 9, from,
			    random() % 3 ? from + 1 + (uint64_t)random() % 40 :
			    0, random() % 2 ? "yes" : "no");
		}
		maps = made("^yes$");
		for (uint64_t address = 0; address < SPACE + 15; address++)
			for (uint64_t stamp = 0; stamp < TIME; stamp++)
				compare(maps, address, stamp);
		map_index_free(maps);
		end();
	}
}

/* An address that is in it at any time; a look comes later than a block. */
static void by_address(void **state)
{
	static struct mapping list[2];
	struct map_index *maps;

	(void)state;
	begin(list);
	add(0x1000, 0x1000, 100, 200, "");
	add(0x1000, 0x3000, 300, 0, "[heap]");
	maps = made("0x3fff");
	assert_false(map_index_wants(maps, 0x1fff, 150));
	assert_true(map_index_wants(maps, 0x1fff, 200));
	assert_true(map_index_wants(maps, 0x3000, 1));
	assert_false(map_index_wants(maps, 0x4000, 400));
	map_index_free(maps);
	maps = made("4096");
	assert_true(map_index_wants(maps, 0x1000, 1));
	assert_true(map_index_wants(maps, 0x3000, 1));
	map_index_free(maps);
	maps = made("heap");
	assert_false(map_index_wants(maps, 0x1000, 1));
	map_index_free(maps);
	end();
}

/* Nested ones by the ten thousand: refused, not computed. */
static void too_many(void **state)
{
	const size_t count = 9000;
	struct mapping *list = calloc(count, sizeof(*list));
	struct filter *filter = filter_new(NULL);
	struct map_index *maps;

	(void)state;
	begin(list);
	assert_int_equal(filter_take_word(filter, "map", "x"), 0);
	assert_null(map_index_new(filter, model, "--map"));
	for (size_t i = 0; i < count; i++)
		add(1 + i, 2 * (count - i), i, 0, "x");
	assert_null(map_index_new(filter, model, "--map"));
	model->maps.count = 1000;
	maps = map_index_new(filter, model, "--map");
	assert_true(map_index_wants(maps, 500, 2000));
	map_index_free(maps);
	filter_free(filter);
	end();
	free(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_mappings),
		cmocka_unit_test(by_address),
		cmocka_unit_test(too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
