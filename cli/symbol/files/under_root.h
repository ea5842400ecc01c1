/*
 * under_root.h: resolves paths of another system whose root directory is a
 * directory here (--sysroot).
 *
 * Thread context: any.
 */
#ifndef GNOMON_UNDER_ROOT_H
#define GNOMON_UNDER_ROOT_H

/*
 * The path here for a path of that system; the caller frees it. Symbolic links
 * and ".." are resolved as on that system, and never lead outside `root`.
 * Components that do not exist are kept. NULL: too many links. If `root` is
 * NULL, the result is the path itself.
 */
char *under_root(const char *root, const char *path);

#endif
