/*
 * jit_write.h: describes code made at run time in ./jit-PID.dump, as compilers
 * do for perf; for targets.
 */
#ifndef GNOMON_TESTS_JIT_WRITE_H
#define GNOMON_TESTS_JIT_WRITE_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "jit_code.h"

static int jit_dump;

struct jit_record {
	uint32_t id, size;
	uint64_t time;
};

static inline uint64_t jit_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline void jit_dump_put(const void *bytes, size_t size)
{
	if (write(jit_dump, bytes, size) != (ssize_t)size)
		abort();
}

static inline void jit_open_dump(void)
{
	uint32_t header[10] = { 0x4a695444, 1, 40, 62, 0,
				(uint32_t)getpid() };
	char path[64];

	snprintf(path, sizeof(path), "jit-%d.dump", (int)getpid());
	jit_dump = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (jit_dump < 0)
		abort();
	jit_dump_put(header, sizeof(header));
	/* This is how perf is told of the file. */
	if (mmap(NULL, CODE_PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, jit_dump,
		 0) == MAP_FAILED)
		abort();
}

static inline void jit_put_load(const uint8_t *code, size_t size,
				uint64_t number, const char *name)
{
	struct { uint32_t pid, tid; uint64_t vma, address, size, index; }
		load = { (uint32_t)getpid(), 0, (uintptr_t)code,
			 (uintptr_t)code, size, number };
	size_t length = strlen(name) + 1;
	struct jit_record record = { 0, (uint32_t)(sizeof(record) + sizeof(load) +
					     length + size), jit_now_ns() };

	jit_dump_put(&record, sizeof(record));
	jit_dump_put(&load, sizeof(load));
	jit_dump_put(name, length);
	jit_dump_put(code, size);
}

#endif
