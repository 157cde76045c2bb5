/*
 * Flow records: templates, batches of 100 records, packets of at most 30 at a collector, lines in files, wrong order.
 *
 * clauses: all records of a batch are taken; the packets are NetFlow version 9; destroy may come twice
 * covers: @
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <doca_telemetry_exporter_netflow.h>

#include "telemetry_rig.h"

#define RECORDS 100

struct flow {
	uint8_t source[4];
	uint8_t destination[4];
	uint8_t ports[4];
	uint8_t protocol;
	uint8_t bytes[4];
} __attribute__((packed));

static struct doca_telemetry_exporter_netflow_template *make_template(void)
{
	static const uint16_t fields[][2] = {
		{DOCA_TELEMETRY_EXPORTER_NETFLOW_IPV4_SRC_ADDR, DOCA_TELEMETRY_EXPORTER_NETFLOW_IPV4_SRC_ADDR_DEFAULT_LENGTH},
		{DOCA_TELEMETRY_EXPORTER_NETFLOW_IPV4_DST_ADDR, DOCA_TELEMETRY_EXPORTER_NETFLOW_IPV4_DST_ADDR_DEFAULT_LENGTH},
		{DOCA_TELEMETRY_EXPORTER_NETFLOW_L4_SRC_PORT, DOCA_TELEMETRY_EXPORTER_NETFLOW_L4_SRC_PORT_DEFAULT_LENGTH},
		{DOCA_TELEMETRY_EXPORTER_NETFLOW_L4_DST_PORT, DOCA_TELEMETRY_EXPORTER_NETFLOW_L4_DST_PORT_DEFAULT_LENGTH},
		{DOCA_TELEMETRY_EXPORTER_NETFLOW_PROTOCOL, DOCA_TELEMETRY_EXPORTER_NETFLOW_PROTOCOL_DEFAULT_LENGTH},
		{DOCA_TELEMETRY_EXPORTER_NETFLOW_IN_BYTES, DOCA_TELEMETRY_EXPORTER_NETFLOW_IN_BYTES_DEFAULT_LENGTH},
	};
	struct doca_telemetry_exporter_netflow_template *template_ = NULL;
	struct doca_telemetry_exporter_netflow_flowset_field *field = NULL;
	size_t i;

	CHECK_STATUS(doca_telemetry_exporter_netflow_template_create(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_telemetry_exporter_netflow_field_create(NULL), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_telemetry_exporter_netflow_template_create(&template_));
	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		MUST(doca_telemetry_exporter_netflow_field_create(&field));
		doca_telemetry_exporter_netflow_field_set_type(field, fields[i][0]);
		doca_telemetry_exporter_netflow_field_set_len(field, fields[i][1]);
		MUST(doca_telemetry_exporter_netflow_template_add_field(template_, field));
	}
	/* A field without length stays the program's. */
	MUST(doca_telemetry_exporter_netflow_field_create(&field));
	doca_telemetry_exporter_netflow_field_set_type(field, 1);
	doca_telemetry_exporter_netflow_field_set_type(NULL, 1);
	doca_telemetry_exporter_netflow_field_set_len(NULL, 1);
	CHECK_STATUS(doca_telemetry_exporter_netflow_template_add_field(template_, field), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_telemetry_exporter_netflow_template_add_field(NULL, field), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_telemetry_exporter_netflow_field_destroy(field));
	CHECK_STATUS(doca_telemetry_exporter_netflow_field_destroy(field), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_telemetry_exporter_netflow_template_add_field(template_, NULL), DOCA_ERROR_INVALID_VALUE);
	return template_;
}

static int collector(uint16_t *port)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	const struct timeval patience = {.tv_sec = 30};
	socklen_t length = sizeof(address);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	MUST_BE(fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
	MUST_BE(getsockname(fd, (struct sockaddr *)&address, &length) == 0);
	MUST_BE(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) == 0);
	*port = ntohs(address.sin_port);
	return fd;
}

static unsigned get16(const uint8_t *at)
{
	return (unsigned)at[0] << 8 | at[1];
}

/* Reads one packet; gives the number of its data records. */
static unsigned receive(int fd, unsigned sequence)
{
	uint8_t packet[65536];
	const ssize_t n = recv(fd, packet, sizeof(packet), 0);
	unsigned at = 20, records = 0, templates = 0;

	MUST_BE(n >= 20);
	CHECK_U64(get16(packet), 9);
	CHECK_U64(get16(packet + 14), sequence);
	CHECK_U64(get16(packet + 18), 42);
	while (at + 4 <= (unsigned)n) {
		const unsigned id = get16(packet + at), length = get16(packet + at + 2);

		MUST_BE(length >= 4 && at + length <= (unsigned)n);
		CHECK_U64(length % 4, 0);
		if (id == 0) {
			CHECK_U64(get16(packet + at + 6), 6);
			templates++;
		} else {
			CHECK(id >= 256);
			records += (length - 4) / (unsigned)sizeof(struct flow);
		}
		at += length;
	}
	CHECK_U64(at, (uint64_t)n);
	CHECK_U64(get16(packet + 2), records + templates);
	CHECK_U64(templates, sequence == 0 ? 1 : 0);
	return records;
}

int main(void)
{
	struct doca_telemetry_exporter_netflow_template *template_;
	struct flow flows[RECORDS];
	const void *records[RECORDS];
	size_t sent = 77, i;
	unsigned got, sequence = 0, batch;
	uint16_t port;
	const char *root = rig_folder("data");
	char folder[4200];
	int fd;

	setenv("SOFTDPU_TELEMETRY_DIR", root, 1);
	snprintf(folder, sizeof(folder), "%s/netflow", root);
	template_ = make_template();
	memset(flows, 0, sizeof(flows));
	for (i = 0; i < RECORDS; i++) {
		flows[i].source[0] = 10;
		flows[i].source[3] = (uint8_t)i;
		flows[i].destination[0] = 192;
		flows[i].ports[1] = 80;
		flows[i].protocol = 17;
		flows[i].bytes[2] = 1;
		records[i] = &flows[i];
	}

	CHECK_STATUS(doca_telemetry_exporter_netflow_start(), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_telemetry_exporter_netflow_flush(), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_telemetry_exporter_netflow_destroy(), DOCA_ERROR_BAD_STATE);
	doca_telemetry_exporter_netflow_set_collector_port(1);
	MUST(doca_telemetry_exporter_netflow_init(42));
	CHECK_STATUS(doca_telemetry_exporter_netflow_init(42), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_telemetry_exporter_netflow_send(template_, records, RECORDS, &sent), DOCA_ERROR_BAD_STATE);
	fd = collector(&port);
	doca_telemetry_exporter_netflow_set_collector_addr(NULL);
	doca_telemetry_exporter_netflow_set_collector_addr("127.0.0.1");
	doca_telemetry_exporter_netflow_set_collector_port(port);
	doca_telemetry_exporter_netflow_set_file_write_enabled();
	doca_telemetry_exporter_netflow_set_ipc_enabled();
	doca_telemetry_exporter_netflow_source_set_id("flows");
	doca_telemetry_exporter_netflow_source_set_tag("t");
	MUST(doca_telemetry_exporter_netflow_start());
	CHECK_STATUS(doca_telemetry_exporter_netflow_start(), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_telemetry_exporter_netflow_init(1), DOCA_ERROR_BAD_STATE);

	CHECK_STATUS(doca_telemetry_exporter_netflow_send(NULL, records, 1, &sent), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_telemetry_exporter_netflow_send(template_, NULL, 1, &sent), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_telemetry_exporter_netflow_send(template_, records, 1, NULL), DOCA_ERROR_INVALID_VALUE);
	for (batch = 0; batch < 5; batch++) {
		CHECK_OK(doca_telemetry_exporter_netflow_send(template_, records, RECORDS, &sent));
		CHECK_U64(sent, RECORDS);
		CHECK_OK(doca_telemetry_exporter_netflow_flush());
		for (got = 0; got < RECORDS; sequence++) {
			const unsigned some = receive(fd, sequence);

			CHECK(some > 0 && some <= 30);
			got += some;
		}
		CHECK_U64(got, RECORDS);
	}
	CHECK_OK(doca_telemetry_exporter_netflow_destroy());
	CHECK_STATUS(doca_telemetry_exporter_netflow_destroy(), DOCA_ERROR_BAD_STATE);
	CHECK_U64(rig_read(folder, "flows-t-"), 1);
	CHECK_U64(rig_count("\n"), 5 * RECORDS);
	CHECK_U64(rig_count("\"IPV4_SRC_ADDR\":\"10.0.0.99\",\"IPV4_DST_ADDR\":\"192.0.0.0\",\"L4_SRC_PORT\":80,"), 5);
	CHECK_U64(rig_count("\"PROTOCOL\":17,\"IN_BYTES\":256}}\n"), 5 * RECORDS);

	/* A second life, with nobody at the other end: nothing fails. */
	close(fd);
	MUST(doca_telemetry_exporter_netflow_init(42));
	doca_telemetry_exporter_netflow_set_collector_addr("127.0.0.1");
	doca_telemetry_exporter_netflow_set_collector_port(port);
	MUST(doca_telemetry_exporter_netflow_start());
	for (batch = 0; batch < 5; batch++)
		CHECK_OK(doca_telemetry_exporter_netflow_send(template_, records, RECORDS, &sent));
	CHECK_OK(doca_telemetry_exporter_netflow_destroy());
	CHECK_OK(doca_telemetry_exporter_netflow_template_destroy(template_));
	CHECK_STATUS(doca_telemetry_exporter_netflow_template_destroy(template_), DOCA_ERROR_INVALID_VALUE);
	return check_result();
}
