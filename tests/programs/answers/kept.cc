/*
 * kept.cc: a program that frees all its blocks, with the memory that libraries
 * keep until the end: stream buffers, the locale, the reserve for exceptions,
 * the environment.
 */
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

int main()
{
	std::unique_ptr<std::string> text(new std::string(100, 'x'));

	std::setlocale(LC_ALL, "C.UTF-8");
	setenv("GNOMON_TEST_KEPT", "1", 1);
	std::printf("%s\n", text->c_str());
	std::cout << *text << std::endl;
	return 0;
}
