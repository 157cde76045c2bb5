/*
 * NetFlow read by a collector of our own: the template before the records, at most 30 records in a packet,
 * each number as it was given, 250 records in one call; the rules of states around it; who owns a field.
 *
 * clauses: telemetry NetFlow
 * covers: @
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <doca_telemetry_exporter_netflow.h>

#include "check.h"

#define RECORDS 250

struct __attribute__((packed)) record {
	uint32_t src, bytes;
	uint16_t port;
	uint8_t protocol;
};

static int collector;
static uint16_t port_of_collector;
static unsigned seen, packets, templates, template_first;
static uint32_t last_sequence;

static uint16_t be16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static uint32_t be32(const uint8_t *at)
{
	return (uint32_t)be16(at) << 16 | be16(at + 2);
}

static void open_collector(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	struct timeval limit = {20, 0};
	socklen_t len = sizeof(at);

	collector = socket(AF_INET, SOCK_DGRAM, 0);
	MUST_BE(collector >= 0 && bind(collector, (struct sockaddr *)&at, sizeof(at)) == 0);
	MUST_BE(getsockname(collector, (struct sockaddr *)&at, &len) == 0);
	MUST_BE(setsockopt(collector, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) == 0);
	port_of_collector = ntohs(at.sin_port);
}

static void take_packet(void)
{
	uint8_t text[65536];
	ssize_t got = recv(collector, text, sizeof(text), 0);
	unsigned here = 0;
	size_t at = 20;

	MUST_BE(got >= 20);
	packets++;
	CHECK_U64(be16(text), 9);
	CHECK_U64(be32(text + 16), 77); /* the source id of init */
	if (packets > 1)
		CHECK_U64(be32(text + 12), last_sequence + 1);
	last_sequence = be32(text + 12);
	while (at + 4 <= (size_t)got) {
		uint16_t set = be16(text + at), len = be16(text + at + 2);
		size_t in = at + 4;

		MUST_BE(len >= 4 && at + len <= (size_t)got);
		CHECK_U64(len % 4, 0);
		if (set == 0) {
			static const uint8_t want[16] = {0, 8, 0, 4, 0, 1, 0, 4, 0, 7, 0, 2, 0, 4, 0, 1};

			templates++;
			template_first |= seen == 0;
			CHECK(be16(text + in) >= 256);
			CHECK_U64(be16(text + in + 2), 4);
			CHECK_BYTES(text + in + 4, want, 16);
		} else {
			CHECK(set >= 256 && templates > 0);
			for (; in + sizeof(struct record) <= at + len; in += sizeof(struct record), here++, seen++) {
				CHECK_U64(be32(text + in), 0x0a000000 + seen);
				CHECK_U64(be32(text + in + 4), seen * 1000);
				CHECK_U64(be16(text + in + 8), seen);
				CHECK_U64(text[in + 10], seen % 256);
			}
		}
		at += len;
	}
	CHECK(here <= 30);
}

static void add(struct doca_telemetry_exporter_netflow_template *to, uint16_t type, uint16_t len)
{
	struct doca_telemetry_exporter_netflow_flowset_field *field = NULL;

	MUST(doca_telemetry_exporter_netflow_field_create(&field));
	doca_telemetry_exporter_netflow_field_set_type(field, type);
	doca_telemetry_exporter_netflow_field_set_len(field, len);
	CHECK_STATUS(doca_telemetry_exporter_netflow_template_add_field(NULL, field), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_telemetry_exporter_netflow_template_add_field(to, field));
	/* It is the template's. */
	CHECK_STATUS(doca_telemetry_exporter_netflow_field_destroy(field), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_telemetry_exporter_netflow_template_add_field(to, field), DOCA_ERROR_INVALID_VALUE);
}

/* A collector that is not there, or whose name leads nowhere: records are taken all the same. */
static void nobody_there(struct doca_telemetry_exporter_netflow_template *template, const void **list)
{
	static const char *const addresses[] = {"no such host.invalid", "", "127.0.0.1"};
	size_t sent;
	unsigned i;

	for (i = 0; i < 3; i++) {
		CHECK_OK(doca_telemetry_exporter_netflow_init(1));
		doca_telemetry_exporter_netflow_set_collector_addr(addresses[i]);
		doca_telemetry_exporter_netflow_set_collector_port(1);
		CHECK_OK(doca_telemetry_exporter_netflow_start());
		sent = 0;
		CHECK_OK(doca_telemetry_exporter_netflow_send(template, list, RECORDS, &sent));
		CHECK_U64(sent, RECORDS);
		CHECK_OK(doca_telemetry_exporter_netflow_flush());
		CHECK_OK(doca_telemetry_exporter_netflow_destroy());
	}
}

int main(void)
{
	struct doca_telemetry_exporter_netflow_template *template = NULL;
	struct doca_telemetry_exporter_netflow_flowset_field *field = NULL;
	static struct record records[RECORDS];
	static const void *list[RECORDS];
	size_t sent = 99;
	unsigned i, round;

	open_collector();
	MUST(doca_telemetry_exporter_netflow_template_create(&template));
	add(template, DOCA_TELEMETRY_EXPORTER_NETFLOW_IPV4_SRC_ADDR, 4);
	add(template, DOCA_TELEMETRY_EXPORTER_NETFLOW_IN_BYTES, 4);
	add(template, DOCA_TELEMETRY_EXPORTER_NETFLOW_L4_SRC_PORT, 2);
	add(template, DOCA_TELEMETRY_EXPORTER_NETFLOW_PROTOCOL, 1);
	MUST(doca_telemetry_exporter_netflow_field_create(&field));
	CHECK_OK(doca_telemetry_exporter_netflow_field_destroy(field));
	CHECK_STATUS(doca_telemetry_exporter_netflow_field_destroy(field), DOCA_ERROR_INVALID_VALUE);
	for (i = 0; i < RECORDS; i++) {
		records[i].src = htonl(0x0a000000 + i);
		records[i].bytes = htonl(i * 1000);
		records[i].port = htons((uint16_t)i);
		records[i].protocol = (uint8_t)i;
		list[i] = &records[i];
	}
	/* Nothing before its time. */
	CHECK_STATUS(doca_telemetry_exporter_netflow_start(), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_telemetry_exporter_netflow_flush(), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_telemetry_exporter_netflow_send(template, list, 1, &sent), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS2(doca_telemetry_exporter_netflow_destroy(), DOCA_SUCCESS, DOCA_ERROR_BAD_STATE);
	for (round = 0; round < 2; round++) {
		size_t done = 0;

		seen = packets = templates = template_first = 0;
		CHECK_OK(doca_telemetry_exporter_netflow_init(77));
		CHECK_STATUS(doca_telemetry_exporter_netflow_init(78), DOCA_ERROR_BAD_STATE);
		CHECK_STATUS(doca_telemetry_exporter_netflow_send(template, list, 1, &sent), DOCA_ERROR_BAD_STATE);
		{
			char address[] = "127.0.0.1";

			doca_telemetry_exporter_netflow_set_collector_addr(address);
			memset(address, 'x', sizeof(address) - 1); /* was copied */
		}
		doca_telemetry_exporter_netflow_set_collector_port(port_of_collector);
		doca_telemetry_exporter_netflow_source_set_id("me");
		doca_telemetry_exporter_netflow_source_set_tag("");
		CHECK_OK(doca_telemetry_exporter_netflow_start());
		CHECK_STATUS(doca_telemetry_exporter_netflow_start(), DOCA_ERROR_BAD_STATE);
		CHECK_STATUS(doca_telemetry_exporter_netflow_send(NULL, list, 1, &sent), DOCA_ERROR_INVALID_VALUE);
		CHECK_STATUS(doca_telemetry_exporter_netflow_send(template, NULL, 1, &sent), DOCA_ERROR_INVALID_VALUE);
		while (done < RECORDS) {
			sent = 0;
			CHECK_OK(doca_telemetry_exporter_netflow_send(template, list + done, RECORDS - done, &sent));
			MUST_BE(sent > 0 && sent <= RECORDS - done);
			CHECK(done > 0 || sent >= 100);
			done += sent;
		}
		CHECK_OK(doca_telemetry_exporter_netflow_flush());
		while (seen < RECORDS)
			take_packet();
		CHECK_U64(seen, RECORDS);
		CHECK(packets >= 9 && template_first);
		CHECK_OK(doca_telemetry_exporter_netflow_destroy());
		CHECK_STATUS2(doca_telemetry_exporter_netflow_destroy(), DOCA_SUCCESS, DOCA_ERROR_BAD_STATE);
		CHECK_STATUS(doca_telemetry_exporter_netflow_flush(), DOCA_ERROR_BAD_STATE);
	}
	nobody_there(template, list);
	CHECK_OK(doca_telemetry_exporter_netflow_template_destroy(template));
	CHECK_STATUS(doca_telemetry_exporter_netflow_template_destroy(template), DOCA_ERROR_INVALID_VALUE);
	close(collector);
	return check_result();
}
