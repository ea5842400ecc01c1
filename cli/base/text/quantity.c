/*
 * quantity.c: parses and prints sizes, times and counts. Pure functions, any
 * thread. Parsing does not use strtod, which would accept "nan", "0x10", " 5"
 * and a locale's decimal comma; the one call of it gets texts of digits, points
 * and percent signs only.
 */
#include "cli/base/text/quantity.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A decimal number with an optional fraction; NULL if there is none. */
static const char *parse_number(const char *p, double *value)
{
	double scale = 0.1;
	bool digits = false;

	for (*value = 0; *p >= '0' && *p <= '9'; p++, digits = true)
		*value = *value * 10 + (*p - '0');
	if (*p == '.')
		for (p++; *p >= '0' && *p <= '9'; p++, digits = true) {
			*value += (*p - '0') * scale;
			scale /= 10;
		}
	return digits ? p : NULL;
}

static int store(double value, uint64_t *result)
{
	if (value >= 18446744073709551615.0)
		return -ERANGE;
	*result = (uint64_t)(value + 0.5);
	return 0;
}

int quantity_parse_size(const char *text, uint64_t *size)
{
	static const char units[] = "kmgt";
	double value;
	const char *p = parse_number(text, &value);

	if (p == NULL)
		return -EINVAL;
	if (*p != 0) {
		const char *unit = strchr(units, *p | 0x20);

		if (unit != NULL) {
			value = ldexp(value, 10 * (int)(unit - units + 1));
			p++;
		}
		if (*p == 'i')
			p++;
		if (*p == 'B')
			p++;
	}
	return *p == 0 ? store(value, size) : -EINVAL;
}

static const struct {
	const char *name;
	double ns;
} time_units[] = {
	/* longer names first where one begins with the other */
	{ "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "min", 6e10 },
	{ "s", 1e9 }, { "m", 6e10 }, { "h", 3.6e12 }, { "d", 8.64e13 },
};
#define TIME_UNITS (sizeof(time_units) / sizeof(time_units[0]))

int quantity_parse_time(const char *text, uint64_t *ns)
{
	double sum = 0;
	const char *p = text;

	do {
		double value;
		size_t i;

		p = parse_number(p, &value);
		if (p == NULL)
			return -EINVAL;
		for (i = 0; i < TIME_UNITS; i++)
			if (strncmp(p, time_units[i].name,
				    strlen(time_units[i].name)) == 0)
				break;
		if (i == TIME_UNITS)
			return -EINVAL;
		sum += value * time_units[i].ns;
		p += strlen(time_units[i].name);
	} while (*p != 0);
	return store(sum, ns);
}

int quantity_parse_count(const char *text, uint64_t *count)
{
	uint64_t value = 0;

	if (*text == 0)
		return -EINVAL;
	for (; *text >= '0' && *text <= '9'; text++) {
		if (value > (UINT64_MAX - 9) / 10)
			return -ERANGE;
		value = value * 10 + (uint64_t)(*text - '0');
	}
	if (*text != 0)
		return -EINVAL;
	*count = value;
	return 0;
}

char *quantity_size(char *text, int64_t bytes)
{
	static const char units[] = "KMGTPE";
	double value = (double)bytes;
	int unit = -1;

	if (bytes > -1024 && bytes < 1024) {
		snprintf(text, QUANTITY_TEXT, "%d B", (int)bytes);
		return text;
	}
	/* 1023.95 would be printed as 1024.0 */
	while (fabs(value) >= 1023.95 && unit < 5) {
		value /= 1024;
		unit++;
	}
	if (unit < 0) {
		value /= 1024;
		unit = 0;
	}
	assert(unit >= 0 && unit < (int)sizeof(units) - 1);
	snprintf(text, QUANTITY_TEXT, fabs(value) < 99.95 ? "%.1f%c" : "%.0f%c",
		 value, units[unit]);
	return text;
}

char *quantity_time(char *text, uint64_t ns)
{
	double s = (double)ns / 1e9;
	unsigned long long whole = ns / UINT64_C(1000000000);

	if (ns < 1000)
		snprintf(text, QUANTITY_TEXT, "%uns", (unsigned)ns);
	else if (ns < 1000000)
		snprintf(text, QUANTITY_TEXT, "%.1fus", s * 1e6);
	else if (ns < 1000000000)
		snprintf(text, QUANTITY_TEXT, "%.1fms", s * 1e3);
	else if (whole < 60)
		snprintf(text, QUANTITY_TEXT, "%.2fs", s);
	else if (whole < 3600)
		snprintf(text, QUANTITY_TEXT, "%llum%02llus", whole / 60,
			 whole % 60);
	else
		snprintf(text, QUANTITY_TEXT, "%lluh%02llum%02llus",
			 whole / 3600, whole / 60 % 60, whole % 60);
	return text;
}

char *quantity_count(char *text, uint64_t count)
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%llu",
			 (unsigned long long)count);
	char *out = text;

	assert(n > 0 && n < (int)sizeof(digits));
	for (int i = 0; i < n; i++) {
		if (i > 0 && (n - i) % 3 == 0)
			*out++ = ',';
		*out++ = digits[i];
	}
	*out = 0;
	return text;
}

char *quantity_counted(char *text, uint64_t count, const char *noun)
{
	int n = snprintf(text, QUANTITY_COUNTED, "%s %s%s", COUNT_TEXT(count),
			 noun, count == 1 ? "" : "s");

	assert(n > 0 && n < QUANTITY_COUNTED);
	return text;
}

char *quantity_percent(char *text, uint64_t part, uint64_t whole)
{
	double percent = whole ? 100.0 * (double)part / (double)whole : 0;

	snprintf(text, QUANTITY_TEXT, "%.1f%%", percent);
	return text;
}

int quantity_parse_growth(const char *text, double *percent)
{
	char *end;

	/* No "inf", no "nan", no hexadecimal. */
	if (text[0] == 0 || strspn(text, "0123456789.%") != strlen(text))
		return -EINVAL;
	*percent = strtod(text, &end);
	if (end == text || (*end == '%' ? end[1] : end[0]) != 0)
		return -EINVAL;
	return isfinite(*percent) && *percent <= 1e9 ? 0 : -ERANGE;
}

char *quantity_of(char *text, enum quantity_unit unit, uint64_t value)
{
	switch (unit) {
	case QUANTITY_NS:
		return quantity_time(text, value);
	case QUANTITY_COUNT:
		return quantity_count(text, value);
	case QUANTITY_BYTES:
		break;
	}
	return quantity_size(text, value > INT64_MAX ? INT64_MAX :
			     (int64_t)value);
}
