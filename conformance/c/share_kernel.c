/*
 * Host and card in two processes: the kernel copies; the host's memory is plain heap.
 *
 * clauses: core-memory Export / import; dma Behaviour (directions)
 * covers: @
 * env: SOFTDPU_REACH=kernel
 */
#define _GNU_SOURCE
#include "share_copies.h"

int main(void)
{
	return share_copies(0);
}
