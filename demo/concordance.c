/*
 * concordance.c: the program that the demonstration records: small and
 * ordinary, with symbols. It reads texts, notes the lines of each word, and
 * finds the lines that contain two given words.
 *
 *	concordance FILE...
 *
 * A report shows the table of words at its peak, the copies of words as
 * temporary blocks, and a leak: answers are never freed.
 */
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 1024		/* at first */
#define QUERIES 400
#define WORD_MAX 64

struct word {
	struct word *next;	/* in the same bucket */
	char *text;
	uint32_t *lines;	/* ascending */
	size_t count;
	size_t capacity;
};

struct concordance {
	struct word **buckets;
	size_t bucket_count;
	size_t word_count;
	uint32_t line;		/* that is being read, over all files */
};

struct answer {
	struct answer *next;
	char *question;
	uint32_t *lines;
	size_t count;
};

static struct answer *answers;	/* nobody ever frees them */

static void *checked(void *block)
{
	if (block == NULL)
		abort();
	return block;
}

static uint32_t hash_of(const char *text)
{
	uint32_t hash = 2166136261u;

	for (; *text != 0; text++)
		hash = (hash ^ (unsigned char)*text) * 16777619u;
	return hash;
}

/* In lower case; the caller frees it. */
static char *normalise(const char *text, size_t size)
{
	char *copy = checked(malloc(size + 1));

	for (size_t i = 0; i < size; i++)
		copy[i] = (char)tolower((unsigned char)text[i]);
	copy[size] = 0;
	return copy;
}

static struct word *find_word(const struct concordance *c, const char *text)
{
	struct word *word = c->buckets[hash_of(text) & (c->bucket_count - 1)];

	while (word != NULL && strcmp(word->text, text) != 0)
		word = word->next;
	return word;
}

static void grow_table(struct concordance *c)
{
	size_t count = c->bucket_count * 2;
	struct word **larger = checked(calloc(count, sizeof(*larger)));

	for (size_t i = 0; i < c->bucket_count; i++)
		while (c->buckets[i] != NULL) {
			struct word *word = c->buckets[i];
			uint32_t at = hash_of(word->text) & (count - 1);

			c->buckets[i] = word->next;
			word->next = larger[at];
			larger[at] = word;
		}
	free(c->buckets);
	c->buckets = larger;
	c->bucket_count = count;
}

static struct word *add_word(struct concordance *c, const char *text)
{
	struct word *word = checked(calloc(1, sizeof(*word)));
	struct word **bucket;

	if (c->word_count++ == c->bucket_count)
		grow_table(c);
	bucket = &c->buckets[hash_of(text) & (c->bucket_count - 1)];
	word->text = checked(strdup(text));
	word->next = *bucket;
	return *bucket = word;
}

static void note_line(struct word *word, uint32_t line)
{
	if (word->count > 0 && word->lines[word->count - 1] == line)
		return;
	if (word->count == word->capacity) {
		word->capacity = word->capacity ? word->capacity * 2 : 4;
		word->lines = checked(realloc(word->lines, word->capacity *
					      sizeof(*word->lines)));
	}
	word->lines[word->count++] = line;
}

static void read_line(struct concordance *c, const char *line)
{
	c->line++;
	while (*line != 0) {
		size_t size = 0;

		while (*line != 0 && !isalpha((unsigned char)*line))
			line++;
		while (isalpha((unsigned char)line[size]) && size < WORD_MAX)
			size++;
		if (size > 0) {
			char *text = normalise(line, size);
			struct word *word = find_word(c, text);

			note_line(word ? word : add_word(c, text), c->line);
			free(text);
		}
		line += size;
	}
}

static void read_file(struct concordance *c, const char *path)
{
	FILE *file = fopen(path, "r");
	char *line = NULL;
	size_t size = 0;

	if (file == NULL) {
		perror(path);
		return;
	}
	while (getline(&line, &size, file) > 0)
		read_line(c, line);
	free(line);
	fclose(file);
}

/* The lines that have both, kept for whoever asks again. */
static const struct answer *query(const struct word *a, const struct word *b)
{
	struct answer *answer = checked(calloc(1, sizeof(*answer)));
	size_t i = 0, j = 0;

	answer->question = checked(malloc(strlen(a->text) + strlen(b->text) +
					  2));
	sprintf(answer->question, "%s %s", a->text, b->text);
	answer->lines = checked(malloc((a->count < b->count ? a->count :
					b->count) * sizeof(uint32_t)));
	while (i < a->count && j < b->count) {
		if (a->lines[i] == b->lines[j])
			answer->lines[answer->count++] = a->lines[i];
		if (a->lines[i] < b->lines[j])
			i++;
		else
			j++;
	}
	answer->next = answers;
	return answers = answer;
}

static int by_count(const void *a, const void *b)
{
	const struct word *x = *(struct word *const *)a;
	const struct word *y = *(struct word *const *)b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return strcmp(x->text, y->text);
}

static struct word **sorted(const struct concordance *c)
{
	struct word **list = checked(malloc((c->word_count + 1) *
					    sizeof(*list)));
	size_t count = 0;

	for (size_t i = 0; i < c->bucket_count; i++)
		for (struct word *word = c->buckets[i]; word != NULL;
		     word = word->next)
			list[count++] = word;
	qsort(list, count, sizeof(*list), by_count);
	return list;
}

static void free_words(struct concordance *c)
{
	for (size_t i = 0; i < c->bucket_count; i++)
		while (c->buckets[i] != NULL) {
			struct word *word = c->buckets[i];

			c->buckets[i] = word->next;
			free(word->text);
			free(word->lines);
			free(word);
		}
	free(c->buckets);
}

int main(int argc, char **argv)
{
	struct concordance c = { .bucket_count = BUCKETS };
	const struct answer *best = NULL;
	struct word **list;

	c.buckets = checked(calloc(c.bucket_count, sizeof(*c.buckets)));
	for (int i = 1; i < argc; i++)
		read_file(&c, argv[i]);
	list = sorted(&c);
	for (size_t i = 0; i < QUERIES && i + 1 < c.word_count; i++) {
		const struct answer *answer = query(list[i], list[i + 1]);

		if (best == NULL || answer->count > best->count)
			best = answer;
	}
	printf("%zu words on %u lines; \"%s\" are together on %zu of them\n",
	       c.word_count, c.line, best ? best->question : "",
	       best ? best->count : (size_t)0);
	free(list);
	free_words(&c);
	return 0;
}
