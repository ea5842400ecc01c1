/*
 * runtime_frames.h: frames of a language's run-time library that only lead to the
 * program's code, or from one part of it to the next: how threads and main
 * start, how std::function and std::invoke call, closures of Rust. Readers of a
 * stack pass them over; reports in words fold them.
 *
 * Others than glue (glue.h) they allocate nothing for anybody. What interprets
 * (Python's evaluation loop) is none of them.
 */
#ifndef GNOMON_RUNTIME_FRAMES_H
#define GNOMON_RUNTIME_FRAMES_H

#include <stdbool.h>

#include "cli/stack/frames.h"

bool runtime_frames_has(const struct frame *frame);

#endif
