/*
 * rule: device-in-use
 *
 * The program closes a representor while the server that was given it is there.
 */
#include "misuse.h"

#include "../c/x_comch.h"

int main(void)
{
	struct doca_comch_server *server = NULL;
	struct doca_dev *dev = comch_open(COMCH_CARD, 1);
	struct doca_dev_rep *rep = comch_open_rep(dev, COMCH_HOST);

	MUST(doca_comch_server_create(dev, rep, "host", &server));
	if (WRONG)
		CHECK_REFUSED(doca_dev_rep_close(rep));
	MUST(doca_comch_server_destroy(server));
	MUST(doca_dev_rep_close(rep));
	MUST(doca_dev_close(dev));
	return check_result();
}
