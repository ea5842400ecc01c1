/*
 * emulated_file.h: where the file of an image lies that an emulator's program
 * has by another path. qemu's user emulation opens what is below a prefix first:
 * with -L /usr/aarch64-linux-gnu the program's /lib/libc.so.6 is the file
 * /usr/aarch64-linux-gnu/lib/libc.so.6.
 *
 * No state; any thread.
 */
#ifndef GNOMON_EMULATED_FILE_H
#define GNOMON_EMULATED_FILE_H

#include <stdbool.h>

#include "preload/format.h"
#include "unwind/layout.h"

/* The prefix, which the command knows, or qemu's own variable; NULL: none. */
const char *emulated_file_prefix(void);

/*
 * Whether the image's path, which is absolute, leads below the prefix to a file
 * that has the image's build-id, or, where that has none, its segments. Then
 * `path` is where that file lies, without symbolic links; else nothing is
 * written.
 */
bool emulated_file_find(const struct gl_image *image, const char *prefix,
			char path[GT_PATH_MAX]);

#endif
