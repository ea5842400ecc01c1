/*
 * api_numbers.c: the functions of gnomon/gnomon.h that ask for numbers. The
 * writer's ledger has them (ledger_ask.h). Threads of the target, outside of
 * hooks.
 */
#include "preload/api/api_numbers.h"

#include <errno.h>
#include <string.h>

#include "preload/api/api.h"
#include "preload/api/api_dump.h"
#include "preload/base/ban.h"
#include "preload/base/sys.h"
#include "preload/ring/ledger_ask.h"
#include "preload/ring/live_map.h"
#include "preload/ring/rest.h"
#include "stub/functions.h"
#include "unwind/dynsym.h"
#include "unwind/linkmap.h"

#define NUMBERS_FIRST 4096
#define NUMBERS_MEMORY (UINT64_C(1) << 30)	/* for a dump */

/* Of a program, or of a stub that is part of it. */
static const char *const numbers_names[] = {
	"gnomon_summarize", "gnomon_histograms", "gnomon_dump",
	"gnomon_dump_to", "gnomon_stats_every", "gnomon_numbers"
};

/* linkmap_each: the stub imports what stands in for its functions, but it is
 * no program that wants them. What comes after the start asks when it calls. */
static int numbers_look(const struct elfmap *map, void *data)
{
	static const char stub[] = "libgnomon-stub.so";
	char soname[sizeof(stub)] = "";

	if (!map->stays ||
	    !dynsym_imports(map, numbers_names,
			    sizeof(numbers_names) / sizeof(*numbers_names)))
		return 0;
	/* the version is too much for the room */
	if (!dynsym_soname(map, soname, sizeof(soname)) &&
	    memcmp(soname, stub, sizeof(stub) - 1) == 0)
		return 0;
	*(bool *)data = true;
	return 1;
}

void api_numbers_begin(struct recorder *r)
{
	struct linkmap_room room;
	bool wanted = false;

	linkmap_each(numbers_look, &wanted, &room, NULL);
	if (wanted)
		ledger_want(r, LEDGER_LIVE);
}

/* 0 or an error; -ENOMEM: the answer is there, but lacks something. */
static int numbers_ask(struct recorder *r, struct ledger_question *question)
{
	int err = api_may_ask();

	if (err)
		return err;
	ledger_want(r, LEDGER_LIVE);
	if (!ledger_ask(r, question))
		question->err = -ETIMEDOUT;
	return question->err;
}

API int gnomon_summarize(enum gnomon_who who, struct gnomon_summary *summary)
{
	struct ledger_question question = { .what = LEDGER_ASK_SUM };
	struct recorder *r = api_recorder();
	int err;

	if (!summary || (who != GNOMON_THREAD && who != GNOMON_ALL))
		return -EINVAL;
	*summary = (struct gnomon_summary){ 0 };
	if (!r)
		return -ENODEV;
	if (who == GNOMON_THREAD) {
		if (!recorder_tls)
			return 0;	/* nothing of it is recorded */
		question.what = LEDGER_ASK_THREAD;
		question.ring = recorder_tls - r->threads;
	}
	err = numbers_ask(r, &question);
	if (err && err != -ENOMEM)
		return err;
	summary->total_bytes = question.sum.bytes;
	summary->live_bytes = question.sum.bytes - question.sum.freed;
	summary->peak_bytes = question.sum.peak_bytes;
	summary->allocations = question.sum.blocks;
	summary->frees = question.sum.frees;
	summary->live_blocks = question.sum.blocks - question.sum.frees;
	return err;
}

API int gnomon_histograms(struct gnomon_sizes *sizes)
{
	struct ledger_class classes[GT_CLASSES];
	uint64_t rest[GT_CLASSES][GT_REST_VALUES];
	struct ledger_question question = { .what = LEDGER_ASK_CLASSES,
					    .classes = classes };
	struct recorder *r = api_recorder();
	unsigned i;
	int err;

	if (!sizes)
		return -EINVAL;
	*sizes = (struct gnomon_sizes){ { 0 }, { 0 }, { 0 } };
	if (!r)
		return -ENODEV;
	err = numbers_ask(r, &question);
	if (err && err != -ENOMEM)
		return err;
	rest_sum(r->live, r->shared, live_map_thread, rest);
	for (i = 0; i < GT_CLASSES; i++) {
		unsigned class = base_min(i, GNOMON_CLASSES - 1);

		sizes->total[class] += classes[i].blocks;
		sizes->live[class] += classes[i].blocks - classes[i].frees;
		sizes->rest[class] += rest[i][GT_REST_ALLOCATIONS];
	}
	return err;
}

/* ---- stacks ---- */

struct numbers_rows {
	struct api_row *row;
	size_t count, room;
};

static int numbers_grow(struct numbers_rows *rows, struct scratch *memory)
{
	size_t room = rows->room ? 2 * rows->room : NUMBERS_FIRST;
	struct api_row *row = scratch_alloc(memory, room * sizeof(*row));

	if (!row)
		return -ENOMEM;
	if (rows->count)
		memcpy(row, rows->row, rows->count * sizeof(*row));
	rows->row = row;
	rows->room = room;
	return 0;
}

static void numbers_row(struct api_row *row, const struct ledger_figure *f)
{
	row->context = f->context;
	row->field[0] = f->sum.blocks;
	row->field[1] = f->sum.bytes;
	row->field[2] = f->sum.bytes - f->sum.freed;
	row->field[3] = f->sum.peak_bytes;
	row->field[4] = f->sum.blocks - f->sum.frees;
}

static int numbers_rows(struct recorder *r, struct scratch *memory,
			struct numbers_rows *rows)
{
	struct ledger_figure *piece =
		scratch_alloc(memory, LEDGER_PIECE * sizeof(*piece));
	struct ledger_question question = { .what = LEDGER_ASK_FIGURES,
					    .room = LEDGER_PIECE,
					    .figures = piece };
	uint32_t i;
	int err;

	if (!piece)
		return -ENOMEM;
	do {
		err = numbers_ask(r, &question);
		if (err && err != -ENOMEM)
			return err;
		if (rows->room - rows->count < question.count &&
		    numbers_grow(rows, memory))
			return -ENOMEM;
		for (i = 0; i < question.count; i++)
			numbers_row(&rows->row[rows->count++], &piece[i]);
	} while (question.next);
	return 0;
}

static int numbers_dump(const struct gnomon_dump *how, gnomon_writer write,
			void *data, uintptr_t caller)
{
	struct scratch memory = { .limit = NUMBERS_MEMORY };
	struct numbers_rows rows = { NULL, 0, 0 };
	struct recorder *r = api_recorder();
	struct api_dump dump = { .r = r, .memory = &memory, .caller = caller,
				 .write = write, .data = data };
	uint32_t busy = 0;
	int err = api_dump_how(&dump.how, how);

	if (err)
		return err;
	if (!r)
		return -ENODEV;
	if (!unwind_may(SECCOMP_NO_FILES))
		return -EPERM;
	if (!atomic_compare_exchange_strong_explicit(&r->dumps, &busy, 1,
						     memory_order_acquire,
						     memory_order_relaxed))
		return -EBUSY;
	err = numbers_rows(r, &memory, &rows);
	if (!err)
		err = api_dump_rows(&dump, rows.row, rows.count);
	scratch_end(&memory);
	atomic_store_explicit(&r->dumps, 0, memory_order_release);
	return err;
}

/* All of it, or an error. */
static int numbers_write(void *data, const char *text, size_t size)
{
	int fd = *(int *)data;

	while (size) {
		long n = sys_write(fd, text, size);

		if (n <= 0)
			return n ? n : -EIO;
		text += n;
		size -= n;
	}
	return 0;
}

API int gnomon_dump(const struct gnomon_dump *how, int fd)
{
	return numbers_dump(how, numbers_write, &fd,
			    (uintptr_t)__builtin_return_address(0));
}

API int gnomon_dump_to(const struct gnomon_dump *how, gnomon_writer write,
		       void *data)
{
	if (!write)
		return -EINVAL;
	return numbers_dump(how, write, data,
			    (uintptr_t)__builtin_return_address(0));
}

API_OURS(summarize);
API_OURS(histograms);
API_OURS(dump);
API_OURS(dump_to);
