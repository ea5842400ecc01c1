/*
 * embedded.h: the list of files embedded in a trace, and each file's bytes,
 * decompressed.
 *
 * The list is made while the trace is read (reader_sink.file). The bytes stay
 * in the trace until a file is opened.
 */
#ifndef GNOMON_EMBEDDED_H
#define GNOMON_EMBEDDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/table.h"
#include "cli/trace/decode/file_records.h"

#define EMBEDDED_NONE SIZE_MAX
#define EMBEDDED_OPEN_MAX (UINT64_C(4) << 30)	/* bytes in memory */

struct embedded_piece {
	uint64_t at;		/* offset of its chunk in the trace */
	uint64_t offset;	/* in the file */
	uint32_t size;
};

struct embedded_file {
	uint32_t number;
	unsigned kind;		/* enum gt_file_kind */
	uint64_t size;
	uint64_t got;		/* contiguous bytes of the pieces, from 0 on:
				 * the file is complete if got == size */
	char *path;		/* as recorded; any bytes but NUL */
	uint8_t build_id[GL_BUILD_ID_MAX];
	size_t build_id_size;
	struct embedded_piece *pieces;
	size_t piece_count;
	size_t piece_capacity;
};

struct embedded {
	struct embedded_file *files;
	size_t count;
	size_t capacity;
	struct table by_number;
	uint64_t refused;	/* pieces that do not fit together */
};

/* A zeroed struct embedded is an empty list. `at`: the offset of the piece's
 * chunk in the trace. */
void embedded_add(struct embedded *list, const struct trace_file *piece,
		  uint64_t at);
void embedded_free(struct embedded *list);

/*
 * The complete file with this build-id, an ELF file of kind DEBUG or FULL.
 * DEBUG is preferred: it has what separate debug files have. If build_id_size
 * is
 * 0: the file without a build-id that has this path. EMBEDDED_NONE: none.
 */
size_t embedded_find(const struct embedded *list, const uint8_t *build_id,
		     size_t build_id_size, const char *path);

/*
 * The decompressed file, as a memory descriptor (memfd) at offset 0; or -errno.
 * -EBADMSG: its pieces cannot be read, or some are missing; -EFBIG: larger than
 * EMBEDDED_OPEN_MAX; -ESTALE: `trace` was replaced by another trace.
 */
int embedded_open(const struct embedded *list, size_t index,
		  const char *trace, uint64_t trace_id);

/*
 * The same, piece by piece, in file order, to `take`, which returns 0, or
 * -errno to stop. Needs the memory of one piece.
 */
int embedded_read(const struct embedded *list, size_t index,
		  const char *trace, uint64_t trace_id,
		  int (*take)(void *owner, const uint8_t *bytes, size_t size),
		  void *owner);

#endif
