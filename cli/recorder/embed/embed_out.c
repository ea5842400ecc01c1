/*
 * embed_out.c: see the header. If a file changes while it is read, its
 * incomplete pieces stay in the trace, and readers ignore them. FILE.files,
 * which has no other chunks, is truncated instead. FILE.files may take a
 * quarter of the limit; older parts are removed for it.
 *
 * I1: a failure to write a piece never ends the recording.
 * I2: the last piece is only written if the file did not change.
 */
#include "cli/recorder/embed/embed_out.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/recorder/base/pathname.h"
#include "cli/recorder/emit/text_key.h"
#include "cli/recorder/emit/varint.h"
#include "cli/recorder/output/log_file.h"
#include "cli/recorder/process/file_owner.h"
#include "cli/recorder/recorder.h"
#include "unwind/base/assertion.h"

/* ---- FILE.files ---- */

void embed_out_path(const struct recorder *rec, char path[GT_PATH_MAX])
{
	if (!recording_options->number[OPTION_LIMIT] ||
	    !pathname_print(path, GT_PATH_MAX, "%s.files", rec->output.path))
		path[0] = '\0';
}

static bool embed_out_is_own(const struct embed_out *o)
{
	return o->out == &o->own;
}

/* Removes FILE.files of an earlier recording, but no file that is not a
 * trace. */
static bool embed_out_make_way(const char *path)
{
	int fd = embed_open_plain(path);
	char magic[GT_MAGIC_SIZE];
	bool ours;

	if (fd == -ENOENT)
		return true;
	if (fd < 0)
		return false;
	ours = !elf_tables_bytes(fd, 0, magic, sizeof(magic)) &&
	       memcmp(magic, GT_MAGIC, sizeof(magic)) == 0;
	close(fd);
	return ours && !unlink(path);
}

/* INFO and END of FILE.files: not of a process, so without pid and time. */
static void embed_out_text(struct embed_out *o, enum gt_chunk_type type)
{
	struct text_key text;

	text_key_begin(&text, &o->own);
	if (type == GT_INFO) {
		text_key_put(&text, "gnomon", GNOMON_VERSION);
		text_key_put(&text, "arch", o->rec->r->arch);
		text_key_put(&text, "files_of", o->rec->output.path);
	} else {
		text_key_put(&text, "reason", "exit");
		text_key_number(&text, "events", 0);
	}
	text_key_write(&text, type);
}

static bool embed_out_open_own(struct embed_out *o)
{
	char path[GT_PATH_MAX];
	int fd;

	embed_out_path(o->rec, path);
	if (!path[0] || !embed_out_make_way(path))
		return false;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		  0600);
	if (fd < 0)
		return false;
	flock(fd, LOCK_EX | LOCK_NB);
	file_owner_apply(fd);
	/* the buffer is shared: no chunk is under construction between two
	 * steps */
	o->own = o->rec->out;
	o->own.err = 0;
	o->out = &o->own;
	if (chunk_begin(&o->own, fd) == 0)
		embed_out_text(o, GT_INFO);
	return !o->own.err;
}

void embed_out_open(struct embed_out *o, struct recorder *rec)
{
	o->rec = rec;
	o->out = &rec->out;
	if (recording_options->number[OPTION_LIMIT])
		o->off = !embed_out_open_own(o);
}

void embed_out_close(struct embed_out *o)
{
	if (!embed_out_is_own(o))
		return;
	embed_out_text(o, GT_END);
	chunk_close(&o->own);
	close(o->own.fd);
}

uint64_t embed_out_room(const struct embed_out *o)
{
	uint64_t quarter = o->rec->tracker.rotation.limit / 4;

	if (!embed_out_is_own(o))
		return UINT64_MAX;
	return quarter - base_min(quarter, o->own.size);
}

/* ---- a file ---- */

void embed_out_skip(struct embed_out *o, const char *why, const char *path)
{
	o->skipped++;
	log_file_print(OPTION_LOG_INFO, why, path);
}

void embed_out_begin(struct embed_out *o, enum gt_file_kind kind, int fd,
		     const struct reduced *elf,
		     const struct embed_wanted *wanted)
{
	assert(!o->busy);
	o->busy = true;
	o->kind = kind;
	o->fd = fd;
	o->elf = elf;
	o->wanted = wanted;
	o->offset = 0;
	o->number++;
	o->out_size = o->out->size;
	o->out_sequence = o->out->sequence;
	memset(&o->was, 0, sizeof(o->was));
	/* on failure it counts as changed */
	if (fstat(fd, &o->was))
		o->was.st_size = -1;
	o->size = elf ? elf->size : base_max(o->was.st_size, 0);
}

void embed_out_break(struct embed_out *o, const char *why)
{
	struct chunk_out *out = o->out;

	o->busy = false;
	embed_out_skip(o, why, o->wanted->path);
	if (!embed_out_is_own(o) || out->err)
		return;
	if (ftruncate(out->fd, out->start + o->out_size) ||
	    lseek(out->fd, out->start + o->out_size, SEEK_SET) < 0) {
		o->off = true;
		return;
	}
	out->size = o->out_size;
	out->sequence = o->out_sequence;
	out->reserved = 0;
	rotation_beside(&o->rec->tracker.rotation, out->size);
}

static bool embed_out_changed(const struct embed_out *o)
{
	struct stat st;

	return fstat(o->fd, &st) || st.st_size != o->was.st_size ||
	       st.st_mtim.tv_sec != o->was.st_mtim.tv_sec ||
	       st.st_mtim.tv_nsec != o->was.st_mtim.tv_nsec;
}

static int embed_out_read(struct embed_out *o, size_t n)
{
	return o->elf ? reduced_read(o->elf, o->offset, o->piece, n) :
			elf_tables_bytes(o->fd, o->offset, o->piece, n);
}

static uint8_t *embed_out_put(uint8_t *to, const void *bytes, size_t n)
{
	to = varint_put(to, n);
	memcpy(to, bytes, n);
	return to + n;
}

static int embed_out_write(struct embed_out *o, size_t n)
{
	uint8_t *to = chunk_payload(o->out);

	DEBUG_ASSERT(n <= EMBED_OUT_PIECE);
	to = varint_put(to, o->number - 1);
	to = varint_put(to, o->kind);
	to = varint_put(to, o->size);
	to = varint_put(to, o->offset);
	to = embed_out_put(to, o->wanted->id,
			   o->kind == GT_FILE_INCLUDED ? 0 :
							 o->wanted->id_size);
	to = embed_out_put(to, o->wanted->path, strlen(o->wanted->path));
	to = varint_put(to, n);
	to = compress_bytes(&o->rec->compress, to, o->piece, n);
	return chunk_write(o->out, GT_FILE, to, NULL);
}

static bool embed_out_fits(struct embed_out *o, uint64_t bytes)
{
	if (bytes > embed_out_room(o))
		return false;
	if (embed_out_is_own(o))
		rotation_beside(&o->rec->tracker.rotation, o->own.size + bytes);
	return true;
}

bool embed_out_piece(struct embed_out *o)
{
	size_t n = base_min(o->size - o->offset, EMBED_OUT_PIECE);
	const char *why = NULL;

	DEBUG_ASSERT(o->busy && o->offset <= o->size);
	if (!embed_out_fits(o, n + GT_PATH_MAX + GT_CHUNK_SIZE)) {
		why = "no room to embed";
	} else if (embed_out_read(o, n) || embed_out_changed(o)) {
		why = "changed while being embedded";
	} else if (embed_out_write(o, n)) {
		why = "cannot be written";
		o->off = true;
		/* I1: the trace was truncated to its last chunk; if there is no
		 * room for events either, their writing will fail */
		if (o->out->regular && !embed_out_is_own(o))
			o->out->err = 0;
	}
	if (why) {
		embed_out_break(o, why);
		return false;
	}
	o->offset += n;
	DEBUG_ASSERT(o->offset <= o->size);
	o->busy = o->offset < o->size;
	if (o->busy)
		return false;
	o->files++;
	o->bytes += o->size;
	log_file_print(OPTION_LOG_DEBUG, "embedded", o->wanted->path);
	return true;
}
