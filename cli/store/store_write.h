/*
 * store_write.h: making a store (store.h), of rows, or of an older store and
 * more rows. One thread adds; threads of the writer's own pack chunks.
 *
 *	store_writer_add ─▶ 64 Ki rows ─▶ queue ─▶ packers ─▶ file
 *
 * The file is whole only once store_writer_finish has returned 0: the header
 * is written last, behind an fdatasync. Give it its name then, by rename. Until
 * then readers find it STORE_UNFINISHED, whenever the writer dies.
 */
#ifndef GNOMON_STORE_WRITE_H
#define GNOMON_STORE_WRITE_H

#include "cli/store/store.h"

/* A row. What a live row has no use for (end, end_edge, end_thread, end_node)
 * is not looked at. */
struct store_row {
	uint64_t begin, end;
	uint64_t birth_edge, end_edge;
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
 * `fd` is an empty file that can be written at any place, borrowed until
 * store_writer_free. `packers`: threads that pack (at most STORE_PACKERS_MAX);
 * 0: who adds does it. Never NULL. Takes 17 MiB of memory, and 23 for each packer.
 */
struct store_writer *store_writer_new(int fd, unsigned packers);
/*
 * The same, with the first `ended` of the ended rows of an older store: full
 * chunks are copied (by the kernel, which may share them), the rest packed anew.
 * Live rows are not taken: what became of them is to be added. The older store
 * stays as it is, and may be closed when this returns. NULL: it cannot be read or
 * written (*error: negative errno; -EBADMSG: the older one is damaged, or has
 * not so many).
 */
struct store_writer *store_writer_extend(int fd, unsigned packers,
					 struct store *older, uint64_t ended,
					 int *error);
/*
 * Another writer, for another file, with all rows that this one has got so far,
 * none of which is live: so a store of them can be finished while this one goes
 * on. Full chunks have the places that they have here, and are not written
 * there: that file has a hole. It is of use to store_writer_resume alone, as
 * long as this writer's file is there. Waits for packers. Never NULL.
 */
struct store_writer *store_writer_branch(struct store_writer *writer, int fd,
					 unsigned packers);
/*
 * Go on from a store that was made of a branch, with all of its ended rows, in
 * the file from which it was branched: `fd`, which has the full chunks, and is
 * cut off behind them. Else as store_writer_extend; -EBADMSG also if the file
 * is too short. The branch is not asked any more when this returns.
 */
struct store_writer *store_writer_resume(int fd, unsigned packers,
					 struct store *branch, int *error);
/* Stops packers. The file is not finished, or was. NULL is allowed. */
void store_writer_free(struct store_writer *writer);

/*
 * Add the next block that ended; end_edge has to be above that of all before.
 * Or add a block that is live: all that ended come first. The order of live
 * ones is free; by birth they take the least room. What goes wrong (a full
 * disk) store_writer_finish tells; rows after that cost nothing. The first
 * error can be asked for at any time, to stop early: 0 or negative errno.
 */
void store_writer_add(struct store_writer *writer, const struct store_row *row);
int store_writer_error(struct store_writer *writer);
/* Rows so far, and bytes in the file, those not yet packed left out. */
uint64_t store_writer_rows(const struct store_writer *writer);
uint64_t store_writer_bytes(struct store_writer *writer);

/* Keep a number, or bytes (copied), by a name: the last of a name counts. Names
 * are at most STORE_NAME_MAX bytes. At any time before finish. */
void store_writer_fact(struct store_writer *writer, const char *name,
		       uint64_t value);
void store_writer_blob(struct store_writer *writer, const char *name,
		       const void *bytes, size_t size);

/* All is there. 0, or a negative errno: then the file is worth nothing (-EFBIG:
 * one of the limits above). Once. */
int store_writer_finish(struct store_writer *writer,
			const struct store_key *key);

#endif
