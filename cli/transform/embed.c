/*
 * embed.c: see the header. The files are searched where a report searches them
 * (symbol/debugfile.h); a file is used only if its build-id is the recorded
 * one. At a time one file is open, with its separate debug file, and one piece
 * is in memory.
 *
 * Called by the main thread.
 */
#include "cli/transform/embed.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/base/progress.h"
#include "cli/base/terminal/log.h"
#include "cli/symbol/elf/reduced.h"

/* ---- files in the trace ---- */

static bool see_line(void *owner, unsigned type, const char *key,
		     const char *value, struct buffer *changed)
{
	struct embed *embed = owner;

	(void)changed;
	if (type == GT_INFO && strcmp(key, "pid") == 0)
		embed->pid = (int)strtol(value, NULL, 10);
	return true;
}

static struct embed_image *image_of(struct embed *embed,
				    const uint8_t *build_id, size_t size)
{
	struct embed_image *image;

	for (size_t i = 0; i < embed->image_count; i++)
		if (embed->images[i].build_id_size == size &&
		    memcmp(embed->images[i].build_id, build_id, size) == 0)
			return &embed->images[i];
	GROW(embed->images, embed->image_count, embed->image_capacity);
	image = &embed->images[embed->image_count++];
	memset(image, 0, sizeof(*image));
	memcpy(image->build_id, build_id, size);
	image->build_id_size = size;
	return image;
}

static void see_image(void *owner, const struct trace_image *image)
{
	struct embed *embed = owner;
	struct embed_image *known;

	/* Without a build-id no reader would find the file. */
	if (image->what != GT_IMAGE_MAPPED || image->build_id_size == 0 ||
	    image->path_size == 0 || image->path[0] != '/')
		return;
	known = image_of(embed, image->build_id, image->build_id_size);
	if (known->path == NULL)
		known->path = grow_copy(image->path, image->path_size);
}

/* Whether to keep the embedded file. */
static bool see_file(void *owner, const struct trace_file *piece)
{
	struct embed *embed = owner;
	struct embed_image *image;

	if (embed->what == EMBED_NONE)
		return false;
	if (piece->number >= embed->next_number && piece->number < UINT32_MAX)
		embed->next_number = piece->number + 1;
	if (piece->build_id_size == 0)
		return true;
	image = image_of(embed, piece->build_id, piece->build_id_size);
	image->debug |= piece->kind == GT_FILE_DEBUG;
	image->full |= piece->kind == GT_FILE_FULL;
	return true;
}

void embed_change(struct embed *embed, struct repack_change *change)
{
	*change = (struct repack_change){
		.owner = embed, .line = see_line, .image = see_image,
		.file = see_file,
	};
}

void embed_free(struct embed *embed)
{
	for (size_t i = 0; i < embed->image_count; i++)
		free(embed->images[i].path);
	free(embed->images);
}

/* ---- one file ---- */

/* The source of a file's bytes. */
struct embed_source {
	int fd;				/* it is the whole file */
	const struct reduced *reduced;	/* not NULL: the reduced one */
};

static int read_piece(const struct embed_source *source, uint64_t offset,
		      uint8_t *to, size_t size)
{
	return source->reduced ?
		reduced_read(source->reduced, offset, to, size) :
		elf_tables_bytes(source->fd, offset, to, size);
}

static int put_pieces(struct embed *embed, struct repack *repack,
		      const struct embed_source *source, struct trace_file piece)
{
	LOCAL_BUFFER payload = { 0 };
	uint8_t *bytes = grow_alloc(GT_FILE_PIECE);
	int error;

	piece.number = embed->next_number++;
	do {
		size_t size = GT_FILE_PIECE;

		if (size > piece.size - piece.offset)
			size = piece.size - piece.offset;
		error = read_piece(source, piece.offset, bytes, size);
		if (error != 0)
			break;
		piece.piece_size = size;
		buffer_clear(&payload);
		compose_file(&payload, &piece, bytes, repack->out->level);
		rewrite_chunk(repack->out, &(struct chunk){ .type = GT_FILE },
			      &payload, false);
		piece.offset += size;
	} while (piece.offset < piece.size);
	embed->added += error == 0;
	free(bytes);
	return error;
}

static int put_file(struct embed *embed, struct repack *repack, int fd,
		    const struct trace_file *description)
{
	struct embed_source source = { .fd = fd };
	struct trace_file piece = *description;
	struct stat status;

	if (fstat(fd, &status) != 0)
		return -errno;
	piece.size = (uint64_t)status.st_size;
	return put_pieces(embed, repack, &source, piece);
}

/* ---- an image ---- */

/* The name in .gnu_debuglink; the caller frees it. */
static char *debuglink_of(int binary)
{
	struct elf_tables tables;
	char name[GT_PATH_MAX], *copy = NULL;

	if (elf_tables_load(&tables, binary) != 0)
		return NULL;
	if (elf_tables_link(&tables, name, sizeof(name)))
		copy = grow_copy(name, strlen(name));
	elf_tables_free(&tables);
	return copy;
}

/* debug: -1: the binary has no separate debug file. */
static int put_reduced(struct embed *embed, struct repack *repack, int binary,
		       int debug, const struct trace_file *description)
{
	struct reduced reduced = { .binary.fd = -1, .debug.fd = -1 };
	struct embed_source source = { .fd = -1, .reduced = &reduced };
	struct trace_file piece = *description;
	int error = elf_tables_load(&reduced.binary, binary);

	if (error == 0 && debug >= 0 &&
	    elf_tables_load(&reduced.debug, debug) != 0)
		reduced.debug.fd = -1;
	if (error == 0)
		error = reduced_plan(&reduced, UINT64_MAX);
	piece.size = reduced.size;
	if (error == 0)
		error = put_pieces(embed, repack, &source, piece);
	reduced_free(&reduced);
	elf_tables_free(&reduced.binary);
	elf_tables_free(&reduced.debug);
	return error;
}

/* The path of the file into which dwz moved the common parts of several debug
 * files, as the file at `path` refers to it; the caller frees it. NULL:
 * none. */
static char *alternate_of(int file, const char *path,
			  uint8_t id[ELF_TABLES_ID_MAX], size_t *id_size)
{
	const char *slash = strrchr(path, '/');
	char name[GT_PATH_MAX];
	struct elf_tables tables;

	if (elf_tables_load(&tables, file) != 0)
		return NULL;
	*id_size = elf_tables_alternate(&tables, name, sizeof(name), id);
	elf_tables_free(&tables);
	if (*id_size == 0)
		return NULL;
	return name[0] == '/' || slash == NULL ?
		grow_copy(name, strlen(name)) :
		grow_format("%.*s/%s", (int)(slash - path), path, name);
}

static int put_alternate(struct embed *embed, struct repack *repack, int file,
			 const char *path)
{
	uint8_t id[ELF_TABLES_ID_MAX];
	size_t size = 0;
	char *at = alternate_of(file, path, id, &size), *found = NULL;
	struct debugfile_wanted wanted = { .build_id = id };
	struct trace_file description = { .kind = GT_FILE_DEBUG };
	struct embed_image *image;
	int fd, error = 0;

	if (at == NULL || size > GL_BUILD_ID_MAX) {
		free(at);
		return 0;
	}
	image = image_of(embed, id, size);
	wanted.build_id_size = size;
	wanted.path = at;
	fd = image->debug ? -1 : debugfile_binary(embed->places, &wanted,
						  &found);
	image->debug = true;
	if (fd >= 0) {
		description.build_id = id;
		description.build_id_size = size;
		description.path = at;
		description.path_size = strlen(at);
		error = put_reduced(embed, repack, fd, -1, &description);
		close(fd);
	}
	free(found);
	free(at);
	return error;
}

/* A file that cannot be embedded is reported and skipped. */
static void put_image(struct embed *embed, struct repack *repack, size_t index)
{
	/* A copy: the list grows by alternate files. */
	struct embed_image image = embed->images[index];
	struct debugfile_wanted wanted = {
		.path = image.path, .build_id = image.build_id,
		.build_id_size = image.build_id_size, .pid = embed->pid,
	};
	struct trace_file description = {
		.build_id = image.build_id,
		.build_id_size = image.build_id_size,
		.path = image.path, .path_size = strlen(image.path),
	};
	char *at = NULL, *debug_at = NULL, *link = NULL;
	int binary = debugfile_binary(embed->places, &wanted, &at), debug = -1;
	int error = 0;

	embed->missing += binary < 0;
	if (binary >= 0) {
		link = debuglink_of(binary);
		debug = debugfile_debug(embed->places, &wanted, link,
					&debug_at);
	}
	if (binary >= 0 && embed->what == EMBED_FULL && !image.full) {
		description.kind = GT_FILE_FULL;
		error = put_file(embed, repack, binary, &description);
	}
	if (binary >= 0 && !image.debug && error == 0) {
		description.kind = GT_FILE_DEBUG;
		error = put_reduced(embed, repack, binary, debug,
				    &description);
		embed->images[index].debug = true;
	}
	if (binary >= 0 && error == 0)
		error = put_alternate(embed, repack,
				      debug >= 0 ? debug : binary,
				      debug >= 0 ? debug_at : at);
	if (error != 0)
		log_note("%s: cannot be embedded: %s: its functions have "
			 "names only where the file is", at, strerror(-error));
	if (binary >= 0)
		close(binary);
	if (debug >= 0)
		close(debug);
	free(at);
	free(debug_at);
	free(link);
}

/* ---- files requested by name ---- */

static bool put_included(struct embed *embed, struct repack *repack,
			 const char *path)
{
	struct trace_file description = {
		.kind = GT_FILE_INCLUDED, .path = path,
		.path_size = strlen(path),
	};
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), error;
	struct stat status;

	if (fd >= 0 && fstat(fd, &status) == 0 && !S_ISREG(status.st_mode)) {
		close(fd);
		return true;	/* the glob also matched a directory */
	}
	error = fd < 0 ? -errno : put_file(embed, repack, fd, &description);
	if (fd >= 0)
		close(fd);
	if (error != 0)
		log_error("%s: cannot be included: %s", path,
			  strerror(-error));
	return error == 0;
}

static bool put_globs(struct embed *embed, struct repack *repack,
		      const char *pattern)
{
	glob_t found;
	bool good = true;

	if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0) {
		log_error("%s: no file matches this --include", pattern);
		return false;
	}
	for (size_t i = 0; i < found.gl_pathc && good; i++)
		good = put_included(embed, repack, found.gl_pathv[i]);
	globfree(&found);
	return good;
}

bool embed_add(void *owner, struct repack *repack)
{
	struct embed *embed = owner;
	size_t count = embed->image_count;
	bool good = true;

	progress_begin("embedding", count);
	for (size_t i = 0; i < count && embed->what >= EMBED_DEBUG; i++) {
		const struct embed_image *image = &embed->images[i];

		if (image->path != NULL && (!image->debug ||
		    (embed->what == EMBED_FULL && !image->full)))
			put_image(embed, repack, i);
		progress_update(i);
	}
	progress_end();
	for (size_t i = 0; i < embed->glob_count && good; i++)
		good = put_globs(embed, repack, embed->globs[i]);
	if (embed->missing > 0)
		log_note("%" PRIu64 " mapped files were not found, or differ "
			 "from those recorded: give their directory with "
			 "-d PATH", embed->missing);
	return good;
}
