/*
 * A card without cores of its own: no function can be a server or a client, the capability calls say so,
 * and creating one anyway is refused.
 *
 * clauses: comch Device models
 * env: SOFTDPU_PROFILE=cx7
 * covers: @
 */
#define _GNU_SOURCE
#include "x_comch.h"

#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>

int main(void)
{
	struct doca_comch_client *client = NULL;
	struct doca_devinfo **list = NULL;
	struct doca_dev *dev = NULL;
	uint32_t count = 0, i;

	MUST(doca_devinfo_create_list(&list, &count));
	MUST_BE(count > 0);
	for (i = 0; i < count; i++) {
		CHECK_STATUS(doca_comch_cap_server_is_supported(list[i]), DOCA_ERROR_NOT_SUPPORTED);
		CHECK_STATUS(doca_comch_cap_client_is_supported(list[i]), DOCA_ERROR_NOT_SUPPORTED);
		CHECK_STATUS(doca_comch_producer_cap_is_supported(list[i]), DOCA_ERROR_NOT_SUPPORTED);
		CHECK_STATUS(doca_comch_consumer_cap_is_supported(list[i]), DOCA_ERROR_NOT_SUPPORTED);
	}
	MUST(doca_dev_open(list[0], &dev));
	MUST(doca_devinfo_destroy_list(list));
	/* Refused by create, or at the latest by start. */
	if (doca_comch_client_create(dev, "nowhere", &client) == DOCA_SUCCESS) {
		struct doca_pe *pe = NULL;

		MUST(doca_pe_create(&pe));
		MUST(doca_pe_connect_ctx(pe, doca_comch_client_as_ctx(client)));
		MUST(doca_comch_client_task_send_set_conf(client, comch_sent_cb, comch_failed_cb, 1));
		CHECK_STATUS(doca_ctx_start(doca_comch_client_as_ctx(client)), DOCA_ERROR_NOT_SUPPORTED);
		CHECK_OK(doca_comch_client_destroy(client));
		CHECK_OK(doca_pe_destroy(pe));
	}
	CHECK_OK(doca_dev_close(dev));
	return check_result();
}
