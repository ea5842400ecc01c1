/*
 * test_rules_library.c: rules over the tables of the C library: asked by many
 * threads at once, by a signal handler, and broken. Those are records of
 * .eh_frame, or an index (exidx.h).
 */
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/rules_builder.h"
#include "unwind/rules/cfi.h"

/* The C library's own tables, and its code. */
struct library {
	struct rules_sections s;
	uintptr_t frame_size;
};

static int find_library(struct dl_phdr_info *info, size_t size, void *data)
{
	struct library *lib = data;
	const ElfW(Phdr) *p;
	uintptr_t at = 0;

	(void)size;
	if (!strstr(info->dlpi_name, "libc.so"))
		return 0;
	lib->s.bias = info->dlpi_addr;
	for (p = info->dlpi_phdr; p < info->dlpi_phdr + info->dlpi_phnum;
	     p++) {
		at = info->dlpi_addr + p->p_vaddr;
		if (p->p_type == PT_GNU_EH_FRAME) {
			lib->s.eh_frame_hdr = at;
			lib->s.eh_frame_hdr_size = p->p_memsz;
		} else if (ARCH_ELF_EXIDX && p->p_type == ARCH_ELF_EXIDX) {
			lib->s.exidx = at;
			lib->s.exidx_size = p->p_memsz;
		} else if (p->p_type == PT_LOAD && (p->p_flags & PF_X)) {
			lib->s.text_start = at;
			lib->s.text_end = at + p->p_memsz;
		}
	}
	for (p = info->dlpi_phdr; p < info->dlpi_phdr + info->dlpi_phnum;
	     p++) {
		uintptr_t tables = lib->s.exidx ? lib->s.exidx :
						  lib->s.eh_frame_hdr;

		at = info->dlpi_addr + p->p_vaddr;
		if (p->p_type == PT_LOAD && at <= tables &&
		    tables < at + p->p_memsz) {
			lib->s.readable_start = at;
			lib->s.readable_end = at + p->p_memsz;
		}
	}
	lib->s.segments = 1;
	lib->s.segment[0].start = lib->s.readable_start;
	lib->s.segment[0].end = lib->s.readable_end;
	return 1;
}

static struct library load_library(void)
{
	struct library lib = { .frame_size = 0 };

	assert_int_equal(dl_iterate_phdr(find_library, &lib), 1);
	assert_true(lib.s.eh_frame_hdr || lib.s.exidx);
	return lib;
}

static struct rules_image *shared_image;
static uint16_t *expected;

static void *ask_all(void *seed)
{
	const struct library lib = load_library();
	size_t n = lib.s.text_end - lib.s.text_start, i, wrong = 0;
	size_t at = (uintptr_t)seed * 12345 * ARCH_INSTRUCTION % n;

	n -= n % ARCH_INSTRUCTION;
	for (i = 0; i < n / 3; i += ARCH_INSTRUCTION,
	     at = (at + 600011 * ARCH_INSTRUCTION) % n) {
		uint16_t id = rules_find(shared_image, lib.s.text_start + at);

		wrong += memcmp(&rules_dictionary[id],
				&rules_dictionary[expected[at]], 8) != 0;
	}
	return (void *)wrong;
}

/* Many threads fill one table; all see what one alone sees. */
static void test_threads(void **unused)
{
	const struct library lib = load_library();
	size_t n = lib.s.text_end - lib.s.text_start, i;
	struct rules_image *alone;
	pthread_t threads[4];
	void *wrong;

	(void)unused;
	start();
	alone = rules_image_new(&lib.s);
	shared_image = rules_image_new(&lib.s);
	expected = calloc(n, sizeof(*expected));
	for (i = 0; i < n; i += ARCH_INSTRUCTION)
		expected[i] = rules_find(alone, lib.s.text_start + i);
	for (i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, ask_all, (void *)i);
	for (i = 0; i < 4; i++) {
		pthread_join(threads[i], &wrong);
		assert_null(wrong);
	}
	free(expected);
}

static volatile sig_atomic_t interrupts;
static uintptr_t handler_start, handler_size;

static void ask_in_handler(int number)
{
	static uint32_t random = 7;

	(void)number;
	random = random * 1664525u + 1013904223u;
	rules_find(shared_image,
		   handler_start + (random >> 4) % handler_size);
	interrupts++;
}

/* A handler asks while its thread is storing. */
static void test_signals(void **unused)
{
	const struct library lib = load_library();
	struct itimerspec often = {
		.it_interval = { .tv_nsec = 20000 },
		.it_value = { .tv_nsec = 20000 },
	};
	struct sigevent event = {
		.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1,
	};
	timer_t timer;
	uintptr_t pc;
	unsigned int round;

	(void)unused;
	start();
	handler_start = lib.s.text_start;
	handler_size = lib.s.text_end - lib.s.text_start;
	shared_image = rules_image_new(&lib.s);
	signal(SIGUSR1, ask_in_handler);
	assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
	assert_int_equal(timer_settime(timer, 0, &often, NULL), 0);
	for (round = 0; round < 200 && interrupts < 1000; round++) {
		shared_image = rules_image_new(&lib.s);
		for (pc = lib.s.text_start; pc < lib.s.text_end; pc += 61)
			rules_find(shared_image, pc);
	}
	timer_delete(timer);
	signal(SIGUSR1, SIG_IGN);
	assert_true(interrupts > 10);
	assert_true(granule_try_lock());
	granule_unlock();
}

/* What a broken table may make an expression ask for: any address. */
static bool read_any(void *ctx, uintptr_t address, uint64_t *value)
{
	(void)ctx;
	*value = address * UINT64_C(0x9e3779b97f4a7c15);
	return address % 7 != 0;
}

static uint8_t *arena;
static size_t arena_used;
enum { ARENA_SIZE = 8 << 20 };

/* Memory that each round gives back as a whole. */
static void *arena_alloc(size_t size)
{
	uint8_t *memory = arena + arena_used;

	size = (size + 63) & ~(size_t)63;
	if (size > ARENA_SIZE - arena_used)
		return NULL;
	arena_used += size;
	return memset(memory, 0, size);
}

static uint32_t random_state = 12345;

static uint32_t draw(uint32_t limit)
{
	random_state = random_state * 1664525u + 1013904223u;
	return (uint32_t)(((uint64_t)random_state * limit) >> 32);
}

enum {
	ROUNDS = 6000, PCS = 6, CHANGES = 4, RECORD_HEAD = 20,
	SAMPLES = 1000,
	PROGRAMS = 4096		/* bytes before an index that are programs */
};

/* A round's places in the code, and the bytes that are changed for it. */
struct round {
	uintptr_t pc[PCS];
	uint8_t *at[PCS * CHANGES];
	uint8_t was[PCS * CHANGES];
};

/* Bytes around the entries of the index that will be asked for, of the programs
 * before them, and some of everything. */
static void choose_of_index(struct round *r, const struct rules_sections *s)
{
	size_t size = s->readable_end - s->readable_start;
	size_t span = s->text_end - s->text_start;
	unsigned int i, j;

	for (i = 0; i < PCS; i++) {
		uint8_t **at = &r->at[i * CHANGES];
		size_t n;

		r->pc[i] = s->text_start + draw((uint32_t)span);
		/* about where its entry is, as functions are of a size */
		n = (size_t)((uint64_t)(r->pc[i] - s->text_start) *
			     s->exidx_size / span);
		for (j = 0; j < CHANGES; j++)
			at[j] = (uint8_t *)s->exidx +
				(n + draw(64)) % s->exidx_size;
		if (draw(2) == 0)
			at[0] = (uint8_t *)s->exidx + draw(s->exidx_size);
		if (draw(2) == 0)
			at[1] = (uint8_t *)s->exidx - draw(PROGRAMS);
		if (draw(8) == 0)
			at[2] = (uint8_t *)s->readable_start +
				draw((uint32_t)size);
	}
}

/* Bytes of the records that will be asked for, and some of everything. */
static void choose(struct round *r, const struct cfi_tables *whole,
		   const struct rules_sections *s)
{
	size_t size = s->readable_end - s->readable_start;
	struct cfi_fde fde;
	unsigned int i, j;

	if (s->exidx) {
		choose_of_index(r, s);
		return;
	}
	for (i = 0; i < PCS; i++) {
		uint8_t **at = &r->at[i * CHANGES];

		do {
			size_t span = s->text_end - s->text_start;

			r->pc[i] = s->text_start + draw((uint32_t)span);
		} while (cfi_find(whole, r->pc[i], &fde));
		for (j = 0; j < CHANGES; j++) {
			uintptr_t record = fde.program - RECORD_HEAD;
			uint32_t n = (uint32_t)(fde.program_end - record);

			at[j] = (uint8_t *)record + draw(n);
		}
		if (draw(8) == 0)
			at[0] = (uint8_t *)s->readable_start + draw(40);
		if (draw(8) == 0)
			at[1] = (uint8_t *)fde.cie.program - draw(16);
		if (draw(8) == 0)
			at[2] = (uint8_t *)s->readable_start +
				draw((uint32_t)size);
	}
}

static void ask_broken(const struct rules_sections *s, const struct round *r)
{
	struct arch_regs regs;
	bool is_signal;
	unsigned int i, j;

	arena_used = 0;
	assert_int_equal(rules_init(), 0);
	image = rules_image_new(s);
	assert_non_null(image);
	for (i = 0; i < PCS; i++) {
		assert_true(rules_find(image, r->pc[i]) < rules_count());
		for (j = 0; j < ARCH_REG_COUNT; j++)
			regs.r[j] = draw(UINT32_MAX);
		regs.r[ARCH_REG_PC] = r->pc[i];
		rules_step_full(image, &regs, true, &is_signal, read_any,
				NULL);
	}
}

/* libc's tables, moved between two pages that cannot be touched. */
static struct rules_sections copy_tables(const struct library *lib)
{
	/* programs lie before the index, records behind their header */
	uintptr_t first = lib->s.exidx ? lib->s.readable_start :
					 lib->s.eh_frame_hdr;
	size_t size = lib->s.readable_end - first;
	size_t room = (size + BUILDER_PAGE - 1) & ~(BUILDER_PAGE - 1ul);
	struct rules_sections s = lib->s;
	uintptr_t copy, moved;
	uint8_t *area;

	area = mmap(NULL, room + 2 * BUILDER_PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(area != MAP_FAILED);
	mprotect(area, BUILDER_PAGE, PROT_NONE);
	mprotect(area + BUILDER_PAGE + room, BUILDER_PAGE, PROT_NONE);
	copy = (uintptr_t)area + BUILDER_PAGE + room - size;
	memcpy((void *)copy, (const void *)first, size);
	moved = copy - first;
	s.text_start += moved;
	s.text_end += moved;
	s.exidx += s.exidx ? moved : 0;
	s.eh_frame_hdr += s.eh_frame_hdr ? moved : 0;
	s.readable_start = s.segment[0].start = copy;
	s.readable_end = s.segment[0].end = copy + size;
	return s;
}

/* The rules at places that are everywhere in the code; how many there are. */
static unsigned int rules_all_over(const struct rules_sections *s,
				   struct rule *rule)
{
	size_t span = s->text_end - s->text_start;
	unsigned int i, found = 0;

	arena_used = 0;
	assert_int_equal(rules_init(), 0);
	image = rules_image_new(s);
	assert_non_null(image);
	for (i = 0; i < SAMPLES; i++) {
		uint16_t id = rules_find(image, s->text_start +
					 (size_t)i * (span / SAMPLES));

		rule[i] = rules_dictionary[id];
		found += id != 0;
	}
	return found;
}

/* Thousands of changes to them: no crash, no hang, no read outside. */
static void test_broken_library(void **unused)
{
	const struct library lib = load_library();
	const struct rules_sections good = copy_tables(&lib);
	struct cfi_tables whole;
	struct rules_sections s = good;
	static struct rule before[SAMPLES], after[SAMPLES];
	unsigned int round, i;
	struct round r;

	(void)unused;
	cfi_tables_init(&whole, &good);
	arena = builder_alloc(ARENA_SIZE);
	unwind_alloc = arena_alloc;
	for (round = 0; round < ROUNDS; round++) {
		choose(&r, &whole, &good);
		for (i = 0; i < PCS * CHANGES; i++) {
			r.was[i] = *r.at[i];
			*r.at[i] = draw(3) ? (uint8_t)draw(256) : 0xff;
		}
		/* Every twentieth by a linear pass. */
		s.eh_frame = round % 20 ? 0 : whole.frames;
		s.eh_frame_hdr = round % 20 ? good.eh_frame_hdr : 0;
		ask_broken(&s, &r);
		for (i = PCS * CHANGES; i-- > 0;)
			*r.at[i] = r.was[i];
	}
	/* Put together again, it is what it was. */
	assert_true(rules_all_over(&lib.s, before) > SAMPLES / 10);
	rules_all_over(&good, after);
	assert_memory_equal(before, after, sizeof(before));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_broken_library),
	};

	return cmocka_run_group_tests_name("rules_library", tests, NULL, NULL);
}
