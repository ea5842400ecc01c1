/*
 * test_dump_stacks.c: stacks as text: names, what is added up, cut, hidden and
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

#include "cli/recorder/dump/dump_stacks.h"
#include "cli/recorder/dump/elf_names.h"
#include "cli/recorder/process/target_file.h"

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

static char program[PATH_MAX];
static struct gl_header header;
static struct gl_node nodes[NODES];
static uint32_t node_count;
static struct gl_image image, copy;
static char *mapped;
static const uint64_t reserved = 1;
static struct emit_image images = {
	.images = &image, .copies = &copy, .mapped = &mapped,
	.header = &header, .reserved = &reserved, .exe = program,
};
static struct scratch memory;
static char out[65536];
static size_t out_size;

static int note_image(struct dl_phdr_info *info, size_t size, void *data)
{
	unsigned i;

	(void)size;
	(void)data;
	copy.bias = info->dlpi_addr;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD)
			continue;
		copy.segment[copy.segments].start =
			info->dlpi_addr + p->p_vaddr;
		copy.segment[copy.segments++].size = p->p_memsz;
	}
	return 1;
}

static uint32_t node(uint32_t parent, int (*function)(int), unsigned offset)
{
	uint32_t id = node_count++;

	nodes[id].parent = parent;
	nodes[id].address = (uintptr_t)function + offset + 1;
	return id;
}

static int set_up(void **state)
{
	(void)state;
	memset(nodes, 0, sizeof(nodes));
	memset(&copy, 0, sizeof(copy));
	node_count = FIRST;
	header.image_count = 1;
	copy.flags = GT_IMAGE_MAIN;
	dl_iterate_phdr(note_image, NULL);
	assert_non_null(realpath("/proc/self/exe", program));
	target_file_init((int32_t[GL_FILES]){ -1, -1, -1, -1, -1, -1, -1 },
			 getpid());
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

/* What would be asked of the program's editor. */
typedef void (*editor)(struct dump_frames_one *frame);

static int dump_make(struct dump_stacks *stacks, editor edit,
		     const struct dump_row *rows, size_t count)
{
	struct dump_frames *frames = stacks->frames;
	const struct dump_how *how = stacks->how;
	struct dump_frames_one *f;
	int err = dump_frames_begin(frames);
	size_t i;

	for (i = 0; i < count && !err; i++)
		err = dump_frames_take(frames, rows[i].context);
	if (!err && how->options.here) {
		stacks->from = dump_frames_caller(frames, how->options.caller);
		err = stacks->from ? 0 : -ENOMEM;
	}
	while (!err && (err = dump_frames_name(frames)) > 0)
		err = 0;
	for (f = frames->all; f && edit && !err; f = f->next)
		edit(f);
	if (!err)
		err = dump_stacks_begin(stacks);
	for (i = 0; i < count && !err; i++)
		err = dump_stacks_add(stacks, &rows[i]);
	return err ? err : dump_stacks_sort(stacks);
}

/* Dumps what a row each says; how many stacks, or an error. piece: the text
 * comes in such parts. */
static int dump(struct dump_how *how, editor edit, size_t piece,
		const struct dump_row *rows, size_t count)
{
	struct dump_frames frames = { .images = &images, .nodes = nodes,
				      .node_count = node_count,
				      .memory = &memory };
	struct dump_stacks stacks = { .how = how, .frames = &frames,
				      .memory = &memory };
	size_t n;
	int err;

	out_size = 0;
	out[0] = '\0';
	how->options.caller = (uintptr_t)middle_function + 2;
	err = dump_make(&stacks, edit, rows, count);
	if (err)
		return err;
	while ((n = dump_stacks_lines(&stacks, out + out_size, piece))) {
		assert_true(n <= piece);
		/* lines, or a part of one alone */
		assert_true(out[out_size + n - 1] == '\n' ||
			    !memchr(out + out_size, '\n', n));
		out_size += n;
		assert_true(out_size + piece < sizeof(out));
	}
	out[out_size] = '\0';
	return stacks.count;
}

/* outer → middle → inner, twice by different calls of middle; outer → inner;
 * and one whose outermost address is in no image. */
static struct dump_row rows[5];
static void story(void)
{
	uint32_t o = node(0, outer_function, 1);
	uint32_t m = node(o, middle_function, 1);
	uint32_t m2 = node(o, middle_function, 2);
	uint32_t stray = node_count++;

	nodes[stray].address = 0x1235;
	rows[0] = (struct dump_row){ node(m, inner_function, 1),
				    { 1, 100, 10, 60, 1 } };
	rows[1] = (struct dump_row){ node(m2, inner_function, 2),
				    { 2, 200, 20, 70, 2 } };
	rows[2] = (struct dump_row){ node(o, inner_function, 1),
				    { 4, 400, 40, 80, 3 } };
	rows[3] = (struct dump_row){ node(stray, inner_function, 3),
				    { 8, 800, 0, 90, 0 } };
	rows[4] = (struct dump_row){ 0, { 1, 7, 7, 7, 1 } };
}

static void complete(struct dump_how *how)
{
	assert_int_equal(dump_how_complete(how), 0);
}

static void equal_names_are_added_up(void **state)
{
	static const char wanted[] =
		"_mpTrace_;0x1234;inner_function $8$800$0$90$0\n"
		"_mpTrace_;outer_function;inner_function $4$400$40$80$3\n"
		"_mpTrace_;outer_function;middle_function;inner_function "
		"$3$300$30$130$3\n";
	static const size_t pieces[] = { 1, 7, 50, 101, 200, 10000 };
	struct dump_how how = { 0 };
	size_t i;

	(void)state;
	story();
	complete(&how);
	assert_int_equal(dump(&how, NULL, 10000, rows, 4), 2);
	assert_string_equal(
		out, "outer_function;inner_function 40\n"
		     "outer_function;middle_function;inner_function 30\n");
	how.options.fields = 31;
	how.options.sort = GNOMON_TOTAL;
	how.word[DUMP_PREFIX] = "_mpTrace_;";
	how.word[DUMP_BEFORE_NUMBERS] = " $";
	how.word[DUMP_BETWEEN_NUMBERS] = "$";
	for (i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
		scratch_end(&memory);
		assert_int_equal(dump(&how, NULL, pieces[i], rows, 4), 3);
		assert_string_equal(out, wanted);
	}
}

static void details_have_addresses(void **state)
{
	struct dump_how how = { .options = { .form = GNOMON_DETAIL, .fields = 3,
					   .most = 1 } };
	char wanted[512 + 2 * PATH_MAX];
	uint64_t bias;

	(void)state;
	story();
	bias = copy.bias;
	complete(&how);
	assert_int_equal(dump(&how, NULL, 10000, &rows[2], 1), 1);
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
	struct dump_how how = { .options = { .fields = GNOMON_COUNT } };

	(void)state;
	story();
	complete(&how);
	how.word[DUMP_FROM] = "middle_function";
	assert_int_equal(dump(&how, NULL, 10000, rows, 5), 1);
	assert_string_equal(out, "middle_function;inner_function 3\n");
	how.word[DUMP_FROM] = "nowhere";
	assert_int_equal(dump(&how, NULL, 10000, rows, 5), 0);
	assert_string_equal(out, "");
	how.word[DUMP_FROM] = NULL;
	how.options.here = 1;
	assert_int_equal(dump(&how, NULL, 10000, rows, 5), 1);
	assert_string_equal(out, "middle_function;inner_function 3\n");
}

static unsigned edits;

static void edit(struct dump_frames_one *f)
{
	edits++;
	assert_true(f->room >= strlen(f->name) + 1 + DUMP_EDIT_ROOM);
	if (!f->frame.symbol) {
		assert_string_equal(f->frame.module, "");
		assert_string_equal(f->name, "0x1234");
		return;
	}
	assert_string_equal(f->frame.module, program);
	assert_string_equal(f->frame.symbol, f->name);
	if (strcmp(f->name, "middle_function") == 0) {
		strcpy(f->name, "MIDDLE");
		f->edit = GNOMON_CUT;
	} else if (strcmp(f->name, "outer_function") == 0) {
		f->edit = GNOMON_HIDE;
	}
}

static void names_are_edited(void **state)
{
	struct dump_how how = { .options = { .fields = GNOMON_TOTAL,
					  .least = 300 } };

	(void)state;
	story();
	complete(&how);
	edits = 0;
	assert_int_equal(dump(&how, edit, 10000, rows, 5), 3);
	assert_string_equal(out, "0x1234;inner_function 800\n"
				 "inner_function 400\n"
				 "MIDDLE 300\n");
	/* addresses: outer, two in middle, three in inner, the stray one */
	assert_int_equal(edits, 7);
}

/* The target may write anything there. */
static void broken_nodes_end(void **state)
{
	struct dump_how how = { 0 };

	(void)state;
	story();
	complete(&how);
	nodes[FIRST].parent = FIRST;
	nodes[FIRST + 1].parent = UINT32_MAX;
	nodes[FIRST + 2].parent = NODES - 1;
	rows[4].context = UINT32_MAX;
	assert_int_equal(dump(&how, NULL, 10000, rows, 5), 3);
}

static void what_cannot_be_is_refused(void **state)
{
	struct dump_how how = { .options = { .form = 2 } };

	(void)state;
	assert_int_equal(dump_how_complete(&how), -EINVAL);
	how.options = (struct dump_options){ .fields = 32 };
	assert_int_equal(dump_how_complete(&how), -EINVAL);
	how.options = (struct dump_options){ .sort = 3 };
	assert_int_equal(dump_how_complete(&how), -EINVAL);
}

static void memory_runs_out(void **state)
{
	struct dump_how how = { 0 };
	uint64_t limit;

	(void)state;
	story();
	complete(&how);
	for (limit = 0; limit < UINT64_C(6) << 20; limit += 1 << 18) {
		int printed;

		scratch_end(&memory);
		memory.limit = limit;
		printed = dump(&how, NULL, 10000, rows, 4);
		assert_true(printed == 2 || printed == -ENOMEM);
	}
}

/* A broken copy of this program gives names, or none; nothing else. */
static void broken_files(void **state)
{
	char path[] = "/tmp/gnomon-elf.XXXXXX";
	int from = open("/proc/self/exe", O_RDONLY), to = mkstemp(path);
	struct elf_wanted wanted = {
		.address = (uintptr_t)inner_function - copy.bias + 1
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
		cmocka_unit_test_setup_teardown(broken_nodes_end, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(broken_files, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
