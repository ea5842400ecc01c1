/*
 * annotate_source.c: finds source files, and makes their lines printable. A
 * file is untrusted: it may have any size, be no text, and contain what
 * confuses a terminal or a reader (control characters, marks that change the
 * text direction).
 *
 * Search order: each --source-root (OLD=NEW: a path at or below OLD, below NEW;
 * DIR: the path, and the path without its first parts, below DIR); the same
 * with -d's directories; the recorded path below the sysroot. With
 * --only-roots, only the first; a file reached there by ".." or by a link that
 * leads outside is not read.
 *
 * Called by the main thread.
 */
#include "cli/annotate/annotate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/base/text/printable.h"
#include "cli/base/text/utf8.h"
#include "cli/symbol/files/under_root.h"

#define SOURCE_MAX (64u << 20)
#define SOURCE_TAB 8

/* ---- finding ---- */

struct found {
	int fd;
	char *path;
	struct stat status;
};

/* Opens a source file; frees the path on failure. */
static bool try_path(struct found *found, char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd >= 0 && fstat(fd, &found->status) == 0 &&
	    S_ISREG(found->status.st_mode) &&
	    found->status.st_size <= SOURCE_MAX) {
		found->fd = fd;
		found->path = path;
		return true;
	}
	if (fd >= 0)
		close(fd);
	free(path);
	return false;
}

/* Tries the whole path below a directory, then without its first parts. */
static bool try_under(struct found *found, const char *directory,
		      const char *file)
{
	while (file != NULL) {
		while (*file == '/')
			file++;
		if (*file != 0 &&
		    try_path(found, grow_format("%s/%s", directory, file)))
			return true;
		file = strchr(file, '/');
	}
	return false;
}

/* Whether the path is the directory of this length, or lies below it. */
static bool is_at_or_below(const char *path, const char *directory, size_t size)
{
	return strncmp(path, directory, size) == 0 &&
		(size == 0 || directory[size - 1] == '/' ||
		 path[size] == '/' || path[size] == 0);
}

static bool try_root(struct found *found, const char *root, const char *path)
{
	const char *equals = strchr(root, '=');
	size_t size;

	if (equals == NULL)
		return try_under(found, root, path);
	size = (size_t)(equals - root);
	while (size > 0 && root[size - 1] == '/')
		size--;
	return is_at_or_below(path, root, size) &&
		try_path(found, grow_format("%s%s", equals + 1, path + size));
}

/* The directory of a root. */
static const char *root_directory(const char *root)
{
	const char *equals = strchr(root, '=');

	return equals == NULL ? root : equals + 1;
}

/* Whether the opened file really lies below one of the roots. */
static bool lies_under(const struct found *found,
		       const struct annotate_options *options)
{
	char *link = grow_format("/proc/self/fd/%d", found->fd);
	char *file = realpath(link, NULL);
	bool lies = false;

	for (size_t i = 0; i < options->root_count && file != NULL; i++) {
		char *root = realpath(root_directory(options->roots[i]), NULL);
		size_t size = root == NULL ? 0 : strlen(root);

		lies |= size > 0 && is_at_or_below(file, root, size);
		free(root);
	}
	free(file);
	free(link);
	return lies;
}

static bool find_in_roots(struct found *found,
			  const struct annotate_options *options,
			  const char *path)
{
	for (size_t i = 0; i < options->root_count; i++) {
		if (!try_root(found, options->roots[i], path))
			continue;
		if (!options->only_roots || lies_under(found, options))
			return true;
		close(found->fd);
		free(found->path);
		*found = (struct found){ .fd = -1 };
	}
	return false;
}

static bool find(struct found *found, const struct annotate_options *options,
		 const char *path)
{
	const struct debugfile_places *places = options->places;
	char *here;

	if (find_in_roots(found, options, path))
		return true;
	if (options->only_roots)
		return false;
	for (size_t i = 0; i < places->path_count; i++)
		if (try_under(found, places->paths[i], path))
			return true;
	here = under_root(places->sysroot, path);
	return here != NULL && try_path(found, here);
}

/* ---- reading ---- */

static void split(struct annotate_source *source)
{
	const char *text = source->text.data;
	size_t size = source->text.size;

	for (size_t at = 0; at < size;) {
		const char *end = memchr(text + at, '\n', size - at);

		GROW(source->start, source->lines, source->capacity);
		source->start[source->lines++] = at;
		at = end == NULL ? size : (size_t)(end - text) + 1;
	}
	GROW(source->start, source->lines, source->capacity);
	source->start[source->lines] = size;
}

static bool read_all(struct annotate_source *source, int fd)
{
	char piece[65536];
	ssize_t n;

	while ((n = read(fd, piece, sizeof(piece))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || source->text.size + (size_t)n > SOURCE_MAX)
			return false;
		buffer_add(&source->text, piece, (size_t)n);
	}
	return true;
}

void annotate_source_read(struct annotate_source *source,
			  const struct annotate_options *options,
			  const char *file, const char *directory,
			  const char *binary)
{
	struct found found = { .fd = -1 };
	struct stat status;
	char *path;

	memset(source, 0, sizeof(*source));
	path = file[0] == '/' || directory == NULL ?
		grow_copy(file, strlen(file)) :
		grow_format("%s/%s", directory, file);
	if (find(&found, options, path)) {
		source->path = found.path;
		if (read_all(source, found.fd)) {
			split(source);
			source->newer = binary != NULL &&
				stat(binary, &status) == 0 &&
				found.status.st_mtime > status.st_mtime;
		} else {
			free(source->path);
			source->path = NULL;
		}
		close(found.fd);
	}
	free(path);
}

void annotate_source_free(struct annotate_source *source)
{
	free(source->path);
	free(source->start);
	buffer_free(&source->text);
}

/* ---- printable lines ---- */

size_t annotate_indent(const char *text, size_t size)
{
	size_t column = 0;

	for (size_t i = 0; i < size; i++) {
		if (text[i] == '\t')
			column += SOURCE_TAB - column % SOURCE_TAB;
		else if (text[i] == ' ')
			column++;
		else if (text[i] != '\r')
			return column;
	}
	return SIZE_MAX;
}

/* Adds blanks up to a column, except removed ones. */
static size_t put_blanks(struct buffer *out, size_t from, size_t to,
			 size_t dedent, size_t width)
{
	for (; from < to; from++)
		if (from >= dedent && from - dedent < width)
			buffer_add(out, " ", 1);
	return to;
}

void annotate_printable(struct buffer *out, const char *text, size_t size,
			size_t dedent, size_t width)
{
	size_t column = 0, start = out->size;

	while (size > 0 && (text[size - 1] == '\r' || text[size - 1] == '\n'))
		size--;
	for (size_t i = 0, length; i < size; i += length) {
		uint32_t value = 0;
		int columns;

		length = utf8_decode(text + i, size - i, &value);
		if (value == '\t' && length == 1) {
			column = put_blanks(out, column, column + SOURCE_TAB -
					    column % SOURCE_TAB, dedent,
					    width);
			continue;
		}
		columns = length == 0 ? -1 : printable_columns(value);
		if (length == 0)
			length = 1;
		if (column + (size_t)(columns > 0 ? columns : 1) >
		    dedent + width && columns != 0)
			break;
		if (columns >= 0 && value != ' ')
			buffer_add(out, text + i, length);
		else if (column >= dedent)
			buffer_add(out, columns >= 0 ? " " : "?", 1);
		column += columns >= 0 ? (size_t)columns : 1;
	}
	while (out->size > start && out->data[out->size - 1] == ' ')
		out->data[--out->size] = 0;
}

void annotate_source_line(const struct annotate_source *source, size_t line,
			  size_t dedent, size_t width, struct buffer *out)
{
	size_t from = source->start[line - 1], to = source->start[line];

	annotate_printable(out, source->text.data + from, to - from, dedent,
			   width);
}
