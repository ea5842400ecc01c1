/*
 * lost_page.h: handles missing pages of the live mapping, after another process
 * truncated the file or its file system became full. Access to such a page
 * raises SIGBUS. The recorder must survive it to close the trace.
 */
#ifndef GNOMON_LOST_PAGE_H
#define GNOMON_LOST_PAGE_H

struct live;
struct recording;

/*
 * From now on, a missing page of the mapping is replaced by a private page of
 * zeros and reported as damage (recording_damage). A SIGBUS elsewhere kills the
 * recorder as usual. Once, before live_attach.
 */
void lost_page_watch(struct recording *r, const struct live *live);

#endif
