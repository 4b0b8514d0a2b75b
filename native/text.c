#include "text.h"

/*
 * The compiler may call these three by itself. The empty assembly keeps it from turning the loops back into calls of
 * the very functions they are in.
 */
void *memset(void *to, int byte, size_t length) {
	for (size_t i = 0; i < length; i++) {
		((unsigned char *)to)[i] = (unsigned char)byte;
		__asm__ volatile("" ::: "memory");
	}
	return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t length) {
	for (size_t i = 0; i < length; i++) {
		((unsigned char *)to)[i] = ((const unsigned char *)from)[i];
		__asm__ volatile("" ::: "memory");
	}
	return to;
}

int memcmp(const void *a, const void *b, size_t length) {
	const unsigned char *left = a, *right = b;
	for (size_t i = 0; i < length; i++)
		if (left[i] != right[i]) return left[i] - right[i];
	return 0;
}

size_t text_length(const char *text) {
	size_t length = 0;
	while (text[length]) length++;
	return length;
}

bool text_equal(const char *a, const char *b) {
	while (*a && *a == *b) a++, b++;
	return *a == *b;
}

bool list_has(const char *list, const char *word) {
	while (*list) {
		const char *wanted = word;
		while (*list && *list != ',' && *list == *wanted) list++, wanted++;
		if (!*wanted && (!*list || *list == ',')) return true;
		while (*list && *list != ',') list++;
		if (*list == ',') list++;
	}
	return false;
}

bool parse_number(const char *text, uint64_t *number) {
	uint64_t value = 0;
	if (!*text) return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9') return false;
		uint64_t digit = (uint64_t)(*text - '0');
		if (value > (UINT64_MAX - digit) / 10) return false;
		value = value * 10 + digit;
	}
	*number = value;
	return true;
}

int leading_number(const char *text) {
	int value = 0;
	while (*text >= '0' && *text <= '9' && value < 100000000) value = value * 10 + (*text++ - '0');
	return value;
}

static void add_byte(struct line *line, char byte) {
	if (line->length + 1 >= sizeof line->bytes) return;
	line->bytes[line->length++] = byte;
	line->bytes[line->length] = 0;
}

void start_line(struct line *line, const char *text) {
	line->length = 0;
	line->bytes[0] = 0;
	add_text(line, text);
}

void add_text(struct line *line, const char *text) {
	while (*text) add_byte(line, *text++);
}

void add_number(struct line *line, long number) {
	char digits[24];
	int count = 0;
	unsigned long rest = number < 0 ? -(unsigned long)number : (unsigned long)number;
	do digits[count++] = (char)('0' + rest % 10);
	while (rest /= 10);
	if (number < 0) add_byte(line, '-');
	while (count) add_byte(line, digits[--count]);
}

void add_clean(struct line *line, const char *text, size_t limit) {
	for (; *text && limit; text++, limit--) add_byte(line, (unsigned char)*text < ' ' || *text == 127 ? '?' : *text);
}
