/*
 * A sync event whose descriptor travels over the channel, as the pair of sample programs does it: message
 * size 1024, queue 8; the host owns the event in asynchronous mode, the card imports it in synchronous mode;
 * when both are through, the client leaves and the server sees it.
 *
 * clauses: core-sync-graph Behaviour (samples); comch Client life
 * covers: @
 */
#define _GNU_SOURCE
#include "x_comch.h"
#include "x_sync.h"

static void card(int line)
{
	struct comch_end end = {0};
	struct doca_sync_event *event;
	struct doca_pe *pe = NULL;
	struct sync_blob blob;
	uint64_t before = 0;

	MUST(doca_pe_create(&pe));
	comch_make_server(&end, pe, "sync event", 8);
	MUST(doca_comch_server_set_max_msg_size(end.server, 1024));
	MUST(doca_comch_server_set_recv_queue_size(end.server, 8));
	comch_run(&end);
	two_tell(line, 'l');
	COMCH_UNTIL(pe, end.messages == 1);
	MUST_BE(end.last_len <= 1024);
	blob.len = end.last_len;
	memcpy(blob.bytes, end.last, end.last_len);
	event = sync_import(&blob, end.dev);
	MUST(doca_sync_event_start(event));
	comch_send(&end, end.peer, "ready", 5);
	CHECK_OK(doca_sync_event_wait_eq(event, 1, UINT64_MAX));
	CHECK_OK(doca_sync_event_update_add(event, 1, &before));
	CHECK_U64(before, 1);
	sync_end(event);
	COMCH_UNTIL(pe, end.disconnects == 1);
	comch_stop(&end);
	comch_destroy(&end);
	CHECK_OK(doca_pe_destroy(pe));
	close(line);
}

int main(void)
{
	struct doca_sync_event_task_notify_set *set = NULL;
	struct doca_sync_event_task_wait_eq *wait = NULL;
	struct comch_end end = {0};
	struct doca_pe *pe = NULL;
	union doca_data none = {0};
	struct sync_blob blob;
	struct sync_rig rig;
	int line;
	pid_t pid = two_fork(&line);

	if (pid == 0) {
		card(line);
		exit(check_result());
	}
	two_await(line, 'l');
	MUST(doca_pe_create(&pe));
	comch_make_client(&end, pe, "sync event", 8);
	MUST(doca_comch_client_set_max_msg_size(end.client, 1024));
	MUST(doca_comch_client_set_recv_queue_size(end.client, 8));
	comch_run(&end);
	sync_make(&rig, sync_remote_pci(end.dev), 1);
	MUST(doca_ctx_start(rig.ctx));
	sync_export(rig.event, end.dev, &blob);
	comch_send(&end, end.peer, blob.bytes, (uint32_t)blob.len);
	COMCH_UNTIL(pe, end.messages == 1 && end.sent == 1);
	CHECK_BYTES(end.last, "ready", 5);
	MUST(doca_sync_event_task_notify_set_alloc_init(rig.event, 1, none, &set));
	MUST(doca_sync_event_task_wait_eq_alloc_init(rig.event, 2, UINT64_MAX, none, &wait));
	sync_run(&rig, doca_sync_event_task_notify_set_as_doca_task(set));
	sync_run(&rig, doca_sync_event_task_wait_eq_as_doca_task(wait));
	doca_task_free(doca_sync_event_task_notify_set_as_doca_task(set));
	doca_task_free(doca_sync_event_task_wait_eq_as_doca_task(wait));
	sync_unmake(&rig);
	comch_stop(&end);
	comch_destroy(&end);
	CHECK_OK(doca_pe_destroy(pe));
	two_reap(pid);
	close(line);
	return check_result();
}
