/*
 * The textbook's skeletons, compiled as C17.
 *
 * clauses: primer First chapter, Second chapter
 * std: c17
 * covers: @
 */
#include "primer_skeletons.h"

int main(void)
{
	return all_skeletons();
}
