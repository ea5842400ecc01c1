/*
 * xml.h: escapes text for XML 1.0, in elements and attributes. Characters that
 * XML cannot hold (control characters, invalid UTF-8, U+FFFE and U+FFFF) become
 * a question mark.
 */
#ifndef GNOMON_XML_H
#define GNOMON_XML_H

#include "cli/base/text/buffer.h"

void xml_text(struct buffer *out, const char *text);
/* ` name="value"` */
void xml_attribute(struct buffer *out, const char *name, const char *value);

#endif
