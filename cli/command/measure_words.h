/*
 * measure_words.h: names of measures as words of options (command.h), selected
 * by their uses (figures.h).
 */
#ifndef GNOMON_MEASURE_WORDS_H
#define GNOMON_MEASURE_WORDS_H

#include <stddef.h>

#include "cli/base/text/buffer.h"
#include "cli/model/stats/figures.h"

const char *measure_words_all(size_t n, const char **meaning);
const char *measure_words_sums(size_t n, const char **meaning);
const char *measure_words_exported(size_t n, const char **meaning);
const char *measure_words_lines(size_t n, const char **meaning);
/* The measure of this name, which must be one of the option's words. */
enum measure measure_words_take(const char *name);
/* The measures with these uses as text, for messages: "live, peak or total". */
void measure_words_list(struct buffer *text, unsigned uses);

#endif
