/* test_image.c: images as they come and go. */
// FLAGS: -rdynamic -pthread
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/test_unwinder.h"
#include "unwind/base/context.h"
#include "unwind/image/image.h"
#include "unwind/rules/rules_image.h"

#define LIBRARY "libcrypt.so.1"	/* Debian's base system has it */

static uint32_t child(uintptr_t address)
{
	return context_child(0, address,
			     context_hash(context_hash_root(0), address), false);
}

static const struct gl_image *find(const char *name)
{
	uint32_t i;

	for (i = 0; i < test_unwinder_image_count; i++)
		if (strstr(test_unwinder_images[i].path, name))
			return &test_unwinder_images[i];
	return NULL;
}

static void test_start(void **unused)
{
	const struct image *own, *libc;

	(void)unused;
	assert_int_equal(test_unwinder_init(CAPTURE_AUTO, 0), 0);
	own = image_find((uintptr_t)test_start);
	assert_non_null(own);
	assert_true(own->public->flags & GT_IMAGE_MAIN);
	assert_false(own->public->flags & GT_IMAGE_LATE);
	libc = image_find((uintptr_t)dlsym(RTLD_DEFAULT, "qsort"));
	assert_non_null(libc);
	assert_ptr_not_equal(own, libc);
	assert_non_null(strstr(libc->public->path, "libc.so"));
	assert_true(rules_find(image_rules(own), (uintptr_t)test_start + 1) != 0);
	assert_null(image_find((uintptr_t)&own));
	assert_null(image_find(0x1000));
}

static void test_load_and_unload(void **unused)
{
	const struct gl_image *g;
	uintptr_t address;
	uint32_t node, generation;
	bool changed;
	void *library;

	(void)unused;
	assert_int_equal(test_unwinder_init(CAPTURE_AUTO, 0), 0);
	assert_null(find(LIBRARY));
	library = dlopen(LIBRARY, RTLD_NOW);
	assert_non_null(library);
	address = (uintptr_t)dlsym(library, "crypt");
	generation = image_generation;
	/* A look-up in no known image asks the loader, and what was
	 * remembered before is to be dropped. */
	assert_non_null(image_find(address));
	assert_int_not_equal(image_generation, generation);
	g = find(LIBRARY);
	assert_non_null(g);
	assert_true(g->flags & GT_IMAGE_LATE);
	assert_int_equal(g->end_node, 0);
	assert_true(g->build_id_size > 0);
	node = child(address);
	assert_true(node >= g->first_node);
	assert_true(image_refresh(&changed));
	assert_false(changed);

	dlclose(library);
	generation = image_generation;
	assert_true(image_refresh(&changed));
	assert_true(changed);
	assert_int_not_equal(image_generation, generation);
	assert_int_equal(g->end_node, node + 1);
	assert_null(image_find(address));
	/* What comes to lie there gets nodes of its own. */
	assert_true(child(address) > node);

	library = dlopen(LIBRARY, RTLD_NOW);
	address = (uintptr_t)dlsym(library, "crypt");
	assert_non_null(image_find(address));
	assert_ptr_not_equal(image_find(address)->public, g);
	dlclose(library);
}

/* So that no mapping of ours takes the place where the library was. */
static void *arena_alloc(size_t size)
{
	static uint8_t *arena;
	static size_t used;
	enum { ARENA = 64 << 20 };

	if (!arena)
		arena = test_unwinder_alloc(ARENA);
	used = (used + 63) & ~(size_t)63;
	if (!arena || size > ARENA - used)
		return NULL;
	used += size;
	return arena + used - size;
}

/* Loaded more often than there are records. */
static void test_no_more_records(void **unused)
{
	const struct image *image = NULL, *before = NULL;
	uintptr_t address;
	void *library;
	int i;

	(void)unused;
	assert_int_equal(test_unwinder_init(CAPTURE_AUTO, 0), 0);
	unwind_alloc = arena_alloc;
	for (i = 0; i < GL_IMAGES_MAX + 50; i++) {
		bool changed;

		library = dlopen(LIBRARY, RTLD_NOW);
		address = (uintptr_t)dlsym(library, "crypt");
		before = image;
		image = image_find(address);
		assert_non_null(image);
		assert_int_not_equal(rules_find(image_rules(image), address), 0);
		dlclose(library);
		assert_true(image_refresh(&changed));
		assert_true(changed);
		assert_null(image_find(address));
	}
	assert_int_equal(test_unwinder_image_count, GL_IMAGES_MAX);
	assert_ptr_equal(before, image);	/* the same one comes and goes */
}

/* Without a word to us, as the C library does by itself. */
static void test_exchanged(void **unused)
{
	const struct image *image;
	const struct gl_image *before;
	uintptr_t address;
	bool changed;
	void *library;

	(void)unused;
	assert_int_equal(test_unwinder_init(CAPTURE_AUTO, 0), 0);
	library = dlopen(LIBRARY, RTLD_NOW);
	address = (uintptr_t)dlsym(library, "crypt");
	image = image_find(address);
	assert_non_null(image);
	before = image->public;
	assert_false(image_list_is_stale());
	dlclose(library);
	library = dlopen(LIBRARY, RTLD_NOW);
	address = (uintptr_t)dlsym(library, "crypt");
	assert_true(image_list_is_stale());
	assert_true(image_refresh(&changed));
	assert_false(image_list_is_stale());
	image = image_find(address);
	assert_non_null(image);
	/* at the same place the same bytes may pass for the same image */
	assert_true(image->public == before || before->end_node);
	dlclose(library);
}

/* ---- another thread is in the middle of a scan ---- */

static struct {
	_Atomic uint32_t limit;
	uintptr_t address;
	uint32_t node;
	bool listed, refreshed, borrowed, ruled, stray;
} beside;

static void *look_beside(void *unused)
{
	struct rules_image rules;
	bool changed;

	beside.listed = image_find(beside.address) != NULL;
	beside.refreshed = image_refresh(&changed);
	beside.stray = image_borrow((uintptr_t)&beside, &rules);
	beside.borrowed = image_borrow(beside.address, &rules);
	if (beside.borrowed)
		beside.ruled = rules_find(&rules, beside.address) != 0;
	beside.node = child(beside.address);
	return unused;
}

/* Asked for by the scan, which holds the lock: and somebody else comes. */
static void want_images(void)
{
	pthread_t thread;

	if (!beside.address || beside.node)
		return;
	assert_int_equal(pthread_create(&thread, NULL, look_beside, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	beside.limit = GL_IMAGES_MAX;
}

static void test_borrowed(void **unused)
{
	struct capture_config config = {
		.node_count = &test_unwinder_node_count,
		.node_limit = &test_unwinder_node_limit,
		.node_max = TEST_UNWINDER_NODES,
		.image_count = &test_unwinder_image_count,
		.image_limit = &beside.limit,
		.want_images = want_images,
	};
	const struct gl_image *g;
	void *library;

	(void)unused;
	assert_int_equal(test_unwinder_init(CAPTURE_AUTO, 0), 0);
	beside.limit = test_unwinder_image_count;
	test_unwinder_node_count = GT_STOP_COUNT;
	test_unwinder_image_count = 0;
	config.nodes = test_unwinder_nodes;
	config.images = test_unwinder_images;
	memset(test_unwinder_images, 0,
	       GL_IMAGES_MAX * sizeof(*test_unwinder_images));
	assert_int_equal(capture_init(&config), 0);
	library = dlopen(LIBRARY, RTLD_NOW);
	beside.address = (uintptr_t)dlsym(library, "crypt");
	assert_non_null(image_find(beside.address));
	assert_false(beside.listed);
	assert_false(beside.refreshed);
	assert_true(beside.borrowed);
	assert_true(beside.ruled);
	assert_false(beside.stray);	/* no code */
	/* The node that was made beside is the image's. */
	g = find(LIBRARY);
	assert_non_null(g);
	assert_true(beside.node >= g->first_node);
	dlclose(library);
}

static void test_broken_list(void **unused)
{
	struct gl_image kept;

	(void)unused;
	assert_int_equal(test_unwinder_init(CAPTURE_AUTO, 0), 0);
	assert_true(image_list_is_valid());
	test_unwinder_image_count++;
	assert_false(image_list_is_valid());
	test_unwinder_image_count--;
	kept = test_unwinder_images[0];
	test_unwinder_images[0].first_node = 20;
	test_unwinder_images[0].end_node = 17;
	assert_false(image_list_is_valid());
	test_unwinder_images[0] = kept;
	test_unwinder_images[0].segments = GL_SEGMENTS_MAX + 1;
	assert_false(image_list_is_valid());
	test_unwinder_images[0] = kept;
	assert_true(image_list_is_valid());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_start),
		cmocka_unit_test(test_load_and_unload),
		cmocka_unit_test(test_exchanged),
		cmocka_unit_test(test_borrowed),
		cmocka_unit_test(test_no_more_records),
		cmocka_unit_test(test_broken_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
