/*
 * mount_view.h: identifies the file system tree that a process sees.
 */
#ifndef GNOMON_MOUNT_VIEW_H
#define GNOMON_MOUNT_VIEW_H

#include <stdint.h>

/* Equal for two processes that find the same file by the same absolute path:
 * same mount namespace (mount_namespaces(7)) and same root. 0: unknown, e.g.
 * without /proc. Asks the kernel each time. */
uint64_t mount_view(void);

#endif
