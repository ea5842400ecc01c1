/*
 * final_scan.h: reads mappings, snapshot and memory sizes of a process that is
 * about to end. The process requests this and waits a moment (process_end.h).
 * The recorder only.
 */
#ifndef GNOMON_FINAL_SCAN_H
#define GNOMON_FINAL_SCAN_H

#include <stdbool.h>

struct recorder;

/* In each round: handles such a request, and drops the data if the process goes
 * on after all. */
void final_scan_step(struct recorder *rec);

/* The process has ended: writes the data that was read last, requested or not.
 * Reads nothing more. */
void final_scan_finish(struct recorder *rec);

/* Whether the process has requested its final scan, and has not gone on
 * since. */
bool final_scan_is_last(const struct recorder *rec);

#endif
