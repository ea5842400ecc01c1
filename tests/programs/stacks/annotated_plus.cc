/*
 * annotated_plus.cc: templates with the same name that allocate, through the
 * C++ library and by operator new; one of them is a method.
 */
#include <map>
#include <string>
#include <vector>

extern "C" {
#include "tgt.h"
}

namespace shapes {

template <typename T> struct Bag {
	std::vector<T *> all;

	__attribute__((noinline)) void put(int n)
	{
		all.reserve(100);	// LINE reserve
		for (int i = 0; i < n; i++)
			all.push_back(new T());	// LINE new
	}
};

} // namespace shapes

int main()
{
	shapes::Bag<double> *doubles = new shapes::Bag<double>;

	doubles->put(50);
	shapes::Bag<long> *longs = new shapes::Bag<long>;
	longs->put(7);
	tgt_sink = doubles;
	tgt_sink = longs;
	return 0;
}
