// FLAGS: -pthread -lboost_context
/*
 * boost_fibers.cc: Boost.Context. Fibers that allocate and throw at all
 * depths, suspended in the middle, resumed by another thread each time,
 * destroyed while suspended (Boost unwinds them by an exception), and, by the
 * layer below, contexts that are dropped without a word: their stacks
 * unmapped and the addresses given to other stacks, or to plain memory.
 */
#include <boost/context/fiber.hpp>
#include <boost/context/detail/fcontext.hpp>
#include <stdexcept>
#include <sys/mman.h>
#include <thread>
#include <vector>

#include "deep.h"

#define STACK_SIZE (128 << 10)

namespace ctx = boost::context;

static uint64_t guards_made, guards_gone, caught, wrong;

struct guard {
	void *block = tgt_malloc(27);
	guard() { TGT_ADD(guards_made, 1); }
	~guard()
	{
		tgt_free(tgt_malloc(12), 12);
		tgt_free(block, 27);
		TGT_ADD(guards_gone, 1);
	}
};

/* Each fiber's way back, moved in and out of its frames. */
struct task {
	ctx::fiber back;
	long sum = 0;
	int number;
};

static void suspend(task &t)
{
	t.back = std::move(t.back).resume();
}

static long walk(task &t, int depth)
{
	guard object;
	long answer;

	if (depth % 5 == 3)
		suspend(t);
	if (depth == 0) {
		suspend(t);
		if (t.number % 3 == 0)
			throw std::runtime_error("in a fiber");
		return 0;
	}
	answer = walk(t, depth - 1) + 1;
	if (depth % 7 == 2)
		suspend(t);
	tgt_free(tgt_malloc(18), 18);
	return answer;
}

static ctx::fiber start(task &t)
{
	return ctx::fiber([&t](ctx::fiber &&back) {
		t.back = std::move(back);
		for (int i = 0; i < 5; i++) {
			try {
				t.sum += walk(t, (t.number * 7 + i * 13) % 60);
			} catch (const std::runtime_error &) {
				TGT_ADD(caught, 1);
				t.sum += 1000;
			}
		}
		return std::move(t.back);
	});
}

struct round {
	std::vector<ctx::fiber> *fibers;
	bool any;
};

static long turn(void *argument)
{
	round *r = (round *)argument;

	r->any = false;
	for (auto &fiber : *r->fibers) {
		if (!fiber)
			continue;
		fiber = std::move(fiber).resume();
		r->any = true;
		tgt_free(tgt_malloc(15), 15);
	}
	return 0;
}

/* All fibers once, from this deep inside, in a thread of its own or here. */
static bool turns(std::vector<ctx::fiber> &fibers, int depth, bool here)
{
	round r = { &fibers, false };
	auto body = [&] { wrong += deep(depth, turn, &r) != depth; };

	if (here)
		body();
	else
		std::thread(body).join();
	return r.any;
}

static void fibers(int limit)
{
	task tasks[6];
	std::vector<ctx::fiber> all;

	for (int i = 0; i < 6; i++) {
		tasks[i].number = i;
		all.push_back(start(tasks[i]));
	}
	for (int i = 0; i < limit; i++)
		if (!turns(all, i * 17 % 50, i % 3 != 1))
			break;
	/* those that are still suspended are unwound here */
	all.clear();
	for (task &t : tasks)
		tgt_print("sum", t.sum);
}

/* The layer below: nothing is unwound. */
static long drop_bottom(void *argument)
{
	auto *back = (ctx::detail::fcontext_t *)argument;

	*back = ctx::detail::jump_fcontext(*back, nullptr).fctx;
	return 0;
}

static void raw_entry(ctx::detail::transfer_t from)
{
	ctx::detail::fcontext_t back = from.fctx;

	for (int depth = 1;; depth = (depth + 11) % 70) {
		deep(depth, drop_bottom, &back);
		deep_wide(depth, drop_bottom, &back);
	}
}

static void dropped(int count)
{
	char *where = nullptr;

	for (int i = 0; i < count; i++) {
		char *stack = (char *)mmap(where, STACK_SIZE,
			PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		auto context = ctx::detail::make_fcontext(
			stack + STACK_SIZE, STACK_SIZE, raw_entry);

		where = stack;
		for (int k = 0; k < 3 + i % 5; k++) {
			context = ctx::detail::jump_fcontext(context,
							     nullptr).fctx;
			deep(i % 20, deep_nothing, nullptr);
		}
		munmap(stack, STACK_SIZE);
		if (i % 3 == 1) {
			/* plain memory there for a while, full of ones */
			mmap(stack, STACK_SIZE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
			memset(stack, 1, STACK_SIZE);
			deep(30, deep_nothing, nullptr);
			munmap(stack, STACK_SIZE);
		}
		deep(40, deep_nothing, nullptr);
	}
}

int main()
{
	for (int limit = 1; limit < 200; limit *= 3)
		fibers(limit);
	dropped(60);
	std::thread(dropped, 20).join();
	tgt_print("caught", caught);
	tgt_print("guards_alive", guards_made - guards_gone);
	tgt_print("guards", guards_made);
	tgt_print("wrong", wrong);
	tgt_report();
	return wrong || guards_made != guards_gone;
}
