/*
 * fuzz_state.c: the state by which an index can be extended (index_state.h),
 * from hostile words. The index is that of the beginning of a stored trace,
 * which is a part of this program; its checksums are right. The input is its
 * state; or, if its first byte is even, it changes words of the right one. In
 * all cases the result is a complete index of the whole trace, by the state or
 * without it.
 *
 * A change is the number of a word (2 bytes), what is done with it, and by how
 * much (1 byte each).
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/base/io_full.h"
#include "cli/model/index/index_build.h"
#include "cli/model/index/index_resume.h"
#include "cli/model/index/index_state.h"
#include "cli/store/store_file.h"
#include "cli/trace/decode/cursor.h"

#define PIECE 64		/* by which a trace is shortened */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

__asm__(".section .rodata\n"
	"fuzz_state_trace:\n"
	".incbin \"tests/outputs/medley.trace\"\n"
	"fuzz_state_trace_end:\n"
	".byte 0\n"
	".previous\n");
extern const uint8_t fuzz_state_trace[], fuzz_state_trace_end[];

static struct {
	int trace;		/* the whole one */
	char *path;		/* of it */
	uint64_t rows;		/* that it has */
	struct store *store;	/* of its beginning */
	uint64_t *words;	/* the state */
	size_t count;
	uint8_t *bytes;		/* all before its directory */
	size_t size;
} base;

static void must(bool good)
{
	if (!good)
		abort();
}

static int some_file(const void *bytes, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	must(fd >= 0 && io_full_write(fd, bytes, size) == 0);
	return fd;
}

static char *path_of(int fd)
{
	return grow_format("/proc/self/fd/%d", fd);
}

/* The store of a trace; `older` is closed. NULL: it cannot be made. */
static struct store *build(const char *trace, struct store *older)
{
	struct index_build build = { .trace = trace, .older = older,
				    .fd = some_file("", 0) };
	struct store *store = NULL;

	if (index_build(&build) != 0)
		close(build.fd);
	else
		must(store_open(build.fd, "made", NULL, &store) == STORE_GOOD);
	store_close(older);
	return store;
}

/* ---- the beginning of the trace ---- */

static struct store *store_of_beginning(size_t size)
{
	int fd = some_file(fuzz_state_trace, size);
	char *path = path_of(fd);
	struct store *store = build(path, NULL);

	free(path);
	close(fd);
	return store;
}

/* The longest beginning that has a state. */
static void find_beginning(size_t size)
{
	size_t bytes = 0;

	while (base.words == NULL && size > PIECE) {
		size -= PIECE;
		store_close(base.store);
		base.store = store_of_beginning(size);
		if (base.store != NULL)
			base.words = store_blob(base.store, INDEX_STATE_BLOB,
						&bytes);
	}
	must(base.words != NULL);
	base.count = bytes / sizeof(*base.words);
}

static void begin(void)
{
	size_t size = (size_t)(fuzz_state_trace_end - fuzz_state_trace);
	struct store *whole;

	base.trace = some_file(fuzz_state_trace, size);
	base.path = path_of(base.trace);
	whole = build(base.path, NULL);
	must(whole != NULL);
	base.rows = store_rows(whole);
	store_close(whole);
	find_beginning(size);
	base.size = base.store->header.directory_offset;
	base.bytes = grow_alloc(base.size);
	must(io_full_read_at(base.store->fd, base.bytes, base.size, 0) ==
	     (ssize_t)base.size);
}

/* ---- a store with another state ---- */

static void append(int fd, uint64_t *end, const void *bytes, size_t size)
{
	must(io_full_write_at(fd, bytes, size, *end) == 0);
	*end += size;
}

static struct store_blob_entry *find_state(void)
{
	struct store_directory *directory = &base.store->directory;

	for (size_t i = 0; i < directory->blob_count; i++)
		if (strcmp(directory->blobs[i].name, INDEX_STATE_BLOB) == 0)
			return &directory->blobs[i];
	abort();
}

static struct store *forge(const void *state, size_t size)
{
	int fd = some_file(base.bytes, base.size);
	struct store_blob_entry *blob = find_state(), before = *blob;
	struct store_header header = base.store->header;
	LOCAL_BUFFER bytes = { 0 };
	struct store *store;
	uint64_t end = base.size;

	blob->offset = end;
	blob->size = size;
	blob->checksum = store_checksum(state, size, end);
	append(fd, &end, state, size);
	header.directory_offset = end;
	store_directory_put(&bytes, &base.store->directory);
	*blob = before;
	header.directory_size = bytes.size;
	header.directory_checksum = store_checksum(bytes.data, bytes.size, end);
	append(fd, &end, bytes.data, bytes.size);
	header.file_size = end;
	buffer_clear(&bytes);
	store_header_put(&bytes, &header);
	must(io_full_write_at(fd, bytes.data, bytes.size, 0) == 0);
	must(store_open(fd, "forged", NULL, &store) == STORE_GOOD);
	return store;
}

static void change(uint64_t *words, const uint8_t *data, size_t size)
{
	struct cursor input = cursor_over(data, size);

	while (cursor_left(&input) >= 4) {
		uint64_t *word = &words[cursor_u16(&input) % base.count];
		uint8_t how = cursor_u8(&input), by = cursor_u8(&input);

		switch (how % 6) {
		case 0:
			*word = by;
			break;
		case 1:
			*word += by;
			break;
		case 2:
			*word -= by;
			break;
		case 3:
			*word ^= UINT64_C(1) << by % 64;
			break;
		case 4:
			*word = UINT64_MAX - by;
			break;
		default:
			*word = words[by % base.count];
		}
	}
}

static struct store *forge_changed(const uint8_t *data, size_t size)
{
	const size_t bytes = base.count * sizeof(*base.words);
	uint64_t *words = grow_alloc(bytes);
	struct store *store;

	memcpy(words, base.words, bytes);
	change(words, data, size);
	store = forge(words, bytes);
	free(words);
	return store;
}

/* Without one that is understood, the store is made anew: that takes long, and is
 * the same for all. */
static bool is_understood(struct store *store)
{
	struct index_resume resume;
	bool good = index_resume_open(&resume, store);

	index_resume_free(&resume);
	return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct store *store;

	if (base.words == NULL)
		begin();
	if (size == 0)
		return 0;
	store = data[0] % 2 == 1 ? forge(data + 1, size - 1) :
				   forge_changed(data + 1, size - 1);
	if (!is_understood(store)) {
		must(size > 1 || data[0] % 2 == 1);
		store_close(store);
		return 0;
	}
	store = build(base.path, store);
	must(store != NULL);
	must(size > 1 || store_rows(store) == base.rows);
	store_close(store);
	return 0;
}
