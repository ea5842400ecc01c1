/*
 * test_index_maps.c: what was mapped comes out of a store as it went in, and
 * what makes no sense there is not believed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/model/model_state.h"
#include "cli/model/index/index_maps.h"
#include "cli/store/store.h"

#define PAGE UINT64_C(4096)
#define AT UINT64_C(0x7f0000000000)

static void extra(struct model *model, unsigned what, uint64_t start,
		  uint64_t size, uint64_t stamp)
{
	static const uint64_t args[4] = { GT_MAPS_READ }, none[4];
	const struct trace_event event = {
		.kind = GT_EXTRA, .what = (uint8_t)what, .stamp = stamp,
		.address = start, .size = size,
		.args = what == GT_EXTRA_MAP ? args : none,
	};

	maps_extra(&model->maps, 0, &event);
}

/* Mappings that are whole, cut in the middle, and gone; the heap. */
static struct model *mapped(void)
{
	struct model *model = model_new(NULL, NULL);

	model->with_maps = true;
	for (unsigned i = 0; i < 20; i++)
		extra(model, GT_EXTRA_MAP, AT + i * 16 * PAGE, 8 * PAGE,
		      10 + i);
	extra(model, GT_EXTRA_UNMAP, AT + 2 * PAGE, PAGE, 50);
	extra(model, GT_EXTRA_UNMAP, AT + 3 * 16 * PAGE, 8 * PAGE, 60);
	maps_finish(&model->maps);
	return model;
}

struct change {
	const char *name;
	const void *bytes;
	size_t size;
};

/* `change`: instead of what belongs there; NULL: nothing. */
static struct store *kept(const struct model *model,
			  const struct change *change)
{
	const struct store_key key = { .trace_id = 1 };
	char path[] = "/tmp/gnomon-unit-XXXXXX";
	int fd = mkstemp(path);
	struct store_writer *writer = store_writer_new(fd, 0);
	struct store *store;

	if (model != NULL)
		index_maps_write(model, writer);
	if (change != NULL)
		store_writer_blob(writer, change->name, change->bytes,
				  change->size);
	assert_int_equal(store_writer_finish(writer, &key), 0);
	store_writer_free(writer);
	assert_int_equal(store_open(fd, path, NULL, &store), STORE_GOOD);
	unlink(path);
	return store;
}

static void same(const struct maps *a, const struct maps *b)
{
	assert_int_equal(a->count, b->count);
	for (size_t i = 0; i < a->count; i++) {
		const struct mapping *x = &a->list[i], *y = &b->list[i];

		assert_int_equal(x->start, y->start);
		assert_int_equal(x->size, y->size);
		assert_int_equal(x->bytes, y->bytes);
		assert_int_equal(x->mapped, y->mapped);
		assert_int_equal(x->unmapped, y->unmapped);
		assert_int_equal(x->origin, y->origin);
		assert_int_equal(x->node, y->node);
		assert_int_equal(x->is, y->is);
		assert_string_equal(x->path, y->path);
	}
	assert_int_equal(a->site_count, b->site_count);
	assert_memory_equal(a->sites, b->sites,
			    a->site_count * sizeof(*a->sites));
	assert_int_equal(a->curve.count, b->curve.count);
	assert_memory_equal(a->curve.points, b->curve.points,
			    a->curve.count * sizeof(*a->curve.points));
	assert_memory_equal(a->calls, b->calls, sizeof(a->calls));
	assert_int_equal(a->spans.bytes, b->spans.bytes);
	assert_int_equal(a->curve.peak.bytes, b->curve.peak.bytes);
}

static void comes_out_as_it_went_in(void **state)
{
	struct model *from = mapped(), *to = model_new(NULL, NULL);
	struct store *store = kept(from, NULL);

	(void)state;
	assert_true(from->maps.count == 20 && from->maps.spans.bytes ==
		    (20 * 8 - 1 - 8) * PAGE);
	assert_true(index_maps_read(to, store));
	assert_true(to->with_maps);
	same(&from->maps, &to->maps);
	store_close(store);
	model_free(from);
	model_free(to);
}

static void refused(const struct model *from, const struct change *change)
{
	struct model *to = model_new(NULL, NULL);
	struct store *store = kept(from, change);

	assert_false(index_maps_read(to, store));
	assert_false(to->with_maps);
	assert_int_equal(to->maps.count, 0);
	assert_int_equal(to->maps.spans.bytes, 0);
	store_close(store);
	model_free(to);
}

/* The blob of this name, with one word changed. */
static void refused_word(const struct model *from, const char *name,
			 size_t word, uint64_t value)
{
	struct store *store = kept(from, NULL);
	size_t size;
	uint64_t *bytes = store_blob(store, name, &size);
	const struct change change = { name, bytes, size };

	assert_non_null(bytes);
	assert_true((word + 1) * sizeof(*bytes) <= size);
	bytes[word] = value;
	refused(from, &change);
	free(bytes);
	store_close(store);
}

static void what_makes_no_sense(void **state)
{
	static const char odd[13];
	static const char *const names[] = {
		"maps_facts", "maps_curve", "maps_sites", "maps_list",
		"maps_spans",
	};
	struct model *from = mapped();

	(void)state;
	refused(NULL, NULL);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const struct change change = { names[i], odd, sizeof(odd) };

		refused(from, &change);
	}
	refused(from, &(struct change){ "maps_list", odd, 0 });
	refused(from, &(struct change){ "maps_spans", odd, 0 });
	refused(from, &(struct change){ "maps_paths", odd, 0 });
	refused(from, &(struct change){ "maps_paths", "not ended", 9 });
	refused_word(from, "maps_facts", 0, 2);			/* format */
	refused_word(from, "maps_list", 2, 5);			/* bytes */
	refused_word(from, "maps_list", 7, 1 << 20);		/* path */
	refused_word(from, "maps_list", 8, 12345);		/* node */
	refused_word(from, "maps_list", 9, MAP_ORIGINS);
	refused_word(from, "maps_spans", 1, SPANS_END + PAGE);	/* end */
	refused_word(from, "maps_spans", 0, AT + 900 * PAGE);	/* overlaps */
	refused_word(from, "maps_spans", 2, 20);		/* owner */
	refused_word(from, "maps_curve", 0, UINT64_MAX);	/* order */
	refused_word(from, "maps_sites", 0, 77);		/* node */
	model_free(from);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_out_as_it_went_in),
		cmocka_unit_test(what_makes_no_sense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
