/*
 * printed_names.cc: functions whose names reports print in several forms: with
 * and without parameters, shortened, and fully demangled.
 */
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

static void *volatile sink;

__attribute__((noinline)) void work(int size)
{
	sink = std::malloc(size);
}

namespace scope {
template <class T> struct box {
	__attribute__((noinline)) void fill(const T &)
	{
		sink = std::malloc(51);
	}
};
}

int main()
{
	scope::box<std::map<std::string, std::vector<int>>> box;

	work(101);
	box.fill({});
	return 0;
}
