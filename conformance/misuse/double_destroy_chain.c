/*
 * rule: double-destroy
 *
 * The members of a list are given back one by one, after the head gave back the whole list.
 */
#include "misuse.h"

int main(void)
{
	struct rig rig;
	struct doca_buf *head, *tail;

	rig_setup(&rig, 4096, 4);
	head = rig_src(&rig, 0, 64);
	tail = rig_src(&rig, 128, 64);
	MUST(doca_buf_chain_list(head, tail));
	MUST(doca_buf_dec_refcount(head, NULL));
	if (WRONG)
		(void)doca_buf_dec_refcount(tail, NULL);
	rig_teardown(&rig);
	return check_result();
}
