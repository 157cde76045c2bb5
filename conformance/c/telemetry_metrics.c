/*
 * Metrics: counters, gauges, labels, the interval, OTLP lines in files, and the page for Prometheus.
 *
 * clauses: metrics are written out by flush and by the interval; PROMETHEUS_ENDPOINT opens a page with present values
 * covers: @
 */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <sys/socket.h>
#include <time.h>

#include "telemetry_rig.h"

static uint16_t free_port(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t length = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	MUST_BE(fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
	MUST_BE(getsockname(fd, (struct sockaddr *)&address, &length) == 0);
	close(fd);
	return ntohs(address.sin_port);
}

static void scrape(uint16_t port)
{
	static const char request[] = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	size_t used = 0;
	ssize_t n;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	MUST_BE(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
	MUST_BE(write(fd, request, sizeof(request) - 1) == (ssize_t)sizeof(request) - 1);
	while ((n = read(fd, rig_text + used, sizeof(rig_text) - 1 - used)) > 0)
		used += (size_t)n;
	rig_text[used] = '\0';
	close(fd);
}

/* The address is free again once the last schema is gone; it may be written as an URL. */
static void one_after_the_other(uint16_t port)
{
	struct doca_telemetry_exporter_schema *schema = NULL, *other = NULL;
	char endpoint[64];
	unsigned i;

	for (i = 0; i < 6; i++) {
		snprintf(endpoint, sizeof(endpoint), "%s127.0.0.1:%u", i % 2 ? "http://" : "", port);
		setenv("PROMETHEUS_ENDPOINT", endpoint, 1);
		MUST(doca_telemetry_exporter_schema_init("plant", &schema));
		MUST(doca_telemetry_exporter_schema_init("other", &other));
		CHECK_OK(doca_telemetry_exporter_schema_start(schema));
		CHECK_OK(doca_telemetry_exporter_schema_start(other));
		scrape(port);
		CHECK(strncmp(rig_text, "HTTP/1.1 200 OK\r\n", 17) == 0);
		CHECK_OK(doca_telemetry_exporter_schema_destroy(other));
		CHECK_OK(doca_telemetry_exporter_schema_destroy(schema));
	}
}

int main(void)
{
	struct doca_telemetry_exporter_schema *schema = NULL;
	struct doca_telemetry_exporter_source *source;
	doca_telemetry_exporter_label_set_id_t set = 0, none = 0;
	const char *names[] = {"port", "queue"}, *twice[] = {"a", "a"};
	const char *first[] = {"p0", "1"}, *second[] = {"p0", "2"}, *hole[] = {"p0", NULL};
	const char *root = rig_folder("data");
	const uint16_t port = free_port();
	const struct timespec nap = {.tv_nsec = 5000000};
	char folder[4200], endpoint[64];

	snprintf(endpoint, sizeof(endpoint), "127.0.0.1:%u", port);
	setenv("PROMETHEUS_ENDPOINT", endpoint, 1);
	snprintf(folder, sizeof(folder), "%s/plant", root);
	MUST(doca_telemetry_exporter_schema_init("plant", &schema));
	doca_telemetry_exporter_schema_set_buf_data_root(schema, root);
	doca_telemetry_exporter_schema_set_file_write_enabled(schema);
	MUST(doca_telemetry_exporter_schema_start(schema));
	source = rig_source(schema);

	CHECK_STATUS(doca_telemetry_exporter_metrics_flush(source), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_telemetry_exporter_metrics_destroy_context(source), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_telemetry_exporter_metrics_add_constant_label(source, "a", "b"), DOCA_ERROR_BAD_STATE);
	MUST(doca_telemetry_exporter_metrics_create_context(source));
	CHECK_STATUS(doca_telemetry_exporter_metrics_create_context(source), DOCA_ERROR_ALREADY_EXIST);
	CHECK_STATUS(doca_telemetry_exporter_metrics_create_context(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_telemetry_exporter_metrics_set_flush_interval_ms(source, 0));

	CHECK_OK(doca_telemetry_exporter_metrics_add_constant_label(source, "site", "lab"));
	CHECK_STATUS(doca_telemetry_exporter_metrics_add_constant_label(source, "site", "x"), DOCA_ERROR_ALREADY_EXIST);
	CHECK_STATUS(doca_telemetry_exporter_metrics_add_constant_label(source, NULL, "x"), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_telemetry_exporter_metrics_add_label_names(source, names, 2, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_telemetry_exporter_metrics_add_label_names(source, NULL, 2, &set), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_telemetry_exporter_metrics_add_label_names(source, twice, 2, &set), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_telemetry_exporter_metrics_add_label_names(source, names, 2, &set));
	CHECK(set != none);

	CHECK_OK(doca_telemetry_exporter_metrics_add_counter(source, 1000, "frames", 10, set, first));
	CHECK_OK(doca_telemetry_exporter_metrics_add_counter_increment(source, 2000, "frames", 5, set, first));
	CHECK_OK(doca_telemetry_exporter_metrics_add_counter_increment(source, 2000, "frames", 5, set, second));
	CHECK_OK(doca_telemetry_exporter_metrics_add_gauge(source, 3000, "heat", 21.5, none, NULL));
	CHECK_STATUS(doca_telemetry_exporter_metrics_add_gauge(source, 1, "frames", 1.0, set, first),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_telemetry_exporter_metrics_add_counter(source, 1, "heat", 1, none, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_telemetry_exporter_metrics_add_counter(source, 1, "x", 1, set + 1, first),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_telemetry_exporter_metrics_add_counter(source, 1, "x", 1, set, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_telemetry_exporter_metrics_add_counter(source, 1, "x", 1, set, hole),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_telemetry_exporter_metrics_add_counter(source, 1, NULL, 1, set, first),
		     DOCA_ERROR_INVALID_VALUE);

	scrape(port);
	CHECK(strncmp(rig_text, "HTTP/1.1 200 OK\r\n", 17) == 0);
	CHECK_U64(rig_count("# TYPE frames counter\n"), 1);
	CHECK_U64(rig_count("frames{port=\"p0\",queue=\"1\",site=\"lab\",source_id=\"src\",source_tag=\"tag\"} 15\n"), 1);
	CHECK_U64(rig_count("frames{port=\"p0\",queue=\"2\",site=\"lab\",source_id=\"src\",source_tag=\"tag\"} 5\n"), 1);
	CHECK_U64(rig_count("heat{site=\"lab\",source_id=\"src\",source_tag=\"tag\"} 21.5\n"), 1);

	/* Nothing is in the file before the flush, and nothing new after a second one. */
	CHECK_U64(rig_read(folder, "src-tag-metrics"), 0);
	CHECK_OK(doca_telemetry_exporter_metrics_flush(source));
	CHECK_OK(doca_telemetry_exporter_metrics_flush(source));
	CHECK_U64(rig_read(folder, "src-tag-metrics"), 1);
	CHECK_U64(rig_count("\n"), 1);
	CHECK_U64(rig_count("\"asInt\":\"15\""), 1);
	CHECK_U64(rig_count("\"asDouble\":21.5"), 1);

	/* With an interval it happens by itself. */
	CHECK_OK(doca_telemetry_exporter_metrics_set_flush_interval_ms(source, 10));
	CHECK_OK(doca_telemetry_exporter_metrics_add_gauge(source, 0, "heat", -1.25, none, NULL));
	while (rig_read(folder, "src-tag-metrics"), rig_count("\"asDouble\":-1.25") == 0)
		nanosleep(&nap, NULL);
	CHECK_OK(doca_telemetry_exporter_metrics_set_flush_interval_ms(source, 0));

	CHECK_OK(doca_telemetry_exporter_metrics_add_gauge(source, 0, "heat", 99.5, none, NULL));
	CHECK_OK(doca_telemetry_exporter_metrics_destroy_context(source));
	rig_read(folder, "src-tag-metrics");
	CHECK_U64(rig_count("\"asDouble\":99.5"), 1);
	scrape(port);
	CHECK_U64(rig_count("heat"), 0);
	/* A new context begins anew; one that is left ends with its source. */
	CHECK_OK(doca_telemetry_exporter_metrics_create_context(source));
	CHECK_OK(doca_telemetry_exporter_metrics_add_gauge(source, 0, "last", 1.5, none, NULL));
	CHECK_OK(doca_telemetry_exporter_source_destroy(source));
	rig_read(folder, "src-tag-metrics");
	CHECK_U64(rig_count("\"last\""), 1);
	CHECK_OK(doca_telemetry_exporter_schema_destroy(schema));
	one_after_the_other(port);
	return check_result();
}
