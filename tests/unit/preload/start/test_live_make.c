/*
 * test_live_make.c: the live mapping as it begins: a file, one without a name or
 * a segment of memory in its place, and less of it where addresses are limited.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/unit/live_builder.h"

static uint64_t bytes_of(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return st.st_blocks * UINT64_C(512);
}

/* As recorder and readers find it; the pages that threads fill first are there. */
static void is_laid_out(const struct live_made *made)
{
	const struct gl_header *h = made->header;
	const char *at = (const char *)h;
	struct gl_shared *shared = live_shared_of(made);

	assert_int_equal(h->version, GL_VERSION);
	assert_int_equal(h->header_size, sizeof(*h));
	assert_true(h->shared_offset >= sizeof(*h));
	assert_true(h->images_offset >= h->shared_offset + sizeof(*shared));
	assert_true(h->nodes_offset > h->images_offset);
	assert_true(h->rings_offset > h->nodes_offset);
	assert_true(h->data_offset > h->rings_offset);
	assert_true(h->size > h->data_offset);
	assert_int_equal((uintptr_t)at % GL_PAGE, 0);
	assert_int_equal(atomic_load(&h->node_count), GT_STOP_COUNT);
	assert_true(atomic_load(&h->node_limit) > GT_STOP_COUNT);
	assert_true(h->nodes_offset + atomic_load(&h->node_limit) *
					      sizeof(struct gl_node) <=
		    h->rings_offset);
	assert_true(atomic_load(&shared->image_limit) > 0);
	assert_int_equal(shared->recorder_state, GL_RECORDER_STARTING);
}

static void unmake(struct live_made *made)
{
	char path[sizeof(made->path)];

	strcpy(path, made->path);
	live_unmake(made);
	assert_int_equal(made->fd, -1);
	assert_int_equal(access(path, F_OK), -1);
	live_unmake(made);	/* once more is no harm */
	live_unmap();
}

static void file_has_its_first_parts(void **state)
{
	struct live_made made;
	struct stat st;
	int other;

	(void)state;
	assert_int_equal(live_make_in(&made, live_directory, 16 * MIB,
				      LIVE_RING), 0);
	is_laid_out(&made);
	assert_int_equal(made.err, 0);
	assert_int_equal(made.memory_id, -1);
	assert_int_equal(strncmp(made.path, live_directory,
				 strlen(live_directory)), 0);
	assert_non_null(strstr(made.path, "/gnomon-1-0000000000000007.live"));
	assert_int_equal(fstat(made.fd, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(st.st_size, made.header->size);
	assert_true(made.reserved <= 8 * MIB);
	assert_in_range(bytes_of(made.fd), made.reserved - GL_PAGE,
			made.reserved + 64 * 1024);
	/* nobody takes it for a left-over */
	other = open(made.path, O_RDWR);
	assert_int_equal(flock(other, LOCK_EX | LOCK_NB), -1);
	close(other);
	unmake(&made);
}

/* So that nobody waits for the recorder; without, the recorder makes it. */
static void first_ring_is_laid_out(void **state)
{
	struct live_made made;
	struct gl_shared *shared;
	struct gl_ring *ring;
	char *at;

	(void)state;
	assert_int_equal(live_make_in(&made, live_directory, 16 * MIB,
				      LIVE_RING), 0);
	shared = live_shared_of(&made);
	at = (char *)made.header;
	ring = (struct gl_ring *)(at + made.header->data_offset);
	assert_int_equal(made.header->ring_count, 1);
	assert_int_equal((uint32_t)shared->ring_free[RECORDER_PRIMARY], 1);
	assert_int_equal(shared->ring_count[RECORDER_PRIMARY], 1);
	assert_int_equal(*(uint64_t *)(at + made.header->rings_offset),
			 made.header->data_offset);
	assert_int_equal(ring->mask, LIVE_RING - 1);
	assert_int_equal(ring->busy, GL_IDLE);
	assert_int_equal(ring->data, (uintptr_t)at + ring->offset);
	assert_true(ring->offset >= made.header->data_offset +
				    GL_RINGS_MAX * sizeof(*ring));
	assert_true((char *)live_map_thread(shared, 0) >=
		    (char *)(ring + GL_RINGS_MAX));
	assert_true((char *)(live_map_thread(shared, 0) +
			     GL_THREADS) <= (char *)ring->data);
	assert_int_equal(made.ring_bytes, ring->offset + LIVE_RING +
			 GL_RING_SLACK - made.header->data_offset);
	unmake(&made);
	assert_int_equal(live_make_in(&made, live_directory, 16 * MIB,
				      LIVE_NO_RING), 0);
	assert_int_equal(made.ring_bytes, 0);
	assert_int_equal(made.header->ring_count, 0);
	assert_int_equal(live_shared_of(&made)->ring_free[RECORDER_PRIMARY],
			 0);
	unmake(&made);
}

/* It goes with who has it open or mapped. */
static void is_nameless(struct live_made *made, int why)
{
	uint64_t size = made->header->size;
	struct stat st;

	assert_true(made->fd >= 0);
	assert_int_equal(made->err, why);
	assert_string_equal(made->path, "");
	assert_int_equal(made->memory_id, -1);
	is_laid_out(made);
	assert_int_equal(fstat(made->fd, &st), 0);
	assert_int_equal(st.st_nlink, 0);
	assert_int_equal(st.st_size, size);
	assert_int_equal(fcntl(made->fd, F_GETFD), FD_CLOEXEC);
	live_unmake(made);
	assert_int_equal(made->fd, -1);
	live_unmap();
}

static void is_a_segment(struct live_made *made, int why)
{
	struct shmid_ds ds;
	char *again;

	assert_int_equal(made->fd, -1);
	assert_int_equal(made->err, why);
	assert_string_equal(made->path, "");
	assert_true(made->memory_id >= 0);
	assert_true(made->reserved > 0);
	is_laid_out(made);
	/* one more can attach to it, and it goes with the last */
	again = shmat(made->memory_id, NULL, 0);
	assert_ptr_not_equal(again, (void *)-1);
	assert_int_equal(((struct gl_header *)again)->size,
			 made->header->size);
	assert_int_equal(shmctl(made->memory_id, IPC_STAT, &ds), 0);
	assert_int_equal(ds.shm_nattch, 2);
	assert_int_equal(ds.shm_perm.mode & 0777, 0600);
	assert_int_equal(shmdt(again), 0);
	assert_int_equal(shmdt(made->header), 0);
	assert_int_equal(shmctl(made->memory_id, IPC_STAT, &ds), -1);
}

/* What there is, is somebody's. */
static void existing_file_is_not_reused(void **state)
{
	struct live_made made, second;

	(void)state;
	assert_int_equal(live_make_in(&made, live_directory, 16 * MIB,
				      LIVE_RING), 0);
	assert_int_equal(live_make_in(&second, live_directory, 16 * MIB,
				      LIVE_RING), 0);
	is_nameless(&second, -EEXIST);
	assert_int_equal(access(made.path, F_OK), 0);
	unmake(&made);
}

static void no_file_in_a_missing_directory(void **state)
{
	struct live_made made;

	(void)state;
	assert_int_equal(live_make_in(&made, "/nonexistent", 16 * MIB,
				      LIVE_RING), 0);
	is_nameless(&made, -ENOENT);
}

/* No limit of files' sizes counts for a segment. */
static void file_size_limit(void **state)
{
	struct rlimit none, old;
	struct live_made made;
	DIR *dir;
	unsigned entries = 0;

	(void)state;
	getrlimit(RLIMIT_FSIZE, &old);
	none = old;
	none.rlim_cur = 0;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &none);
	assert_int_equal(live_make_in(&made, live_directory, 16 * MIB,
				      LIVE_RING), 0);
	setrlimit(RLIMIT_FSIZE, &old);
	is_a_segment(&made, -EFBIG);
	/* nothing is left of the attempt */
	dir = opendir(live_directory);
	while (readdir(dir))
		entries++;
	closedir(dir);
	assert_int_equal(entries, 2);
}

/* The directory of the trace, unless that is yet to be found out. */
static void file_beside_the_trace(void **state)
{
	char beside[128];
	struct live_where where = { .live_dir = "", .beside = beside,
				    /* too large for any /dev/shm */
				    .memory = UINT64_C(1) << 44,
				    .ring = LIVE_RING, .pid = 2 };
	struct live_made made;
	int err;

	(void)state;
	snprintf(beside, sizeof(beside), "%s/%%p.trace", live_directory);
	err = live_make(&made, &where);
	assert_int_equal(err, 0);
	if (made.fd < 0)	/* a file system that has no such files */
		skip();
	assert_int_equal(strncmp(made.path, live_directory,
				 strlen(live_directory)), 0);
	unmake(&made);
}

/* As it is for who looks at core dumps: no file with a name, on purpose. */
static void core_option_makes_no_named_file(void **state)
{
	struct live_where where = { .live_dir = live_directory, .beside = "",
				    .memory = 16 * MIB, .ring = LIVE_RING,
				    .core = true };
	struct live_made made;

	(void)state;
	assert_int_equal(live_make(&made, &where), 0);
	is_nameless(&made, 0);
}

static uint64_t size_used(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	assert_int_equal(fscanf(file, "%lu", &pages), 1);
	fclose(file);
	return pages * 4096;
}

/* With so many addresses more than there are; the size of what was made, 0:
 * nothing. */
static uint64_t made_within(uint64_t more)
{
	struct live_made made;
	uint64_t size = 0;
	struct rlimit limit, old;

	getrlimit(RLIMIT_AS, &old);
	limit = old;
	limit.rlim_cur = size_used() + more;
	setrlimit(RLIMIT_AS, &limit);
	if (live_make_in(&made, live_directory, 256 * MIB, LIVE_RING) == 0)
		size = made.header->size;
	setrlimit(RLIMIT_AS, &old);
	if (size)
		unmake(&made);
	return size;
}

static void limited_addresses_give_a_smaller_mapping(void **state)
{
	uint64_t all = made_within(UINT64_C(1) << 32);
	uint64_t some = made_within(all / 2);

	(void)state;
	assert_true(all > 128 * MIB);
	assert_in_range(some, 1, all / 2);
	assert_int_equal(made_within(MIB), 0);	/* and the file is gone */
}

#define TEST(name) cmocka_unit_test_setup_teardown( \
	name, live_directory_make, live_directory_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(file_has_its_first_parts),
		TEST(first_ring_is_laid_out),
		TEST(existing_file_is_not_reused),
		TEST(no_file_in_a_missing_directory),
		TEST(file_size_limit),
		TEST(file_beside_the_trace),
		TEST(core_option_makes_no_named_file),
		TEST(limited_addresses_give_a_smaller_mapping),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
