/*
 * test_linkmap.c: the loader's list without its lock, against what
 * dl_iterate_phdr says, and while other threads change it or sit on its lock.
 */
// FLAGS: -pthread
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <cmocka.h>

#include "unwind/elf/dynsym.h"
#include "unwind/elf/linkmap.h"

#define LIBRARY "libcrypt.so.1"	/* Debian's base system has it */
#define LISTED_MAX 256
#define CHANGES 2000

static struct linkmap_room room;

struct listed {
	struct dl_phdr_info info[LISTED_MAX];
	unsigned count, same;
	bool library;
};

static int note(struct dl_phdr_info *info, size_t size, void *data)
{
	struct listed *l = data;

	(void)size;
	assert_true(l->count < LISTED_MAX);
	l->info[l->count++] = *info;
	return 0;
}

static int compare(const struct elfmap *map, void *data)
{
	struct listed *l = data;
	const struct dl_phdr_info *info = &l->info[l->same];

	assert_true(l->same < l->count);
	assert_int_equal(map->bias, info->dlpi_addr);
	assert_string_equal(map->path, info->dlpi_name);
	assert_int_equal(map->phnum, info->dlpi_phnum);
	assert_memory_equal(map->phdr, info->dlpi_phdr,
			    map->phnum * sizeof(*map->phdr));
	l->library |= strstr(map->path, LIBRARY) != NULL;
	l->same++;
	return 0;
}

static bool all_agree(void)
{
	struct listed listed = { .count = 0 };
	int result;

	dl_iterate_phdr(note, &listed);
	assert_true(linkmap_each(compare, &listed, &room, &result));
	assert_int_equal(result, 0);
	assert_int_equal(listed.same, listed.count);
	return listed.library;
}

static void list_agrees_with_the_loader(void **state)
{
	struct linkmap_version version, later;
	void *library, *again;

	(void)state;
	linkmap_learn(NULL, false);
	assert_false(all_agree());
	linkmap_version(&version);
	assert_false(linkmap_changed(&version));
	library = dlopen(LIBRARY, RTLD_NOW);
	assert_non_null(library);
	assert_true(linkmap_changed(&version));
	assert_true(all_agree());
	linkmap_version(&version);
	/* Nothing is mapped by that. */
	again = dlopen(LIBRARY, RTLD_NOW);
	assert_false(linkmap_changed(&version));
	dlclose(again);
	assert_false(linkmap_changed(&version));
	dlclose(library);
	assert_true(linkmap_changed(&version));
	assert_false(all_agree());
	/* It may come to lie at the same places, loader's entry and all. */
	linkmap_version(&later);
	library = dlopen(LIBRARY, RTLD_NOW);
	assert_true(linkmap_changed(&version));
	assert_true(linkmap_changed(&later));
	dlclose(library);
}

static int first_only(const struct elfmap *map, void *data)
{
	*(uintptr_t *)data = map->bias;
	return 7;
}

static void callback_ends_the_iteration(void **state)
{
	uintptr_t bias = 1;
	int result = 0;

	(void)state;
	assert_true(linkmap_each(first_only, &bias, &room, &result));
	assert_int_equal(result, 7);
	assert_int_equal(bias, _r_debug.r_map->l_addr);
}

/* ---- somebody sits on the lock ---- */

static sem_t held, release;

static int hold(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)info;
	(void)size;
	(void)data;
	sem_post(&held);
	sem_wait(&release);
	return 1;
}

static void *holder(void *unused)
{
	dl_iterate_phdr(hold, NULL);
	return unused;
}

static int count_one(const struct elfmap *map, void *data)
{
	(void)map;
	++*(unsigned *)data;
	return 0;
}

static void while_its_lock_is_held(void **state)
{
	struct linkmap_version version;
	unsigned count = 0;
	pthread_t thread;

	(void)state;
	sem_init(&held, 0, 0);
	sem_init(&release, 0, 0);
	pthread_create(&thread, NULL, holder, NULL);
	sem_wait(&held);
	linkmap_version(&version);
	assert_true(linkmap_each(count_one, &count, &room, NULL));
	assert_true(count > 3);
	assert_false(linkmap_changed(&version));
	sem_post(&release);
	pthread_join(thread, NULL);
}

/* ---- somebody changes it ---- */

static _Atomic bool over;

static void *change(void *unused)
{
	unsigned i;

	for (i = 0; i < CHANGES; i++) {
		void *library = dlopen(LIBRARY, RTLD_NOW);

		if (library)
			dlclose(library);
	}
	over = true;
	return unused;
}

struct seen {
	unsigned libcs, libraries, wrong;
};

/* Reads into each image. */
static int look_into(const struct elfmap *map, void *data)
{
	struct seen *seen = data;
	uint8_t id[20];
	uint32_t size;
	char name[64];

	if (strstr(map->path, "/libc.so.6") &&
	    dynsym_find(map, "qsort", STT_FUNC) != 0)
		seen->libcs++;
	if (strstr(map->path, LIBRARY)) {
		seen->libraries++;
		if (dynsym_soname(map, name, sizeof(name)))
			seen->wrong += strcmp(name, LIBRARY) != 0;
		elfmap_note(map, "GNU", NT_GNU_BUILD_ID, id, sizeof(id),
			    &size);
		dynsym_find(map, "crypt", STT_FUNC);
	}
	return 0;
}

static void while_it_changes(void **state)
{
	unsigned whole = 0, with = 0;
	pthread_t thread;

	(void)state;
	pthread_create(&thread, NULL, change, NULL);
	while (!over) {
		struct linkmap_version version;
		struct seen seen = { 0, 0, 0 };

		linkmap_version(&version);
		if (!linkmap_each(look_into, &seen, &room, NULL) ||
		    linkmap_changed(&version))
			continue;
		whole++;
		with += seen.libraries;
		assert_int_equal(seen.libcs, 1);
		assert_true(seen.libraries <= 1);
		assert_int_equal(seen.wrong, 0);
	}
	pthread_join(thread, NULL);
	assert_true(whole > 0);
	print_message("%u whole rounds, %u with the library\n", whole, with);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(list_agrees_with_the_loader),
		cmocka_unit_test(callback_ends_the_iteration),
		cmocka_unit_test(while_its_lock_is_held),
		cmocka_unit_test(while_it_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
