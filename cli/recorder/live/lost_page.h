/*
 * lost_page.h: pages of the live mapping that are not there: somebody has cut
 * the file, or its file system is full. Touching one is a SIGBUS, which is not
 * to end the recorder: the trace is to be closed.
 */
#ifndef GNOMON_LOST_PAGE_H
#define GNOMON_LOST_PAGE_H

struct live;
struct recording;

/*
 * From here on a page of the mapping that cannot be had reads as zeros, is
 * nobody else's, and is damage (recording_damage). A SIGBUS elsewhere ends the
 * program as ever. Once, before live_attach.
 */
void lost_page_watch(struct recording *r, const struct live *live);

#endif
