// FLAGS: -rdynamic
/*
 * jit_frames.c HOW [map|link]: allocates through code made at run time that
 * keeps no frame pointer. Its unwind table is registered with the C runtime's
 * entry HOW, or shown to debuggers ("gdb"), or not at all ("none"). The code is
 * made anew several times at the same address, each time with another frame
 * size.
 *
 * "map": writes the code's names to /tmp/perf-PID.map, as compilers do for
 * perf; "link": that is a symbolic link to the file.
 *
 * Prints how many frames the C runtime's own unwinder finds beyond the code
 * (none if only debuggers know the table), as a check that the table is
 * registered.
 */
#include <elf.h>
#include <fcntl.h>
#include <unwind.h>

#include "jit_code.h"
#include "tgt.h"

#define ROUNDS 4
#define BLOCKS 200

extern void __register_frame(void *), __deregister_frame(void *);
extern void __register_frame_info(void *, void *);
extern void __register_frame_info_bases(void *, void *, void *, void *);
extern void __register_frame_table(void *);
extern void __register_frame_info_table(void *, void *);
extern void __register_frame_info_table_bases(void *, void *, void *, void *);
extern void *__deregister_frame_info(void *);
extern void *__deregister_frame_info_bases(void *);

struct jit_code_entry {
	struct jit_code_entry *next, *previous;
	const void *object;
	uint64_t size;
};

struct jit_descriptor {
	uint32_t version, action;
	struct jit_code_entry *relevant, *first;
} __jit_debug_descriptor = { .version = 1 };

/* What a debugger finds: an ELF object with the one section. */
static struct object {
	Elf64_Ehdr header;
	Elf64_Shdr section[3];
	char names[32];
	uint8_t table[TABLE_MAX];
} object;

static struct jit_code_entry entry = {
	.object = &object, .size = sizeof(object)
};
static void *list[2] = { object.table, NULL };
static char real_object[128];
static uint8_t *code;
static unsigned seen_frames;

static void make_object(size_t table_size)
{
	Elf64_Shdr *names = &object.section[1], *table = &object.section[2];

	memcpy(object.header.e_ident, ELFMAG, SELFMAG);
	object.header.e_ident[EI_CLASS] = ELFCLASS64;
	object.header.e_machine = EM_X86_64;
	object.header.e_shoff = offsetof(struct object, section);
	object.header.e_shentsize = sizeof(Elf64_Shdr);
	object.header.e_shnum = 3;
	object.header.e_shstrndx = 1;
	memcpy(object.names, "\0.shstrtab\0.eh_frame", 21);
	names->sh_name = 1;
	names->sh_type = SHT_STRTAB;
	names->sh_offset = offsetof(struct object, names);
	names->sh_size = sizeof(object.names);
	table->sh_name = 11;
	table->sh_type = SHT_PROGBITS;
	table->sh_addr = (uintptr_t)object.table;
	table->sh_offset = offsetof(struct object, table);
	table->sh_size = table_size;
}

static void show(int yes)
{
	__jit_debug_descriptor.action = yes ? 1 : 2;
	__jit_debug_descriptor.relevant = &entry;
	__jit_debug_descriptor.first = yes ? &entry : NULL;
}

static void enter(const char *how)
{
	if (!strcmp(how, "frame"))
		__register_frame(object.table);
	else if (!strcmp(how, "info"))
		__register_frame_info(object.table, real_object);
	else if (!strcmp(how, "info_bases"))
		__register_frame_info_bases(object.table, real_object, NULL,
					    NULL);
	else if (!strcmp(how, "table"))
		__register_frame_table(list);
	else if (!strcmp(how, "info_table"))
		__register_frame_info_table(list, real_object);
	else if (!strcmp(how, "info_table_bases"))
		__register_frame_info_table_bases(list, real_object, NULL,
						  NULL);
	else if (!strcmp(how, "gdb"))
		show(1);
}

static int leave(const char *how)
{
	void *begin = strstr(how, "table") ? (void *)list : object.table;

	if (!strcmp(how, "frame") || !strcmp(how, "table"))
		__deregister_frame(begin);
	else if (strstr(how, "bases"))
		return __deregister_frame_info_bases(begin) == real_object;
	else if (strstr(how, "info"))
		return __deregister_frame_info(begin) == real_object;
	else if (!strcmp(how, "gdb"))
		show(0);
	return 1;
}

static _Unwind_Reason_Code count(struct _Unwind_Context *context, void *arg)
{
	(void)arg;
	seen_frames += _Unwind_GetIP(context) != 0;
	return _URC_NO_REASON;
}

TGT_FUNCTION void *allocate(size_t size)
{
	void *p = malloc(size);

	seen_frames = 0;
	_Unwind_Backtrace(count, NULL);
	tgt_sink = p;
	return p;
}

/* The newest name for the place comes last. */
static void write_map(int link)
{
	char path[64], real[80], text[256];
	int fd;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	snprintf(real, sizeof(real), "%s%s", path, link ? ".real" : "");
	snprintf(text, sizeof(text), "%lx %x older code\n"
		 "nonsense\n%lx 10 before it\n%lx %x made at run time\n",
		 (unsigned long)code, CODE_MAX, (unsigned long)code - 16,
		 (unsigned long)code, CODE_MAX);
	/* of an earlier process with our number */
	unlink(path);
	unlink(real);
	fd = open(real, O_WRONLY | O_CREAT | O_EXCL, 0600);
	if (fd < 0 || write(fd, text, strlen(text)) < 0 || close(fd) ||
	    (link && symlink(real, path)))
		abort();
}

TGT_FUNCTION void round_of(int number)
{
	jit_call *jit = (jit_call *)(void *)code;

	for (int i = 0; i < BLOCKS; i++)
		free(jit(allocate, 100 + (size_t)number));
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "none";
	int right = 1;

	code = mmap(NULL, CODE_PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		return 1;
	if (argc > 2)
		write_map(!strcmp(argv[2], "link"));
	for (int i = 0; i < ROUNDS; i++) {
		uint8_t frame = (uint8_t)(16 + 32 * (i % 3));
		size_t size = jit_make_code(code, frame);

		make_object(jit_make_table(object.table, code, frame, size));
		enter(how);
		round_of(i);
		right &= leave(how);
	}
	tgt_print("rounds", ROUNDS);
	tgt_print("blocks", ROUNDS * BLOCKS);
	tgt_print("unwound", seen_frames);
	tgt_print("right", (uint64_t)right);
	return 0;
}
