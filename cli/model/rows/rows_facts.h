/*
 * rows_facts.h: what a store of a trace has besides rows: facts of the whole
 * recording, by name.
 */
#ifndef GNOMON_ROWS_FACTS_H
#define GNOMON_ROWS_FACTS_H

/* 1: all figures follow from rows: nobody cleared the trace, or stopped and
 * started recording; no block lies in a heap of the program's own, none was left
 * out, and it is not told who frees. */
#define ROWS_FACT_PLAIN "plain"
/* struct totals: unpaired, repaired, last_stamp, of all blocks */
#define ROWS_FACT_UNPAIRED "unpaired"
#define ROWS_FACT_REPAIRED "repaired"
#define ROWS_FACT_LAST_STAMP "last_stamp"
/* The peak of all blocks: weighed (weigh.h), and the edge that brought it. */
#define ROWS_FACT_PEAK_BYTES "peak_bytes"
#define ROWS_FACT_PEAK_BLOCKS "peak_blocks"
#define ROWS_FACT_PEAK_STAMP "peak_stamp"
#define ROWS_FACT_PEAK_EDGE "peak_edge"
/* uint64_t a thread, by its number in the model: its events */
#define ROWS_BLOB_THREAD_EVENTS "thread_events"

#endif
