/*
 * runtime_frames.h: recognizes runtime frames: frames of a language's runtime
 * library that only call the program's code, such as the start of main and
 * threads, std::function and std::invoke, closures of Rust. Readers of a stack
 * skip them; reports in text fold them.
 *
 * Unlike allocator wrappers (wrapper.h) they do not allocate. Interpreters
 * (Python's evaluation loop) are not included.
 */
#ifndef GNOMON_RUNTIME_FRAMES_H
#define GNOMON_RUNTIME_FRAMES_H

#include <stdbool.h>

#include "cli/stack/frames.h"

bool runtime_frames_has(const struct frame *frame);

#endif
