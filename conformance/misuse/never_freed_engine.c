/*
 * rule: never-freed
 *
 * A progress engine is not destroyed.
 */
#include "misuse.h"

int main(void)
{
	struct doca_pe *pe = NULL;

	MUST(doca_pe_create(&pe));
	if (!WRONG)
		MUST(doca_pe_destroy(pe));
	return check_result();
}
