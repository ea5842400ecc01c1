/*
 * under_root.h: paths of another system, whose root directory is a directory
 * here: what --sysroot means.
 *
 * Thread context: any.
 */
#ifndef GNOMON_UNDER_ROOT_H
#define GNOMON_UNDER_ROOT_H

/*
 * Where a path of that system is on this one, to be freed. Links are followed
 * as that system would: what they lead to lies under `root`, as does what ".."
 * leads to. What is not there has the path that it would have. NULL: there are
 * too many links. `root` NULL: this system's; then it is the path itself.
 */
char *under_root(const char *root, const char *path);

#endif
