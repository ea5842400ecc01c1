/*
 * figure_words.h: names of figures as words of options (command.h), by what
 * they are offered for (figures.h).
 */
#ifndef GNOMON_FIGURE_WORDS_H
#define GNOMON_FIGURE_WORDS_H

#include <stddef.h>

#include "cli/base/text/buffer.h"
#include "cli/model/stats/figures.h"

const char *figure_words_all(size_t n, const char **meaning);
const char *figure_words_sums(size_t n, const char **meaning);
const char *figure_words_exported(size_t n, const char **meaning);
const char *figure_words_lines(size_t n, const char **meaning);
/* The one of this name, which the option's words have. */
enum figure figure_words_take(const char *name);
/* "live, peak or total": those of these uses, for messages. */
void figure_words_list(struct buffer *text, unsigned uses);

#endif
