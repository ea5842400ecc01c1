/*
 * xml.h: text in XML 1.0, in elements and in attributes. What it cannot hold
 * (control characters, bytes that are no UTF-8, U+FFFE and U+FFFF) becomes a
 * question mark.
 */
#ifndef GNOMON_XML_H
#define GNOMON_XML_H

#include "cli/base/text/buffer.h"

void xml_text(struct buffer *out, const char *text);
/* ` name="value"` */
void xml_attribute(struct buffer *out, const char *name, const char *value);

#endif
