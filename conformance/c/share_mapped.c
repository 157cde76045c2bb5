/*
 * Host and card in two processes: the owner's pages are mapped; memory of the program is found among its mappings and sealed.
 *
 * clauses: core-memory Export / import; dma Behaviour (directions)
 * covers: @
 * env: SOFTDPU_REACH=mapped
 */
#define _GNU_SOURCE
#include "share_copies.h"

int main(void)
{
	return share_copies(1);
}
