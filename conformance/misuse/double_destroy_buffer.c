/*
 * rule: double-destroy
 *
 * The last reference to a buffer is given back twice.
 */
#include "misuse.h"

int main(void)
{
	struct rig rig;
	struct doca_buf *buf;

	rig_setup(&rig, 4096, 4);
	buf = rig_src(&rig, 0, 64);
	MUST(doca_buf_dec_refcount(buf, NULL));
	if (WRONG)
		(void)doca_buf_dec_refcount(buf, NULL);
	rig_teardown(&rig);
	return check_result();
}
