/*
 * bpf.c: the interpreter of bpf.h. The kernel has checked the program
 * before we run it (seccomp_check_filter, which allows the instructions below
 * and no others); nevertheless, nothing here trusts it.
 *
 * I1 Jumps only go forward, so every program ends.
 */
#include "cli/recorder/process/bpf.h"

#include <string.h>

#define BPF_FILTER_KILL SECCOMP_RET_KILL_PROCESS

struct bpf_state {
	uint32_t a, x;
	uint32_t memory[BPF_MEMWORDS];
};

static bool bpf_load(const struct sock_filter *f,
		     const struct seccomp_data *data,
		     const struct bpf_state *s, uint32_t *to)
{
	switch (BPF_MODE(f->code)) {
	case BPF_ABS:
		if (f->k & 3 || f->k > sizeof(*data) - 4)
			return false;
		memcpy(to, (const char *)data + f->k, 4);
		return true;
	case BPF_LEN:
		*to = sizeof(*data);
		return true;
	case BPF_IMM:
		*to = f->k;
		return true;
	case BPF_MEM:
		if (f->k >= BPF_MEMWORDS)
			return false;
		*to = s->memory[f->k];
		return true;
	}
	return false;
}

static bool bpf_alu(const struct sock_filter *f, struct bpf_state *s)
{
	uint32_t v = BPF_SRC(f->code) == BPF_X ? s->x : f->k;

	switch (BPF_OP(f->code)) {
	case BPF_ADD:
		s->a += v;
		return true;
	case BPF_SUB:
		s->a -= v;
		return true;
	case BPF_MUL:
		s->a *= v;
		return true;
	case BPF_DIV:
		s->a = v ? s->a / v : 0;
		return v != 0;
	case BPF_OR:
		s->a |= v;
		return true;
	case BPF_AND:
		s->a &= v;
		return true;
	case BPF_XOR:
		s->a ^= v;
		return true;
	case BPF_LSH:
		s->a = v < 32 ? s->a << v : 0;
		return true;
	case BPF_RSH:
		s->a = v < 32 ? s->a >> v : 0;
		return true;
	case BPF_NEG:
		s->a = -s->a;
		return true;
	}
	return false;
}

/* How many instructions to skip. */
static uint32_t bpf_jump(const struct sock_filter *f,
			 const struct bpf_state *s)
{
	uint32_t v = BPF_SRC(f->code) == BPF_X ? s->x : f->k;
	bool yes = false;

	switch (BPF_OP(f->code)) {
	case BPF_JA:
		return f->k;
	case BPF_JEQ:
		yes = s->a == v;
		break;
	case BPF_JGT:
		yes = s->a > v;
		break;
	case BPF_JGE:
		yes = s->a >= v;
		break;
	case BPF_JSET:
		yes = (s->a & v) != 0;
		break;
	}
	return yes ? f->jt : f->jf;
}

static bool bpf_store(const struct sock_filter *f, struct bpf_state *s,
		      uint32_t value)
{
	if (f->k >= BPF_MEMWORDS)
		return false;
	s->memory[f->k] = value;
	return true;
}

/* Everything but jumps and returns. */
static bool bpf_step(const struct sock_filter *f,
		     const struct seccomp_data *data,
		     struct bpf_state *s)
{
	switch (BPF_CLASS(f->code)) {
	case BPF_LD:
		return bpf_load(f, data, s, &s->a);
	case BPF_LDX:
		return bpf_load(f, data, s, &s->x);
	case BPF_ST:
		return bpf_store(f, s, s->a);
	case BPF_STX:
		return bpf_store(f, s, s->x);
	case BPF_ALU:
		return bpf_alu(f, s);
	case BPF_MISC:
		if (BPF_MISCOP(f->code) == BPF_TAX)
			s->x = s->a;
		else
			s->a = s->x;
		return true;
	}
	return false;
}

uint32_t bpf_run(const struct sock_fprog *program,
		 const struct seccomp_data *data)
{
	struct bpf_state s;
	uint64_t pc;

	memset(&s, 0, sizeof(s));
	for (pc = 0; pc < program->len; pc++) {	/* I1 */
		const struct sock_filter *f = &program->filter[pc];

		switch (BPF_CLASS(f->code)) {
		case BPF_RET:
			return BPF_RVAL(f->code) == BPF_A ? s.a : f->k;
		case BPF_JMP:
			pc += bpf_jump(f, &s);
			break;
		default:
			if (!bpf_step(f, data, &s))
				return BPF_FILTER_KILL;
		}
	}
	return BPF_FILTER_KILL;
}

bool bpf_allows(const struct sock_fprog *program,
		const struct seccomp_data *data)
{
	uint32_t answer = bpf_run(program, data) & SECCOMP_RET_ACTION_FULL;

	return answer == SECCOMP_RET_ALLOW || answer == SECCOMP_RET_LOG;
}
