/*
 * anonymize.c: see the header. It works by allow-lists: of INFO, COUNTERS and
 * END only lines known to have no name are kept; all others are dropped or
 * changed. Unknown events are dropped.
 *
 * The new name of a file depends only on its part before ".so". So the new
 * hash of a DLOPEN event (FNV-1a of that part, docs/FORMAT.md) can be computed
 * from the old hash alone, before any image of that name was seen.
 *
 * Called by the main thread.
 */
#include "cli/transform/anonymize.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#define TOKEN_CHARS 10		/* 50 bits: no collisions among the names of a
				 * machine */
#define VERSION_CHARS 5
#define KEY_BYTES 32

/* Hashed with each text: equal texts of different kinds get unrelated names. */
enum domain {
	DOMAIN_FILE = 1, DOMAIN_VERSION, DOMAIN_THREAD, DOMAIN_CODE,
	DOMAIN_SNAPSHOT, DOMAIN_WORD, DOMAIN_INODE, DOMAIN_BUILD_ID,
	DOMAIN_TRACE
};

/* ---- hashes ---- */

int anonymize_init(struct anonymize *anonymize, const char *key, size_t size)
{
	uint8_t random[KEY_BYTES];

	memset(anonymize, 0, sizeof(*anonymize));
	if (key == NULL) {
		if (getrandom(random, sizeof(random), 0) != sizeof(random))
			return -EIO;
		key = (const char *)random;
		size = sizeof(random);
	}
	hmac_sha256_set_key(&anonymize->keyed, size, (const uint8_t *)key);
	explicit_bzero(random, sizeof(random));
	return 0;
}

static void digest(const struct anonymize *anonymize, enum domain domain,
		   const void *bytes, size_t size,
		   uint8_t hash[SHA256_DIGEST_SIZE])
{
	struct hmac_sha256_ctx context = anonymize->keyed;
	uint8_t kind = (uint8_t)domain;

	hmac_sha256_update(&context, 1, &kind);
	hmac_sha256_update(&context, size, bytes);
	hmac_sha256_digest(&context, SHA256_DIGEST_SIZE, hash);
}

/* A letter for the kind of name, then base 32. */
static void add_token(const struct anonymize *anonymize, enum domain domain,
		      char letter, const void *bytes, size_t size,
		      unsigned chars, struct buffer *out)
{
	static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz234567";
	uint8_t hash[SHA256_DIGEST_SIZE];

	digest(anonymize, domain, bytes, size, hash);
	buffer_add(out, &letter, 1);
	for (unsigned i = 0; i < chars; i++)
		buffer_add(out, &alphabet[hash[i] & 31], 1);
}

static uint64_t fnv(const char *text, size_t size)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (uint8_t)text[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/* ---- paths ---- */

/* The offset of ".so" in a file's name; its size if there is none. */
static size_t stem_size(const char *name, size_t size)
{
	for (size_t i = 0; i + 3 <= size; i++)
		if (memcmp(name + i, ".so", 3) == 0)
			return i;
	return size;
}

static void add_stem(const struct anonymize *anonymize, uint64_t stem_hash,
		     struct buffer *out)
{
	uint8_t bytes[8];

	for (unsigned i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(stem_hash >> (8 * i));
	add_token(anonymize, DOMAIN_FILE, 'n', bytes, sizeof(bytes),
		  TOKEN_CHARS, out);
}

static void add_component(const struct anonymize *anonymize, const char *name,
			  size_t size, struct buffer *out)
{
	size_t stem = stem_size(name, size);

	if (size == 0)
		return;
	add_stem(anonymize, fnv(name, stem), out);
	if (stem == size)
		return;
	buffer_string(out, ".so.");
	add_token(anonymize, DOMAIN_VERSION, 'v', name, size, VERSION_CHARS,
		  out);
}

/* Names that the kernel gives to mappings without a file, which reveal nothing;
 * but not names that a program gave. */
static bool is_kernels(const char *path, size_t size)
{
	static const char *const names[] = {
		"[heap]", "[stack]", "[vdso]", "[vvar]", "[vvar_vclock]",
		"[vsyscall]", "[uprobes]", "/dev/zero", "anon_inode:",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (size == strlen(names[i]) &&
		    memcmp(path, names[i], size) == 0)
			return true;
	return false;
}

static bool ends_with(const char *text, size_t size, const char *end)
{
	size_t n = strlen(end);

	return size >= n && memcmp(text + size - n, end, n) == 0;
}

/* "[anon:name]" and the like: the kind is kept, the name changed. */
static bool add_bracketed(const struct anonymize *anonymize, const char *path,
			  size_t size, struct buffer *out)
{
	static const char *const kinds[] = {
		"[anon:", "[anon_shmem:", "[stack:"
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t n = strlen(kinds[i]);

		if (size <= n || memcmp(path, kinds[i], n) != 0)
			continue;
		buffer_add(out, path, n);
		add_token(anonymize, DOMAIN_WORD, 'a', path, size,
			  TOKEN_CHARS, out);
		buffer_string(out, "]");
		return true;
	}
	return false;
}

void anonymize_path(const struct anonymize *anonymize, const char *path,
		    size_t size, struct buffer *out)
{
	static const char deleted[] = " (deleted)";
	bool gone = ends_with(path, size, deleted);

	if (is_kernels(path, size)) {
		buffer_add(out, path, size);
		return;
	}
	if (add_bracketed(anonymize, path, size, out))
		return;
	if (gone)
		size -= sizeof(deleted) - 1;
	while (size > 0) {
		const char *slash = memchr(path, '/', size);
		size_t part = slash ? (size_t)(slash - path) : size;

		add_component(anonymize, path, part, out);
		if (slash != NULL)
			buffer_string(out, "/");
		part += slash != NULL;
		path += part;
		size -= part;
	}
	if (gone)
		buffer_string(out, deleted);
}

/* ---- content of a trace ---- */

static void change_name(void *owner, enum repack_name what, const char *name,
			size_t size, struct buffer *changed)
{
	const struct anonymize *anonymize = owner;

	switch (what) {
	case REPACK_PATH:
		anonymize_path(anonymize, name, size, changed);
		break;
	case REPACK_THREAD:
		add_token(anonymize, DOMAIN_THREAD, 't', name,
			  strnlen(name, size), TOKEN_CHARS, changed);
		break;
	case REPACK_CODE:
		add_token(anonymize, DOMAIN_CODE, 'f', name, size,
			  TOKEN_CHARS, changed);
		break;
	case REPACK_SNAPSHOT:
		add_token(anonymize, DOMAIN_SNAPSHOT, 's', name, size,
			  TOKEN_CHARS, changed);
		break;
	}
}

static bool is_number(const char *value)
{
	return value[0] != 0 && strspn(value, "0123456789") == strlen(value);
}

static bool is_among(const char *key, const char *const *keys)
{
	for (; *keys != NULL; keys++)
		if (strcmp(key, *keys) == 0)
			return true;
	return false;
}

/* Arguments one by one; their boundaries are kept. */
static void add_words(const struct anonymize *anonymize, const char *text,
		      struct buffer *out)
{
	static const char end[] = { RECORDS_NUL, 0 };

	while (*text != 0) {
		size_t size = strcspn(text, end);

		if (size > 0 && memchr(text, '/', size) != NULL)
			anonymize_path(anonymize, text, size, out);
		else if (size > 0)
			add_component(anonymize, text, size, out);
		text += size;
		if (*text != 0) {
			buffer_string(out, end);
			text++;
		}
	}
}

static bool change_info(const struct anonymize *anonymize, const char *key,
			const char *value, struct buffer *changed)
{
	static const char *const numbers[] = {
		"pid", "ppid", "tid", "starttime", "page_size", "tick_shift",
		"tick_ps", "window_ticks", "start_realtime_ns",
		"start_monotonic_ns", "snapshot_every_ns", "memory", "ring",
		"free_stacks", "sample", "min_size", "max_size", "depth",
		"cull_ns", "cull_pending", "guard", "partial", "part",
		"part_left_out", "word_bytes", "zero_memory", NULL
	};
	static const char *const words[] = {	/* of the recorder's own */
		"gnomon", "arch", "byte_order", "guarantee", "shadow_stack",
		"overflow", "maps", "follow", "embed", NULL
	};
	static const char *const paths[] = {
		"exe", "output", "parent_trace", "files", "files_of",
		NULL
	};

	if (is_among(key, paths))
		anonymize_path(anonymize, value, strlen(value), changed);
	else if (strcmp(key, "command") == 0)
		add_words(anonymize, value, changed);
	else if (strcmp(key, "host") == 0)
		add_token(anonymize, DOMAIN_WORD, 'h', value, strlen(value),
			  TOKEN_CHARS, changed);
	else
		return (is_among(key, numbers) && is_number(value)) ||
		       is_among(key, words);
	return changed->size > 0;
}

static bool change_line(void *owner, unsigned type, const char *key,
			const char *value, struct buffer *changed)
{
	static const char *const end_words[] = { "reason", NULL };

	if (type == GT_INFO)
		return change_info(owner, key, value, changed);
	if (type == GT_END && strcmp(key, "message") == 0) {
		buffer_string(changed, "a message that may have had names in "
			      "it");
		return value[0] != 0;
	}
	return is_number(value) || (type == GT_END && is_among(key,
							       end_words));
}

/* Readers then search for no files. */
static void add_mark(void *owner, struct buffer *lines)
{
	const struct anonymize *anonymize = owner;

	compose_line(lines, "anonymized", anonymize->keep_build_ids ?
		     "names" : "names and build-ids");
}

static uint64_t change_number(const struct anonymize *anonymize,
			      enum domain domain, uint64_t a, uint64_t b)
{
	uint8_t hash[SHA256_DIGEST_SIZE];
	uint64_t both[2] = { a, b }, value = 0;

	digest(anonymize, domain, both, sizeof(both), hash);
	for (unsigned i = 0; i < 8; i++)
		value = value << 8 | hash[i];
	return value;
}

static uint64_t change_inode(void *owner, uint64_t device, uint64_t inode)
{
	return (change_number(owner, DOMAIN_INODE, device, inode) &
		UINT32_MAX) | 1;	/* never 0: that means "no file" */
}

static uint64_t change_trace_id(void *owner, uint64_t trace_id)
{
	return change_number(owner, DOMAIN_TRACE, trace_id, 0);
}

static void change_build_id(void *owner, uint8_t *build_id, size_t size)
{
	const struct anonymize *anonymize = owner;
	uint8_t hash[SHA256_DIGEST_SIZE];

	if (anonymize->keep_build_ids)
		return;
	digest(anonymize, DOMAIN_BUILD_ID, build_id, size, hash);
	memcpy(build_id, hash, size < sizeof(hash) ? size : sizeof(hash));
}

/* Embedded files: their symbols are names. */
static bool drop_file(void *owner, const struct trace_file *piece)
{
	(void)owner, (void)piece;
	return false;
}

static void change_event(void *owner, struct repack *repack,
			 struct repack_stream *stream,
			 const struct repack_place *place,
			 struct trace_event *event)
{
	const struct anonymize *anonymize = owner;
	uint64_t args[GT_EXTRA_ARGS];
	LOCAL_BUFFER name = { 0 };

	(void)place;
	if (event->kind == GT_EXTRA && event->what >= GT_EXTRA_COUNT)
		return;
	if (event->kind == GT_EXTRA) {
		memcpy(args, event->args, sizeof(args));
		event->args = args;
	}
	if (event->kind == GT_EXTRA && event->what == GT_EXTRA_NAME &&
	    args[0] != 0) {
		change_name(owner, REPACK_THREAD, (const char *)args,
			    strnlen((const char *)args, GT_THREAD_NAME_MAX),
			    &name);
		memset(args, 0, GT_THREAD_NAME_MAX);
		memcpy(args, name.data, name.size);
	}
	if (event->kind == GT_EXTRA && event->what == GT_EXTRA_DLOPEN) {
		add_stem(anonymize, args[0], &name);
		args[0] = fnv(name.data, name.size);
	}
	repack_put(repack, stream, event);
}

void anonymize_change(struct anonymize *anonymize,
		      struct repack_change *change)
{
	*change = (struct repack_change){
		.owner = anonymize,
		.line = change_line,
		.info = add_mark,
		.name = change_name,
		.inode = change_inode,
		.build_id = change_build_id,
		.trace_id = change_trace_id,
		.event = change_event,
		.file = drop_file,
	};
}
