/*
 * store_write.h: makes an index file (store.h), of rows, or of an older index
 * and more rows. One thread adds rows; threads of the writer compress chunks.
 *
 *	store_writer_add ─▶ 64 Ki rows ─▶ queue ─▶ packers ─▶ file
 *
 * The file is complete only when store_writer_finish has returned 0: the header
 * is written last, after an fdatasync. Then rename it to its name. Until then
 * readers find it STORE_UNFINISHED, whenever the writer dies.
 */
#ifndef GNOMON_STORE_WRITE_H
#define GNOMON_STORE_WRITE_H

#include "cli/store/store.h"

/* A row. Members without meaning for a live row (end, end_edge, end_thread,
 * end_node) are ignored. */
struct store_row {
	uint64_t begin, end;
	uint64_t alloc_edge, end_edge;
	uint64_t address, size;
	uint64_t between;
	uint32_t thread, node;
	uint32_t end_thread, end_node;	/* or STORE_NONE */
	uint32_t chain, place;		/* 0: in no chain */
	uint16_t layout;
	uint8_t how;			/* enum store_how */
	uint8_t flags;			/* enum store_flag */
};

struct store_writer;

#define STORE_PACKERS_MAX 16
#define STORE_NAME_MAX 63		/* bytes of the name of a fact or blob */
#define STORE_FACTS_MAX 1024
#define STORE_BLOBS_MAX 64
#define STORE_BLOB_BYTES_MAX (UINT64_C(1) << 30)	/* all together */
#define STORE_ROWS_MAX (UINT64_C(1) << 36)

/*
 * `fd` is an empty, seekable file, borrowed until store_writer_free. `packers`:
 * threads that compress (at most STORE_PACKERS_MAX); 0: the adding thread does.
 * Never NULL. Takes 17 MiB of memory, and 23 MiB per packer.
 */
struct store_writer *store_writer_new(int fd, unsigned packers);
/*
 * The same, with the first `ended` ended rows of an older index: full chunks
 * are copied (by the kernel, which may share them), other rows compressed anew.
 * Live rows are not taken: the caller adds them with their new state. The older
 * index is unchanged, and may be closed after this returns. NULL: a file cannot
 * be read or written (*error: negative errno; -EBADMSG: the older one is
 * damaged, or has fewer rows).
 */
struct store_writer *store_writer_extend(int fd, unsigned packers,
					 struct store *older, uint64_t ended,
					 int *error);
/*
 * Another writer, for another file, with all rows added to this one so far,
 * none of which is live: so an index of these rows can be finished while this
 * writer continues. Full chunks are not written to the new file: it has a hole
 * at their offsets. Only store_writer_resume can use that file, while this
 * writer's file exists. Waits for packers. Never NULL.
 */
struct store_writer *store_writer_branch(struct store_writer *writer, int fd,
					 unsigned packers);
/*
 * Continue from the finished index of a branch, with all of its ended rows, in
 * the file from which it was branched: `fd`, which has the full chunks and is
 * truncated after them. Otherwise as store_writer_extend; -EBADMSG also if the
 * file is too short. The branch is not used after this returns.
 */
struct store_writer *store_writer_resume(int fd, unsigned packers,
					 struct store *branch, int *error);
/* Stops packers; the file may be finished or not. NULL is allowed. */
void store_writer_free(struct store_writer *writer);

/*
 * Add the next ended block: end_edge has to be above all before. Or add a live
 * block, after all ended ones. The order of live blocks is free; sorted by
 * allocation they compress best. store_writer_finish reports errors (a full
 * disk); after an error, adding rows does nothing. store_writer_error returns
 * the first error at any time, to stop early: 0 or negative errno.
 */
void store_writer_add(struct store_writer *writer, const struct store_row *row);
int store_writer_error(struct store_writer *writer);
/* Rows so far, and bytes in the file, without rows that are not compressed
 * yet. */
uint64_t store_writer_rows(const struct store_writer *writer);
uint64_t store_writer_bytes(struct store_writer *writer);

/* Store a number, or bytes (copied), by a name: the last of a name counts.
 * Names are at most STORE_NAME_MAX bytes. At any time before finish. */
void store_writer_fact(struct store_writer *writer, const char *name,
		       uint64_t value);
void store_writer_blob(struct store_writer *writer, const char *name,
		       const void *bytes, size_t size);

/* All rows were added. 0, or a negative errno: then the file is unusable
 * (-EFBIG: one of the limits above). Call it once. */
int store_writer_finish(struct store_writer *writer,
			const struct store_key *key);

#endif
