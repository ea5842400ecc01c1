/*
 * embedder.c: see the header.
 *
 *	choose ─▶ whole (full) ─▶ reduced, with its debug file ─▶ alternate
 *	  ▲                                                       file of dwz
 *	  └─────────────────────────────────────────────────────────────┘
 *
 * The nodes of the context tree show in which images frames lie; the image with
 * most nodes is next. A file is embedded once, even under several names.
 *
 * By default nothing is embedded if the program ends within a second, and a
 * forked child does not embed files that its parent's trace has.
 *
 * I1: between steps, only files of the current file or stage are open.
 */
#include "cli/recorder/embed/embedder.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command/options_check.h"
#include "cli/recorder/emit/text_key.h"
#include "cli/recorder/base/time_ns.h"
#include "cli/recorder/base/zeroed.h"
#include "cli/recorder/embed/embed_glob.h"
#include "cli/recorder/embed/embed_out.h"
#include "cli/recorder/embed/embed_seen.h"
#include "cli/recorder/embed/embed_used.h"
#include "cli/recorder/recorder.h"
#include "unwind/base/assertion.h"

#define EMBEDDER_SLICE_NS (4 * UINT64_C(1000000))
#define EMBEDDER_RARE_NS (20 * UINT64_C(1000000))	/* a piece, if busy */
#define EMBEDDER_IDLE_NS (100 * UINT64_C(1000000))
#define EMBEDDER_BUSY 1000		/* events per millisecond */
#define EMBEDDER_AGE_NS (UINT64_C(1000) * 1000000)
#define EMBEDDER_DEBUG_MAX (UINT64_C(64) << 20)	/* of a file */
#define EMBEDDER_ASKED_MAX (UINT64_C(4) << 30)
#define EMBEDDER_RATE 100		/* approximate bytes per microsecond */

struct embedder_work {
	struct embed_out to;
	struct reduced reduced;
	struct embed_used used;
	struct embed_seen seen;
	struct embed_wanted wanted;
	char found[GT_PATH_MAX];	/* of the debug file */
	uint32_t include;		/* bytes of glob.found already
					 * handled */
	struct embed_glob glob;
};

/* ---- an image ---- */

/* Whether a file should be embedded: it was not considered before. */
static bool embedder_is_new(struct embedder *e)
{
	struct embedder_work *work = e->work;

	if (embed_seen_before(&work->seen, &work->wanted))
		return false;
	if (e->asked || !embed_seen_by_parent(&work->wanted, e->rec->r))
		return true;
	e->inherited++;
	return false;
}

static const char *embedder_why(int err)
{
	return err == -ENOENT ? "not found, not embedded" :
	       err == -ESTALE ? "replaced by another version, not embedded" :
				"cannot be read, not embedded";
}

/* Opens the next image. False: there is none. */
static bool embedder_choose(struct embedder *e)
{
	struct embedder_work *work = e->work;
	const struct gl_image *image;
	uint32_t number;
	int fd;

	if (!embed_used_next(&work->used, &number))
		return false;
	image = &e->rec->images.copies[number];
	/* without a build-id, readers could not find it */
	if (image->flags & GT_IMAGE_VDSO || !image->build_id_size)
		return true;
	embed_used_describe(&work->used, number, e->rec->exe, &work->wanted);
	work->wanted.held = embed_held_find(&e->held, image->segments ?
			image->segment[0].start : 0);
	if (!embedder_is_new(e))
		return true;
	DEBUG_ASSERT(work->reduced.binary.fd < 0 &&
		     work->reduced.debug.fd < 0); /* I1 */
	fd = embed_open_binary(&work->wanted, &work->reduced.binary);
	if (fd < 0) {
		embed_out_skip(&work->to, embedder_why(fd), work->wanted.path);
		return true;
	}
	embed_open_debug(&work->wanted, &work->reduced.binary, work->found,
			 &work->reduced.debug);
	e->stage = e->what == OPTION_EMBED_FULL ? EMBEDDER_WHOLE :
						  EMBEDDER_REDUCED;
	return true;
}

static void embedder_close(struct elf_tables *file)
{
	if (file->fd < 0)
		return;
	elf_tables_free(file);
	close(file->fd);
	file->fd = -1;
}

static void embedder_whole(struct embedder *e)
{
	struct embedder_work *work = e->work;
	const struct reduced *elf = &work->reduced;

	DEBUG_ASSERT(elf->binary.fd >= 0 && !work->to.busy); /* I1 */
	embed_out_begin(&work->to, GT_FILE_FULL, elf->binary.fd, NULL,
			&work->wanted);
	/* without a debug file, this is all */
	e->stage = elf->debug.fd >= 0 ? EMBEDDER_REDUCED : EMBEDDER_ALTERNATE;
}

/* Approximate bytes that can still be written before the deadline. */
static uint64_t embedder_in_time(const struct embedder *e)
{
	uint64_t now_ns = time_ns_now();

	if (e->until_ns == UINT64_MAX)
		return UINT64_MAX;
	return e->until_ns > now_ns ? (e->until_ns - now_ns) / 1000 *
					      EMBEDDER_RATE : 0;
}

static void embedder_reduced(struct embedder *e)
{
	struct embedder_work *work = e->work;
	struct reduced *elf = &work->reduced;
	/* `max` may cut debug information, but symbols are kept */
	uint64_t max = base_min(e->asked ? EMBEDDER_ASKED_MAX :
					   EMBEDDER_DEBUG_MAX,
				base_min(embed_out_room(&work->to),
					 embedder_in_time(e)));

	DEBUG_ASSERT(elf->binary.fd >= 0 && !work->to.busy); /* I1 */
	e->stage = EMBEDDER_ALTERNATE;
	if (reduced_plan(elf, max)) {
		embed_out_skip(&work->to, "invalid ELF file, not embedded",
			       work->wanted.path);
		return;
	}
	e->cut += elf->cut;
	embed_out_begin(&work->to, GT_FILE_DEBUG, elf->table->fd, elf,
			&work->wanted);
}

/* The alternate file is opened in the place of the file that refers to it. */
static void embedder_alternate(struct embedder *e)
{
	struct embedder_work *work = e->work;
	struct elf_tables *binary = &work->reduced.binary;
	struct elf_tables *debug = &work->reduced.debug;
	bool joined = debug->fd >= 0;
	int fd;

	DEBUG_ASSERT(binary->fd >= 0 && !work->to.busy); /* I1 */
	/* the binary's slot is free for it */
	if (joined) {
		embedder_close(binary);
		fd = embed_open_alternate(debug, work->found, &work->wanted,
					  binary);
		embedder_close(debug);
	} else {
		fd = embed_open_alternate(binary, work->wanted.path,
					  &work->wanted, debug);
		embedder_close(binary);
		*binary = *debug;
		*debug = (struct elf_tables){ .fd = -1 };
	}
	e->stage = EMBEDDER_CHOOSE;
	if (fd < 0)
		return;
	if (embedder_is_new(e))
		e->stage = EMBEDDER_REDUCED;
	else
		embedder_close(binary);
}

/* ---- included files ---- */

static bool embedder_include(struct embedder *e)
{
	struct embedder_work *work = e->work;
	const char *path = work->glob.found + work->include;
	int fd;

	if (work->include >= work->glob.used)
		return false;
	work->include += strlen(path) + 1;
	DEBUG_ASSERT(work->include <= work->glob.used);
	snprintf(work->wanted.path, sizeof(work->wanted.path), "%s", path);
	work->wanted.id_size = 0;
	fd = embed_open_plain(path);
	/* directories among the matches are skipped silently */
	if (fd < 0 && fd != -EINVAL)
		embed_out_skip(&work->to, "cannot be included", path);
	if (fd >= 0)
		embed_out_begin(&work->to, GT_FILE_INCLUDED, fd, NULL,
				&work->wanted);
	return true;
}

/* ---- steps ---- */

static bool embedder_more(struct embedder *e)
{
	if (e->stage == EMBEDDER_WHOLE)
		embedder_whole(e);
	else if (e->stage == EMBEDDER_REDUCED)
		embedder_reduced(e);
	else if (e->stage == EMBEDDER_ALTERNATE)
		embedder_alternate(e);
	else
		return embedder_include(e) || (e->images && embedder_choose(e));
	return true;
}

/* Writes one piece, or prepares for one. False: nothing to do. */
static bool embedder_one(struct embedder *e)
{
	struct embed_out *to = &e->work->to;

	if (!to->busy)
		return embedder_more(e);
	if (embed_out_piece(to) && to->kind != GT_FILE_INCLUDED)
		embed_seen_report(&e->work->wanted, e->rec->r,
				  e->rec->output.path);
	if (!to->busy && to->kind == GT_FILE_INCLUDED)
		close(to->fd);
	return true;
}

static void embedder_includes(struct embedder *e)
{
	struct embed_glob *glob = &e->work->glob;

	/* the parent's trace has them */
	if (e->rec->r->forked)
		return;
	embed_glob_all(glob, options_text(recording_options, OPTION_INCLUDE));
	if (glob->full)
		embed_out_skip(&e->work->to,
			       "--include: too many matches",
			       glob->path);
}

static bool embedder_can(const struct embedder *e)
{
	return e->work && !e->work->to.off;
}

static bool embedder_begin(struct embedder *e)
{
	if (e->begun)
		return embedder_can(e);
	e->begun = true;
	e->work = zeroed_alloc(sizeof(*e->work));
	if (!e->work)
		return false;
	e->work->reduced.binary.fd = e->work->reduced.debug.fd = -1;
	e->work->wanted.pid = e->rec->r->pid;
	e->work->used.emit = &e->rec->images;
	e->work->used.live = &e->rec->live;
	embed_out_open(&e->work->to, e->rec);
	if (embedder_can(e))
		embedder_includes(e);
	return embedder_can(e);
}

void embedder_init(struct embedder *e, struct recorder *rec)
{
	memset(e, 0, sizeof(*e));
	e->rec = rec;
	e->what = recording_options->number[OPTION_EMBED];
	e->asked = recording_options->given[OPTION_EMBED];
	e->until_ns = UINT64_MAX;
}

/* Whether there is anything to embed for this program. */
static bool embedder_wanted(struct embedder *e, uint64_t now_ns)
{
	e->images = e->what != OPTION_EMBED_NONE &&
		    (e->asked || now_ns - e->rec->live.shape.monotonic0_ns >=
				 EMBEDDER_AGE_NS);
	return e->images || recording_options->given[OPTION_INCLUDE];
}

static bool embedder_busy(struct embedder *e, uint64_t now_ns)
{
	const struct ring_drain *drain = &e->rec->drain;
	uint64_t ms = (now_ns - e->looked_ns) / 1000000;
	bool busy = drain->pressed || drain->effort != COMPRESS_SMALL ||
		    (ms && (drain->events - e->events) / ms > EMBEDDER_BUSY);

	if (ms) {
		e->looked_ns = now_ns;
		e->events = drain->events;
	}
	return busy;
}

static uint64_t embedder_cpu(void)
{
	return time_ns_of(CLOCK_THREAD_CPUTIME_ID);
}

bool embedder_step(struct embedder *e, uint64_t now_ns)
{
	uint64_t cpu_ns, until_ns = now_ns + EMBEDDER_SLICE_NS;
	bool busy, more = true;

	if (now_ns < e->next_ns || !embedder_wanted(e, now_ns))
		return false;
	cpu_ns = embedder_cpu();
	busy = embedder_busy(e, now_ns);
	if (!embedder_begin(e))
		return false;
	embed_used_poll(&e->work->used);
	while (more && embedder_can(e)) {
		more = embedder_one(e);
		if (busy || time_ns_now() >= until_ns)
			break;
	}
	now_ns = time_ns_now();
	e->next_ns = now_ns + (more ? busy ? EMBEDDER_RARE_NS : 0 :
				      EMBEDDER_IDLE_NS);
	e->cpu_ns += embedder_cpu() - cpu_ns;
	return more && !busy && embedder_can(e);
}

static void embedder_rest(struct embedder *e)
{
	struct embed_out *to = &e->work->to;

	while (embed_used_poll(&e->work->used) && embedder_in_time(e))
		;
	while (embedder_can(e) && embedder_in_time(e)) {
		if (to->busy && to->size - to->offset > embedder_in_time(e)) {
			embed_out_break(to, "no time to embed");
			/* a reduced file may still fit */
			if (to->kind == GT_FILE_FULL ||
			    (to->kind == GT_FILE_DEBUG &&
			     !e->work->reduced.cut))
				e->stage = EMBEDDER_REDUCED;
		} else if (!embedder_one(e)) {
			break;
		}
	}
	if (to->busy)
		embed_out_break(to, "no time to embed");
}

void embedder_hold(struct embedder *e)
{
	if (embedder_wanted(e, time_ns_now()) && e->images)
		embed_held_take(&e->held, e->rec->r->pid);
}

void embedder_finish(struct embedder *e)
{
	uint64_t now_ns = time_ns_now(), cpu_ns = embedder_cpu();

	e->until_ns = now_ns + EMBEDDER_LAST_NS;
	if (embedder_wanted(e, now_ns) && embedder_begin(e))
		embedder_rest(e);
	if (e->work)
		embed_out_close(&e->work->to);
	embed_held_close(&e->held);
	e->cpu_ns += embedder_cpu() - cpu_ns;
}

void embedder_info(const struct embedder *e, struct text_key *text)
{
	char path[GT_PATH_MAX];

	embed_out_path(e->rec, path);
	if (path[0] && (e->what != OPTION_EMBED_NONE ||
			recording_options->given[OPTION_INCLUDE]))
		text_key_put(text, "files", path);
}

void embedder_counters(const struct embedder *e, struct text_key *text)
{
	const struct embed_out *to = e->work ? &e->work->to : NULL;

	text_key_number(text, "embedded_files", to ? to->files : 0);
	text_key_number(text, "embedded_bytes", to ? to->bytes : 0);
	/* 1 if there was no memory for embedding */
	text_key_number(text, "embed_skipped", to ? to->skipped : e->begun);
	text_key_number(text, "embed_cut", e->cut);
	text_key_number(text, "embed_inherited", e->inherited);
	text_key_number(text, "embed_cpu_ns", e->cpu_ns);
}
