/*
 * embed_out.h: writes embedded files into the trace, piece by piece between its
 * other chunks. With --limit they go into FILE.files, a separate trace beside
 * the parts. The recorder only.
 */
#ifndef GNOMON_EMBED_OUT_H
#define GNOMON_EMBED_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "cli/recorder/emit/chunk.h"
#include "cli/symbol/elf/reduced.h"
#include "cli/recorder/embed/embed_open.h"

struct recorder;

#define EMBED_OUT_PIECE (128u << 10)	/* read and compressed in 1 ms */

struct embed_out {
	struct recorder *rec;
	struct chunk_out *out;	/* the trace's, or `own` */
	struct chunk_out own;	/* of FILE.files */
	bool off;		/* nothing more can be written */
	uint32_t number;	/* of the next file */
	uint64_t files, bytes, skipped;
	/* the current file */
	bool busy;
	enum gt_file_kind kind;
	int fd;			/* descriptor that most of it is read from */
	const struct reduced *elf;	/* of GT_FILE_DEBUG */
	const struct embed_wanted *wanted;	/* the caller's */
	uint64_t size, offset;
	struct stat was;
	uint64_t out_size, out_sequence;	/* of the trace, before its
						 * first piece */
	uint8_t piece[EMBED_OUT_PIECE];
};

/* The path of FILE.files; "" if files go into the trace itself. */
void embed_out_path(const struct recorder *rec, char path[GT_PATH_MAX]);

/* Open and close FILE.files, with its INFO and END. */
void embed_out_open(struct embed_out *out, struct recorder *rec);
void embed_out_close(struct embed_out *out);

/* Bytes that FILE.files may still take; UINT64_MAX without one. */
uint64_t embed_out_room(const struct embed_out *out);

/* Begins a file. An included file has the size that it has now. */
void embed_out_begin(struct embed_out *out, enum gt_file_kind kind, int fd,
		     const struct reduced *elf,
		     const struct embed_wanted *wanted);

/* Writes the next piece. Afterwards !busy: the file is done, and the result is
 * true if it was written in full. */
bool embed_out_piece(struct embed_out *out);

/* Abandons the current file. */
void embed_out_break(struct embed_out *out, const char *why);

/* Counts a file that is not embedded. */
void embed_out_skip(struct embed_out *out, const char *why, const char *path);

#endif
