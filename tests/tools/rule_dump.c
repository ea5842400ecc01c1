/*
 * rule_dump.c: prints the unwind rules of an ELF file, as the unwinder in the
 * target makes them: rule_dump [-a] [-c] [-n] [-s] [-t] FILE...
 *
 * It maps the file's segments at a bias as the loader would, without
 * relocation, and makes one rules_image of them. Then it reads link-time
 * addresses from standard input, in hexadecimal, one a line, and answers each
 * with a line
 *
 *	ADDRESS KIND BASE CFA_OFF FP_OFF	(fp in bytes)
 *
 *	-a  no input: a line for each address where the rule changes
 *	-c  no input, no answers: looks up so that every FDE is interpreted
 *	-n  without .eh_frame_hdr: .eh_frame is found by its section header
 *	-s  at the end a line "rules N table-bytes N eh_frame-bytes N", of all
 *	    the files together, as if one process had mapped them
 *	-t  no input: prints the cost of look-ups, cold and warm
 *
 * Exit status: 0; 2 wrong use or no such file.
 */
#include <elf.h>
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "unwind/base/memory.h"
#include "unwind/rules/rules.h"

static const char *const kind_names[] = {
	[RULE_NONE] = "none", [RULE_FRAME] = "frame", [RULE_DEREF] = "deref",
	[RULE_PLT] = "plt", [RULE_SIGNAL] = "signal", [RULE_END] = "end",
	[RULE_COMPLEX] = "complex", [RULE_BAD] = "bad", [RULE_CODE] = "code",
	[RULE_CODE_DEREF] = "code deref",
};

struct file {
	const uint8_t *bytes;
	size_t size;
	const Elf64_Ehdr *elf;
	const Elf64_Phdr *segments;
	uint8_t *mapped;	/* link-time address low */
	uint64_t low, high;
};

static void *allocate(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

/* This program trusts its file: it is for tests, on files of the system. */
static void open_file(struct file *f, const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY);

	if (fd < 0 || fstat(fd, &st))
		err(2, "%s", path);
	f->size = (size_t)st.st_size;
	f->bytes = mmap(NULL, f->size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (f->bytes == MAP_FAILED)
		err(2, "%s", path);
	close(fd);
	f->elf = (const Elf64_Ehdr *)f->bytes;
	if (f->size < sizeof(*f->elf) ||
	    memcmp(f->elf->e_ident, ELFMAG, SELFMAG) ||
	    f->elf->e_machine != ARCH_ELF_MACHINE)
		errx(2, "%s: not an ELF file of this architecture", path);
	f->segments = (const Elf64_Phdr *)(f->bytes + f->elf->e_phoff);
}

static void map_segments(struct file *f)
{
	const Elf64_Phdr *p;

	f->low = UINT64_MAX;
	for (p = f->segments; p < f->segments + f->elf->e_phnum; p++) {
		if (p->p_type != PT_LOAD)
			continue;
		if (p->p_vaddr < f->low)
			f->low = p->p_vaddr & ~UINT64_C(0xfff);
		if (p->p_vaddr + p->p_memsz > f->high)
			f->high = p->p_vaddr + p->p_memsz;
	}
	f->mapped = allocate(f->high - f->low);
	if (!f->mapped)
		err(2, "mmap");
	for (p = f->segments; p < f->segments + f->elf->e_phnum; p++)
		if (p->p_type == PT_LOAD)
			memcpy(f->mapped + (p->p_vaddr - f->low),
			       f->bytes + p->p_offset, p->p_filesz);
}

/* The section .eh_frame; NULL if there is none. */
static const Elf64_Shdr *find_frames(const struct file *f)
{
	const Elf64_Shdr *first, *s;
	const char *names;

	first = (const Elf64_Shdr *)(f->bytes + f->elf->e_shoff);
	if (f->elf->e_shoff == 0)
		return NULL;
	names = (const char *)f->bytes + first[f->elf->e_shstrndx].sh_offset;
	for (s = first; s < first + f->elf->e_shnum; s++)
		if (strcmp(names + s->sh_name, ".eh_frame") == 0)
			return s;
	return NULL;
}

static void fill_sections(const struct file *f, bool no_header,
			  struct rules_sections *sections)
{
	uintptr_t bias = (uintptr_t)f->mapped - f->low, tables = 0;
	const Elf64_Shdr *frames = find_frames(f);
	const Elf64_Phdr *p;

	*sections = (struct rules_sections){
		.text_start = UINTPTR_MAX,
		.bias = bias,
	};
	if (frames && no_header) {
		sections->eh_frame = tables = bias + frames->sh_addr;
		sections->eh_frame_size = frames->sh_size;
	}
	for (p = f->segments; p < f->segments + f->elf->e_phnum; p++) {
		if (p->p_type == PT_GNU_EH_FRAME && !no_header) {
			sections->eh_frame_hdr = tables = bias + p->p_vaddr;
			sections->eh_frame_hdr_size = p->p_memsz;
		}
		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		if (bias + p->p_vaddr < sections->text_start)
			sections->text_start = bias + p->p_vaddr;
		if (bias + p->p_vaddr + p->p_memsz > sections->text_end)
			sections->text_end = bias + p->p_vaddr + p->p_memsz;
	}
	for (p = f->segments; p < f->segments + f->elf->e_phnum; p++) {
		struct rules_range all = { bias + p->p_vaddr,
					   bias + p->p_vaddr + p->p_memsz };

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_R))
			continue;
		if (sections->segments < RULES_SEGMENTS_MAX)
			sections->segment[sections->segments++] = all;
		if (tables < all.start || tables >= all.end)
			continue;
		sections->readable_start = all.start;
		sections->readable_end = all.end;
	}
}

static void print_rule(uintptr_t address, uint16_t id)
{
	const struct rule *rule = &rules_dictionary[id];

	printf("%lx %s %s %d %d\n", (unsigned long)address,
	       kind_names[rule->kind],
	       rule->base == RULE_BASE_SP ? "sp" : "fp", rule->cfa_off,
	       rule->fp_off * ARCH_WORD);
}

static void answer_input(struct rules_image *image, uintptr_t bias)
{
	char line[64];

	while (fgets(line, sizeof(line), stdin)) {
		uintptr_t address = strtoul(line, NULL, 16);

		print_rule(address, rules_find(image, address + bias));
	}
}

static void print_all(struct rules_image *image,
		      const struct rules_sections *s)
{
	uint16_t last = 0, id;
	uintptr_t pc;

	for (pc = s->text_start; pc < s->text_end; pc++, last = id) {
		id = rules_find(image, pc);
		if (id != last)
			print_rule(pc - s->bias, id);
	}
}

/* Functions are aligned to this, and most FDEs cover one. */
static void ask_everywhere(struct rules_image *image,
			   const struct rules_sections *s)
{
	enum { STEP = 16 };
	uintptr_t pc;

	for (pc = s->text_start & ~(STEP - 1ul); pc < s->text_end; pc += STEP)
		rules_find(image, pc);
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* One place in 61 bytes of code, then the same ones again and again. */
static void print_times(struct rules_image *image,
			const struct rules_sections *s)
{
	enum { STEP = 61, ROUNDS = 5000000, NEAR = 64 };
	size_t n = 0, i, asked = (s->text_end - s->text_start) / STEP + 1;
	uintptr_t *covered = calloc(asked, sizeof(*covered)), pc, sum = 0;
	double start, cold, warm, near;
	uint32_t random = 1;

	start = now_ns();
	for (pc = s->text_start; pc < s->text_end; pc += STEP)
		if (rules_find(image, pc))
			covered[n++] = pc;
	cold = (now_ns() - start) / (double)asked;
	if (n == 0)
		errx(2, "no rules");
	start = now_ns();
	for (i = 0; i < ROUNDS; i++) {
		random = random * 1664525u + 1013904223u;
		sum += rules_find(image, covered[(random >> 4) % n]);
	}
	warm = (now_ns() - start) / ROUNDS;
	start = now_ns();
	for (i = 0; i < ROUNDS; i++)
		sum += rules_find(image, covered[i % NEAR * (n / NEAR)]);
	near = (now_ns() - start) / ROUNDS;
	printf("first pass %.0f ns a look-up, warm at random %.1f ns, "
	       "warm at %d places %.1f ns (%u)\n", cold, warm, NEAR, near,
	       (unsigned int)(sum & 1));
	free(covered);
}

struct wishes {
	bool all, cover, no_header, sizes, times;
};

/* Returns the bytes of its .eh_frame. */
static size_t dump(const char *path, const struct wishes *wish)
{
	struct rules_sections sections;
	struct rules_image *image;
	const Elf64_Shdr *frames;
	struct file f = { 0 };

	open_file(&f, path);
	map_segments(&f);
	fill_sections(&f, wish->no_header, &sections);
	image = rules_image_new(&sections);
	if (!image)
		errx(2, "no memory");
	if (wish->times)
		print_times(image, &sections);
	else if (wish->cover)
		ask_everywhere(image, &sections);
	else if (wish->all)
		print_all(image, &sections);
	else
		answer_input(image, sections.bias);
	frames = find_frames(&f);
	return frames ? frames->sh_size : 0;
}

int main(int argc, char **argv)
{
	struct wishes wish = { 0 };
	size_t frames = 0;
	int option;

	while ((option = getopt(argc, argv, "acnst")) != -1) {
		if (option == '?')
			return 2;
		wish.all |= option == 'a';
		wish.cover |= option == 'c';
		wish.no_header |= option == 'n';
		wish.sizes |= option == 's';
		wish.times |= option == 't';
	}
	if (optind == argc)
		errx(2, "use: rule_dump [-a] [-c] [-n] [-s] [-t] FILE...");
	unwind_alloc = allocate;
	if (rules_init())
		errx(2, "no memory");
	for (; optind < argc; optind++)
		frames += dump(argv[optind], &wish);
	if (wish.sizes)
		printf("rules %u table-bytes %zu eh_frame-bytes %zu\n",
		       rules_count(), rules_bytes(), frames);
	return 0;
}
