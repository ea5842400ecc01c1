// LINK: registers_return.S
/*
 * registers.c: a return from a function that was captured through changes no
 * register at all, neither those that calls may change nor those they may
 * not, no flag, no control word, and nothing below the stack pointer (but the
 * slot of the return address itself): registers_return.S fills them all just
 * before the return and stores them just after. With random contents, from
 * 1 to 100 frames below the allocation and above.
 */
#include "deep.h"

#define ZONE 112
#define FLAGS_USED 0xcd5	/* carry to overflow, with direction */

struct registers {
	uint64_t general[16];
	uint64_t flags;
	uint64_t pad[7];
	unsigned char fxsave[512];
	unsigned char ymm[16][32];
	unsigned char zmm[32][64];
	uint64_t mask[8];
	unsigned char zone[ZONE];
} __attribute__((aligned(64)));

_Static_assert(__builtin_offsetof(struct registers, fxsave) == 192, "fxsave");
_Static_assert(__builtin_offsetof(struct registers, ymm) == 704, "ymm");
_Static_assert(__builtin_offsetof(struct registers, zmm) == 1216, "zmm");
_Static_assert(__builtin_offsetof(struct registers, mask) == 3264, "mask");
_Static_assert(__builtin_offsetof(struct registers, zone) == 3328, "zone");

struct registers registers_wanted;
int registers_have_avx;		/* 1: avx, 2: avx512bw */
static struct registers seen;
static uint64_t wrong, checks, seed = 1;

void registers_call(int depth, struct registers *into);
void registers_allocate(int depth);

void registers_allocate(int depth)
{
	deep(depth, deep_nothing, NULL);
}

static uint64_t any(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return seed >> 11 ^ seed << 17;
}

static void fill(void)
{
	struct registers *w = &registers_wanted;
	uint64_t *words = (uint64_t *)w;
	unsigned i;

	for (i = 0; i < sizeof(*w) / sizeof(*words); i++)
		words[i] = any();
	w->flags = (any() & FLAGS_USED) | 0x202;
	/* what fxrstor loads must be loadable: no reserved bit of mxcsr,
	 * exceptions masked, all eight of st full */
	memset(w->fxsave, 0, 32);
	*(uint16_t *)w->fxsave = 0x037f | (any() & 0xc00);
	*(uint16_t *)(w->fxsave + 2) = any() & 0x3800;
	w->fxsave[4] = 0xff;
	*(uint32_t *)(w->fxsave + 24) = 0x1f80 | (any() & 0xe03f);
	for (i = 0; i < 8; i++)
		memset(w->fxsave + 32 + 16 * i + 10, 0, 6);
	memset(w->fxsave + 416, 0, 96);
	/* one truth for the registers that lie in each other */
	for (i = 0; i < 16; i++) {
		memcpy(w->ymm[i], w->fxsave + 160 + 16 * i, 16);
		memcpy(w->zmm[i], w->ymm[i], 32);
	}
}

static void expect(int same, const char *what)
{
	checks++;
	if (same)
		return;
	wrong++;
	tgt_write("changed: ");
	tgt_write(what);
	tgt_write("\n");
}

static void compare(void)
{
	struct registers *w = &registers_wanted;
	static char name[] = "general register   ";

	for (int i = 0; i < 16; i++) {
		name[17] = (char)('0' + i / 10);
		name[18] = (char)('0' + i % 10);
		if (i != 4)
			expect(seen.general[i] == w->general[i], name);
	}
	expect(((seen.flags ^ w->flags) & FLAGS_USED) == 0, "flags");
	expect(!memcmp(seen.fxsave, w->fxsave, 2), "x87 control word");
	expect(!memcmp(seen.fxsave + 2, w->fxsave + 2, 3), "x87 status");
	expect(!memcmp(seen.fxsave + 24, w->fxsave + 24, 4), "mxcsr");
	expect(!memcmp(seen.fxsave + 32, w->fxsave + 32, 128), "st");
	expect(!memcmp(seen.fxsave + 160, w->fxsave + 160, 256), "xmm");
	if (registers_have_avx >= 1)
		expect(!memcmp(seen.ymm, w->ymm, sizeof(w->ymm)), "ymm");
	if (registers_have_avx >= 2) {
		expect(!memcmp(seen.zmm, w->zmm, sizeof(w->zmm)), "zmm");
		expect(!memcmp(seen.mask, w->mask, sizeof(w->mask)), "k");
	}
	expect(!memcmp(seen.zone, w->zone, ZONE), "red zone");
}

static long check_here(void *argument)
{
	fill();
	memset(&seen, 0, sizeof(seen));
	registers_call(*(int *)argument, &seen);
	compare();
	return 0;
}

int main(void)
{
	if (__builtin_cpu_supports("avx"))
		registers_have_avx = 1;
	if (__builtin_cpu_supports("avx512bw"))
		registers_have_avx = 2;
	for (int i = 0; i < 600; i++) {
		int inner = i % 7 ? i % 7 : i % 100;

		wrong += deep(i % 31, check_here, &inner) != i % 31;
	}
	tgt_print("checks", checks);
	tgt_print("wrong", wrong);
	tgt_report();
	return wrong != 0;
}
