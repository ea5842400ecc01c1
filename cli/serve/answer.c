/*
 * answer.c: see answer.h.
 */
#include "cli/serve/answer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/base/text/buffer.h"
#include "cli/base/text/json.h"
#include "cli/base/text/utf8.h"
#include "cli/base/io_full.h"

#define PREFIX "gnomon: "
#define ANSWER_OVERHEAD 512	/* bytes of an answer besides its body */

static uint64_t bytes_held;

uint64_t answer_bytes(void)
{
	return bytes_held;
}

struct answer *answer_new(unsigned status, const char *type, int fd,
			  uint64_t size, bool on_disk)
{
	struct answer *answer = grow_zeroed(1, sizeof(*answer));

	answer->users = 1;
	answer->status = status;
	answer->type = type;
	answer->fd = fd;
	answer->size = size;
	answer->on_disk = on_disk;
	bytes_held += on_disk ? 0 : size;
	return answer;
}

struct answer *answer_text(unsigned status, const char *type,
			   const char *text, size_t size)
{
	int fd = memfd_create("answer", MFD_CLOEXEC);

	if (fd >= 0 && io_full_write(fd, text, size) != 0) {
		close(fd);
		fd = -1;
	}
	if (fd < 0)
		return answer_new(503, NULL, -1, 0, false);
	return answer_new(status, type, fd, size, false);
}

/* Writes one UTF-8 character as \uXXXX, or as a surrogate pair above 0xffff; an
 * invalid byte, and DEL, as U+FFFD. */
static size_t add_escaped(struct buffer *out, const char *at)
{
	uint32_t code = 0xfffd;
	unsigned length = utf8_decode(at, UTF8_BYTES_MAX, &code);

	if (length == 1)
		code = 0xfffd;
	if (code > 0xffff)
		buffer_printf(out, "\\u%04" PRIx32 "\\u%04" PRIx32,
			      0xd800 + ((code - 0x10000) >> 10),
			      0xdc00 + ((code - 0x10000) & 0x3ff));
	else
		buffer_printf(out, "\\u%04" PRIx32, code);
	return length > 1 ? length : 1;
}

static void add_string(struct buffer *out, const char *text, size_t size)
{
	char *copy = grow_copy(text, size);

	buffer_string(out, "\"");
	for (size_t i = 0; i < size && copy[i] != 0;) {
		if ((unsigned char)copy[i] >= 0x7f) {
			i += add_escaped(out, copy + i);
			continue;
		}
		if (copy[i] == '"' || copy[i] == '\\')
			buffer_printf(out, "\\%c", copy[i]);
		else if (copy[i] < ' ')
			buffer_printf(out, "\\u%04x", copy[i]);
		else
			buffer_add(out, copy + i, 1);
		i++;
	}
	buffer_string(out, "\"");
	free(copy);
}

char *answer_messages(const char *said, size_t size_max)
{
	LOCAL_BUFFER out = { 0 };

	while (said != NULL && *said != 0) {
		size_t length = strcspn(said, "\n");
		size_t skip = strncmp(said, PREFIX, strlen(PREFIX)) == 0 ?
			strlen(PREFIX) : 0, before = out.size;

		if (length > skip) {
			buffer_string(&out, out.size == 0 ? "[" : ",");
			add_string(&out, said + skip, length - skip);
		}
		if (out.size > size_max) {
			out.size = before;
			break;
		}
		said += length + (said[length] != 0);
	}
	if (out.size == 0)
		return NULL;
	out.data[out.size] = 0;
	return grow_format("%s]", out.data);
}

struct answer *answer_error(unsigned status, const char *said)
{
	LOCAL_BUFFER text = { 0 };
	LOCAL_BUFFER body = { 0 };

	while (said != NULL && *said != 0) {
		size_t length = strcspn(said, "\n");
		size_t skip = strncmp(said, PREFIX, strlen(PREFIX)) == 0 ?
			strlen(PREFIX) : 0;

		buffer_string(&text, text.size == 0 ? "" : "\n");
		buffer_add(&text, said + skip, length - skip);
		said += length + (said[length] != 0);
	}
	buffer_string(&body, "{\"error\": ");
	add_string(&body, buffer_text(&text), text.size);
	buffer_string(&body, "}\n");
	return answer_text(status, "application/json", body.data, body.size);
}

struct answer *answer_take(struct answer *answer)
{
	answer->users++;
	return answer;
}

void answer_drop(struct answer *answer)
{
	if (answer == NULL || --answer->users > 0)
		return;
	bytes_held -= answer->on_disk ? 0 : answer->size;
	if (answer->fd >= 0)
		close(answer->fd);
	free(answer->messages);
	free(answer->location);
	free(answer->cookie);
	free(answer);
}

struct answer *answer_cache_find(struct answer_cache *cache, uint64_t key)
{
	struct answer **at = &cache->newest, *found;

	while (*at != NULL && (*at)->key != key)
		at = &(*at)->next;
	if (*at == NULL)
		return NULL;
	found = *at;
	*at = found->next;
	found->next = cache->newest;
	cache->newest = found;
	return answer_take(found);
}

/* Drop the oldest answers beyond the limits. */
static void forget_oldest(struct answer_cache *cache)
{
	struct answer **at = &cache->newest, *old;
	uint64_t bytes = 0;
	unsigned count = 0;

	while (*at != NULL && count < ANSWER_CACHE_MAX &&
	       (bytes += (*at)->size + ANSWER_OVERHEAD) <= cache->bytes_max) {
		at = &(*at)->next;
		count++;
	}
	while ((old = *at) != NULL) {
		*at = old->next;
		cache->count--;
		cache->bytes -= old->size + ANSWER_OVERHEAD;
		answer_drop(old);
	}
}

void answer_cache_keep(struct answer_cache *cache, struct answer *answer)
{
	uint64_t bytes = answer->size + ANSWER_OVERHEAD;

	if (bytes > cache->bytes_max || answer->on_disk)
		return;
	answer->next = cache->newest;
	cache->newest = answer_take(answer);
	cache->bytes += bytes;
	cache->count++;
	if (cache->bytes > cache->bytes_max ||
	    cache->count > ANSWER_CACHE_MAX)
		forget_oldest(cache);
}

void answer_cache_clear(struct answer_cache *cache)
{
	cache->bytes_max = 0;
	forget_oldest(cache);
}
