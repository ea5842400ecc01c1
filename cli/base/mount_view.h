/*
 * mount_view.h: which file systems a process sees by its paths.
 */
#ifndef GNOMON_MOUNT_VIEW_H
#define GNOMON_MOUNT_VIEW_H

#include <stdint.h>

/* Equal for two processes that find the same file by the same absolute path: of
 * one mount namespace (mount_namespaces(7)) and one root. 0: not known, as
 * without /proc. Asks the kernel each time. */
uint64_t mount_view(void);

#endif
