/*
 * emulated_file.h: finds the file of an image of an emulated program. qemu's
 * user emulation looks for a file below a prefix first: with -L
 * /usr/aarch64-linux-gnu the program's /lib/libc.so.6 is the file
 * /usr/aarch64-linux-gnu/lib/libc.so.6.
 *
 * No state; any thread.
 */
#ifndef GNOMON_EMULATED_FILE_H
#define GNOMON_EMULATED_FILE_H

#include <stdbool.h>

#include "preload/format.h"
#include "unwind/base/layout.h"

/* The prefix, from the command or from qemu's environment variable; NULL:
 * none. */
const char *emulated_file_prefix(void);

/*
 * Whether the image's absolute path, below the prefix, is a file with the
 * image's build-id or, if that file has none, with the image's segments. Then
 * `path` is the real path of that file; else `path` is unchanged.
 */
bool emulated_file_find(const struct gl_image *image, const char *prefix,
			char path[GT_PATH_MAX]);

#endif
