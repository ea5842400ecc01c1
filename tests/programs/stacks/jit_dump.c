/*
 * jit_dump.c: code made at run time, several functions one after the other at
 * one address, with unwind tables. ./jit-PID.dump describes it as compilers do
 * for perf: names, lines, code, and times. The last one is moved before its
 * second call.
 */
#include "jit_code.h"
#include "jit_write.h"
#include "tgt.h"

#define FUNCTIONS 3
#define BLOCKS 40
#define CALL_OFFSET 16	/* of the call in the code */

extern void __register_frame(void *), __deregister_frame(void *);

static uint8_t table[TABLE_MAX];

/* The source line of the call is 100 + number. */
static void put_lines(const uint8_t *code, int number)
{
	struct { uint64_t address, count; } head = { (uintptr_t)code, 2 };
	struct { uint64_t address; uint32_t line, column; } line[2] = {
		{ (uintptr_t)code, 1, 0 },
		{ (uintptr_t)code + CALL_OFFSET, 100 + (uint32_t)number, 0 },
	};
	struct jit_record record = { 2, sizeof(record) + sizeof(head) +
			       sizeof(line) + 7 + 2, jit_now_ns() };

	jit_dump_put(&record, sizeof(record));
	jit_dump_put(&head, sizeof(head));
	jit_dump_put(&line[0], sizeof(line[0]));
	jit_dump_put("made.x", 7);
	jit_dump_put(&line[1], sizeof(line[1]));
	jit_dump_put("\xff", 2);
}

static void put_move(const uint8_t *from, const uint8_t *to, size_t size,
		     int number)
{
	struct { uint32_t pid, tid; uint64_t vma, from, to, size, index; }
		move = { (uint32_t)getpid(), 0, (uintptr_t)to,
			 (uintptr_t)from, (uintptr_t)to, size,
			 (uint64_t)number };
	struct jit_record record = { 1, sizeof(record) + sizeof(move), jit_now_ns() };

	jit_dump_put(&record, sizeof(record));
	jit_dump_put(&move, sizeof(move));
}

TGT_FUNCTION void *allocate(size_t size)
{
	void *p = malloc(size);

	tgt_sink = p;
	return p;
}

TGT_FUNCTION void call(uint8_t *code, size_t size, uint8_t frame, int number)
{
	jit_call *jit = (jit_call *)(void *)code;

	jit_make_table(table, code, frame, size);
	__register_frame(table);
	for (int i = 0; i < BLOCKS; i++)
		tgt_sink = jit(allocate, 100 + (size_t)number);
	__deregister_frame(table);
}

int main(void)
{
	uint8_t *code = mmap(NULL, 2 * CODE_PAGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t size = 0;
	char name[32];

	if (code == MAP_FAILED)
		return 1;
	jit_open_dump();
	for (int i = 0; i < FUNCTIONS; i++) {
		size = jit_make_code(code, (uint8_t)(16 + 32 * i));
		put_lines(code, i);
		snprintf(name, sizeof(name), "dumped %d", i);
		jit_put_load(code, size, (uint64_t)i, name);
		call(code, size, (uint8_t)(16 + 32 * i), i);
	}
	jit_make_code(code + CODE_PAGE, (uint8_t)(16 + 32 * (FUNCTIONS - 1)));
	put_move(code, code + CODE_PAGE, size, FUNCTIONS - 1);
	call(code + CODE_PAGE, size, (uint8_t)(16 + 32 * (FUNCTIONS - 1)),
	     FUNCTIONS - 1);
	tgt_print("functions", FUNCTIONS);
	tgt_print("blocks", BLOCKS);
	return 0;
}
