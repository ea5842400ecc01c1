/*
 * test_maps_watch.c: looks at this very process, into a file, and what the
 * reader makes of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/model/maps/maps.h"
#include "cli/trace/decode/columns.h"
#include "preload/ring/area.h"
#include "cli/recorder/memory/maps_watch.h"
#include "cli/recorder/process/target_file.h"
#include "preload/ring/producer.h"
#include "preload/base/sys.h"

#define PAGE UINT64_C(4096)
#define ROOM (1u << 20)

struct fixture {
	int fd;
	struct chunk_out out;
	struct maps_watch watch;
	struct blocks blocks;
	struct contexts contexts;
	struct maps maps;
	uint64_t chunks;
};

static struct gl_shared shared;

static int set_up(void **state)
{
	int32_t file[GL_FILES] = { -1, -1, -1, -1, -1, -1 };
	struct fixture *f = calloc(1, sizeof(*f));

	blocks_init(&f->blocks);
	contexts_init(&f->contexts);
	maps_init(&f->maps, &f->blocks, &f->contexts);
	f->fd = memfd_create("watch", 0);
	assert_int_equal(area_map(64 << 20), 0);
	assert_int_equal(chunk_open(&f->out, f->fd, 5, ROOM), 0);
	file[GL_FILE_MAPS] = open("/proc/self/maps", O_RDONLY);
	file[GL_FILE_MAPS_WHOLE] = open("/proc/self/maps", O_RDONLY);
	target_file_init(file, getpid());
	maps_watch_init(&f->watch, &f->out, 0, getpid(), &shared);
	assert_true(f->watch.on);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	close(target_file(GL_FILE_MAPS));
	close(target_file(GL_FILE_MAPS_WHOLE));
	maps_free(&f->maps);
	contexts_free(&f->contexts);
	blocks_free(&f->blocks);
	close(f->fd);
	free(f);
	return 0;
}

/* All that was written so far, from the begin, into a new model. */
static void read_back(struct fixture *f)
{
	static struct scan scan;
	struct inflater inflater = { 0 };
	struct chunk chunk;

	maps_free(&f->maps);
	maps_init(&f->maps, &f->blocks, &f->contexts);
	f->chunks = 0;
	assert_int_equal(lseek(f->fd, 0, SEEK_SET), 0);
	assert_int_equal(scan_open(&scan, dup(f->fd)), SCAN_OPEN_OK);
	while (scan_next(&scan, &chunk)) {
		struct trace_maps head;
		struct cursor c;

		assert_int_equal(chunk.type, GT_MAPS);
		assert_int_equal(inflater_payload(&inflater, &chunk, &c), 0);
		assert_true(map_records_head(&c, &head));
		maps_take(&f->maps, &head, &c);
		assert_false(c.bad);
		f->chunks++;
	}
	assert_int_equal(scan.damage_count, 0);
	scan_close(&scan);
	inflater_free(&inflater);
	lseek(f->fd, 0, SEEK_END);
	maps_finish(&f->maps);
}

static const struct mapping *at(const struct fixture *f, const void *address)
{
	const struct span *span = spans_at(&f->maps.spans,
					   (uintptr_t)address);

	if (span == NULL || span->start > (uintptr_t)address)
		return NULL;
	return &f->maps.list[span->owner];
}

static char *map_pages(uint64_t pages)
{
	char *p = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	return p;
}

static void differences(void **state)
{
	struct fixture *f = *state;
	struct area_range piece;
	char *a, *b;

	area_report_pieces(&shared);
	a = map_pages(10);
	maps_watch_whole(&f->watch);
	read_back(f);
	assert_int_equal(at(f, a)->origin, MAP_BEFORE);
	assert_int_equal(at(f, differences)->origin, MAP_BEFORE);
	assert_int_equal(at(f, producer)->origin, MAP_RECORDER);
	assert_true(area_piece(0, &piece));
	assert_int_equal(at(f, producer)->size, piece.bytes);
	assert_string_equal(at(f, &f)->path, "[stack]");
	munmap(a + 2 * PAGE, 3 * PAGE);
	b = map_pages(7);
	maps_watch_whole(&f->watch);
	read_back(f);
	assert_null(at(f, a + 3 * PAGE));
	assert_int_equal(at(f, a)->bytes, 7 * PAGE);
	assert_int_equal(at(f, b)->origin, MAP_OTHER);
	munmap(a, 10 * PAGE);
	munmap(b, 7 * PAGE);
	maps_watch_whole(&f->watch);
	read_back(f);
	assert_null(at(f, a));
	assert_null(at(f, b));
	assert_int_equal(f->watch.looks, 3);
}

static void nothing_new(void **state)
{
	struct fixture *f = *state;
	uint64_t size, bytes;

	maps_watch_whole(&f->watch);
	read_back(f);
	bytes = f->maps.spans.bytes;
	maps_watch_whole(&f->watch);
	size = f->out.size;
	maps_watch_whole(&f->watch);
	/* the head alone */
	assert_true(f->out.size - size < GT_CHUNK_SIZE + 50);
	read_back(f);
	assert_in_range(f->maps.spans.bytes, bytes - (1 << 20),
			bytes + (1 << 20));
}

/* Over many steps and chunks, with changes between. */
static void long_lists(void **state)
{
	struct fixture *f = *state;
	const unsigned count = 20000;
	char *room = map_pages(2 * count), *more;
	uint64_t steps = 0, now = sys_now_ns();
	unsigned i;

	for (i = 0; i < count; i++)
		assert_int_equal(mprotect(room + 2 * i * PAGE, PAGE,
					  PROT_READ), 0);
	maps_watch_whole(&f->watch);
	for (i = 0; i < count; i += 2)
		munmap(room + 2 * i * PAGE, PAGE);
	f->watch.next_ns = f->watch.ended_ns = 0;
	while (maps_watch_step(&f->watch, now, 1))
		steps++;
	assert_true(steps > 1);
	read_back(f);
	assert_true(f->chunks > 3);
	assert_int_equal(f->maps.looks, 2);
	assert_null(at(f, room));
	assert_int_equal(at(f, room + PAGE)->bytes,
			 (2 * count - count / 2) * PAGE);
	/* it has cost too much to be repeated at once */
	more = map_pages(1);
	assert_false(maps_watch_step(&f->watch, sys_now_ns(), 2));
	assert_int_equal(f->watch.looks, 2);
	munmap(more, PAGE);
	munmap(room, 2 * count * PAGE);
}

/* More mappings than there are entries: known up to some address. */
static void cut_short(void **state)
{
	struct fixture *f = *state;
	unsigned all = f->watch.max;

	f->watch.max = 5;
	maps_watch_whole(&f->watch);
	assert_int_equal(f->watch.cuts, 1);
	f->watch.max = all;
	maps_watch_whole(&f->watch);
	read_back(f);
	assert_int_equal(f->maps.looks, 2);
	assert_string_equal(at(f, &f)->path, "[stack]");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(differences),
		TEST(nothing_new),
		TEST(long_lists),
		TEST(cut_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
