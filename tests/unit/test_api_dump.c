/*
 * test_api_dump.c: stacks as text: names, what is added up, cut, hidden and
 * left out. The contexts are made up; their addresses are of this program, whose
 * own symbol table has the names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/api/api_dump.h"
#include "preload/api/elf_names.h"
#include "preload/ring/recorder.h"
#include "unwind/context.h"
#include "unwind/memory.h"

#define NODES 64
#define FIRST GT_STOP_COUNT

int outer_function(int n);
int middle_function(int n);
int inner_function(int n);

__attribute__((noinline)) int inner_function(int n)
{
	return n * 3 + 1;
}

__attribute__((noinline)) int middle_function(int n)
{
	return inner_function(n) + 2;
}

__attribute__((noinline)) int outer_function(int n)
{
	return middle_function(n) + 3;
}

static struct {
	struct gl_header header;
	struct gl_node nodes[NODES];
	struct gl_image image;
} live;
static struct recorder r;
static char program[PATH_MAX];
static struct scratch memory;
static char out[65536];
static size_t out_size;

static int note_image(struct dl_phdr_info *info, size_t size, void *data)
{
	unsigned i;

	(void)size;
	(void)data;
	live.image.bias = info->dlpi_addr;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD)
			continue;
		live.image.segment[live.image.segments].start =
			info->dlpi_addr + p->p_vaddr;
		live.image.segment[live.image.segments++].size = p->p_memsz;
	}
	return 1;
}

static uint32_t node(uint32_t parent, int (*function)(int), unsigned offset)
{
	uint32_t id = live.header.node_count++;

	live.nodes[id].parent = parent;
	live.nodes[id].address = (uintptr_t)function + offset + 1;
	return id;
}

static void *allocate(size_t size)
{
	return calloc(1, size);
}

static int set_up(void **state)
{
	struct capture_config config = {
		.node_count = &live.header.node_count,
		.node_limit = &live.header.node_limit,
	};

	(void)state;
	memset(&live, 0, sizeof(live));
	config.nodes = live.nodes;
	unwind_alloc = allocate;
	assert_int_equal(context_init(&config), 0);
	live.header.images_offset = (char *)&live.image - (char *)&live;
	live.header.node_count = FIRST;
	live.header.image_count = 1;
	live.image.state = 1;
	live.image.flags = GT_IMAGE_MAIN;
	dl_iterate_phdr(note_image, NULL);
	assert_non_null(realpath("/proc/self/exe", program));
	r.live = &live.header;
	memory.limit = UINT64_C(1) << 28;
	out_size = 0;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	scratch_end(&memory);
	return 0;
}

static int take(void *data, const char *text, size_t size)
{
	(void)data;
	assert_true(out_size + size < sizeof(out));
	memcpy(out + out_size, text, size);
	out_size += size;
	out[out_size] = '\0';
	return 0;
}

/* Dumps what a row each says; how many stacks. */
static int dump(const struct gnomon_dump *how, const struct api_row *rows,
		size_t count)
{
	struct api_dump one = { .r = &r, .memory = &memory, .write = take,
				.caller = (uintptr_t)middle_function + 2 };

	out_size = 0;
	out[0] = '\0';
	assert_int_equal(api_dump_how(&one.how, how), 0);
	return api_dump_rows(&one, rows, count);
}

/* outer → middle → inner, twice by different calls of middle; outer → inner;
 * and one whose outermost address is in no image. */
static struct api_row rows[5];
static void story(void)
{
	uint32_t o = node(0, outer_function, 1);
	uint32_t m = node(o, middle_function, 1);
	uint32_t m2 = node(o, middle_function, 2);
	uint32_t stray = live.header.node_count++;

	live.nodes[stray].address = 0x1235;
	rows[0] = (struct api_row){ node(m, inner_function, 1),
				    { 1, 100, 10, 60, 1 } };
	rows[1] = (struct api_row){ node(m2, inner_function, 2),
				    { 2, 200, 20, 70, 2 } };
	rows[2] = (struct api_row){ node(o, inner_function, 1),
				    { 4, 400, 40, 80, 3 } };
	rows[3] = (struct api_row){ node(stray, inner_function, 3),
				    { 8, 800, 0, 90, 0 } };
	rows[4] = (struct api_row){ 0, { 1, 7, 7, 7, 1 } };
}

static void equal_names_are_added_up(void **state)
{
	struct gnomon_dump how = { 0 };

	(void)state;
	story();
	assert_int_equal(dump(&how, rows, 4), 2);
	assert_string_equal(
		out, "outer_function;inner_function 40\n"
		     "outer_function;middle_function;inner_function 30\n");
	how.fields = 31;
	how.sort = GNOMON_TOTAL;
	how.prefix = "_mpTrace_;";
	how.before_numbers = " $";
	how.between_numbers = "$";
	assert_int_equal(dump(&how, rows, 4), 3);
	assert_string_equal(
		out, "_mpTrace_;0x1234;inner_function $8$800$0$90$0\n"
		     "_mpTrace_;outer_function;inner_function "
		     "$4$400$40$80$3\n"
		     "_mpTrace_;outer_function;middle_function;inner_function "
		     "$3$300$30$130$3\n");
}

static void details_have_addresses(void **state)
{
	struct gnomon_dump how = { .form = GNOMON_DETAIL, .fields = 3,
				   .most = 1 };
	char wanted[512 + 2 * PATH_MAX];
	uint64_t bias;

	(void)state;
	story();
	bias = live.image.bias;
	assert_int_equal(dump(&how, &rows[2], 1), 1);
	snprintf(wanted, sizeof(wanted),
		 "count 4 total 400\n"
		 "\t#0 %#lx inner_function+0x1 (%s+%#lx)\n"
		 "\t#1 %#lx outer_function+0x1 (%s+%#lx)\n",
		 (uintptr_t)inner_function + 1, program,
		 (uintptr_t)inner_function + 1 - bias,
		 (uintptr_t)outer_function + 1, program,
		 (uintptr_t)outer_function + 1 - bias);
	assert_string_equal(out, wanted);
}

static void from_a_function_on(void **state)
{
	struct gnomon_dump how = { .from = "middle_function",
				   .fields = GNOMON_COUNT };

	(void)state;
	story();
	assert_int_equal(dump(&how, rows, 5), 1);
	assert_string_equal(out, "middle_function;inner_function 3\n");
	how.from = GNOMON_HERE;
	assert_int_equal(dump(&how, rows, 5), 1);
	assert_string_equal(out, "middle_function;inner_function 3\n");
	how.from = "nowhere";
	assert_int_equal(dump(&how, rows, 5), 0);
	assert_string_equal(out, "");
}

static enum gnomon_edit edit(void *data, const struct gnomon_frame *frame,
			     char *name, size_t room)
{
	unsigned *calls = data;

	++*calls;
	assert_true(room >= strlen(name) + 256);
	if (!frame->symbol) {
		assert_string_equal(frame->module, "");
		assert_string_equal(name, "0x1234");
		return GNOMON_KEEP;
	}
	assert_string_equal(frame->module, program);
	if (strcmp(frame->symbol, "middle_function") == 0) {
		strcpy(name, "MIDDLE");
		return GNOMON_CUT;
	}
	return strcmp(name, "outer_function") ? GNOMON_KEEP : GNOMON_HIDE;
}

static void names_are_edited(void **state)
{
	unsigned calls = 0;
	struct gnomon_dump how = { .edit = edit, .edit_data = &calls,
				   .fields = GNOMON_TOTAL, .least = 300 };

	(void)state;
	story();
	assert_int_equal(dump(&how, rows, 5), 3);
	assert_string_equal(out, "0x1234;inner_function 800\n"
				 "inner_function 400\n"
				 "MIDDLE 300\n");
	/* addresses: outer, two in middle, three in inner, the stray one */
	assert_int_equal(calls, 7);
}

static void what_cannot_be_is_refused(void **state)
{
	struct gnomon_dump how = { .form = 2 }, to;

	(void)state;
	assert_int_equal(api_dump_how(&to, &how), -EINVAL);
	how = (struct gnomon_dump){ .fields = 32 };
	assert_int_equal(api_dump_how(&to, &how), -EINVAL);
	how = (struct gnomon_dump){ .sort = 3 };
	assert_int_equal(api_dump_how(&to, &how), -EINVAL);
	how = (struct gnomon_dump){ .reserved = { 1 } };
	assert_int_equal(api_dump_how(&to, &how), -EINVAL);
	assert_int_equal(api_dump_how(&to, NULL), 0);
}

static void memory_runs_out(void **state)
{
	struct gnomon_dump how = { 0 };
	uint64_t limit;

	(void)state;
	story();
	for (limit = 0; limit < UINT64_C(6) << 20; limit += 1 << 18) {
		int printed;

		scratch_end(&memory);
		memory.limit = limit;
		printed = dump(&how, rows, 4);
		assert_true(printed == 2 || printed == -ENOMEM);
	}
}

static int refuse(void *data, const char *text, size_t size)
{
	(void)data;
	(void)text;
	(void)size;
	return -EPIPE;
}

static void a_writer_may_refuse(void **state)
{
	struct api_dump one = { .r = &r, .memory = &memory, .write = refuse };

	(void)state;
	story();
	api_dump_how(&one.how, NULL);
	assert_int_equal(api_dump_rows(&one, rows, 4), -EPIPE);
}

/* A broken copy of this program gives names, or none; nothing else. */
static void broken_files(void **state)
{
	char path[] = "/tmp/gnomon-elf.XXXXXX";
	int from = open("/proc/self/exe", O_RDONLY), to = mkstemp(path);
	struct elf_wanted wanted = {
		.address = (uintptr_t)inner_function - live.image.bias + 1
	};
	ElfW(Ehdr) e;
	struct stat st;
	unsigned i, seed = 1;
	char *bytes;

	(void)state;
	assert_int_equal(fstat(from, &st), 0);
	bytes = malloc(st.st_size);
	assert_int_equal(read(from, bytes, st.st_size), st.st_size);
	assert_int_equal(write(to, bytes, st.st_size), st.st_size);
	memcpy(&e, bytes, sizeof(e));
	assert_true(elf_names_find(path, NULL, 0, &wanted, 1, &memory));
	assert_string_equal(wanted.name, "inner_function");
	assert_false(elf_names_find(path, (const uint8_t *)"12345678901234567890",
				    20, &wanted, 1, &memory));
	for (i = 0; i < 400; i++) {
		/* in the file's header, or in the table of sections */
		off_t at = i % 4 ? (off_t)e.e_shoff +
				   rand_r(&seed) % (e.e_shnum * e.e_shentsize) :
				   16 + rand_r(&seed) % 48;
		char value = rand_r(&seed);

		assert_int_equal(pwrite(to, &value, 1, at), 1);
		wanted.name = NULL;
		scratch_end(&memory);
		elf_names_find(path, NULL, 0, &wanted, 1, &memory);
		assert_int_equal(pwrite(to, bytes + at, 1, at), 1);
		if (i % 40 == 0) {
			assert_int_equal(ftruncate(to, st.st_size * i / 400),
					 0);
			elf_names_find(path, NULL, 0, &wanted, 1, &memory);
			assert_int_equal(pwrite(to, bytes, st.st_size, 0),
					 st.st_size);
		}
	}
	free(bytes);
	close(from);
	close(to);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(equal_names_are_added_up,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(details_have_addresses, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(from_a_function_on, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(names_are_edited, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_cannot_be_is_refused,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(memory_runs_out, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_writer_may_refuse, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(broken_files, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
