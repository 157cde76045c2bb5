/*
 * The textbook's skeletons, compiled as C++20.
 *
 * clauses: primer First chapter, Second chapter
 * std: c++20
 * covers: @
 */
#include "primer_skeletons.h"

int main(void)
{
	return all_skeletons();
}
