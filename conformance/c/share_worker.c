/*
 * Host and card in two processes: the host's service thread copies; nothing else is needed.
 *
 * clauses: core-memory Export / import; dma Behaviour (directions)
 * covers: @
 * env: SOFTDPU_REACH=worker
 */
#define _GNU_SOURCE
#include "share_copies.h"

int main(void)
{
	return share_copies(0);
}
