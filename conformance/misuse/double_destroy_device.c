/*
 * rule: double-destroy
 *
 * A device is closed twice.
 */
#include "misuse.h"

int main(void)
{
	struct doca_dev *dev = rig_open_dev(NULL);

	MUST(doca_dev_close(dev));
	if (WRONG)
		(void)doca_dev_close(dev);
	return check_result();
}
