/* Strings without a C library: comparing, numbers, comma-separated lists, and lines built for one write. */
#ifndef DROPCLOTH_TEXT_H
#define DROPCLOTH_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A line or a path that is put together: room for the longest path and some words. The rest is left out. */
struct line {
	size_t length;
	char bytes[4352];
};

size_t text_length(const char *text);
bool text_equal(const char *a, const char *b);
/* Whether a comma-separated list contains the word. */
bool list_has(const char *list, const char *word);
/* A decimal number that is the whole text; false for anything else. */
bool parse_number(const char *text, uint64_t *number);
/* The decimal digits at the start of a text, as /proc has them; 0 when there are none. */
int leading_number(const char *text);

/* Makes the line hold only this text. `bytes` always ends with a NUL. */
void start_line(struct line *line, const char *text);
void add_text(struct line *line, const char *text);
void add_number(struct line *line, long number);
/* At most `limit` bytes, control characters as `?`, so that what others chose cannot end the line. */
void add_clean(struct line *line, const char *text, size_t limit);

#endif
