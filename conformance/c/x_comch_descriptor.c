/*
 * The copying application: the host sends its map's descriptor, address and length as a control message,
 * message size and queue left at their defaults; the card imports it, copies the file's bytes over, and
 * answers with a status; the host waits for that on the channel and nowhere else.
 *
 * clauses: core-memory Export / import (descriptor over the control channel); comch Numbers (defaults)
 * covers: @
 */
#define _GNU_SOURCE
#include "x_comch.h"
#include "x_share.h"

#define BYTES 777777

struct offer {
	uint32_t type;
	uint32_t desc_len;
	uint64_t addr;
	uint64_t len;
	uint8_t desc[512];
};

static void card(int line)
{
	struct comch_end end = {0};
	struct doca_mmap *remote;
	struct doca_pe *pe = NULL;
	struct letter letter;
	struct offer offer;
	uint32_t status;
	struct rig rig;

	MUST(doca_pe_create(&pe));
	comch_make_server(&end, pe, "dma copy", 16);
	comch_run(&end);
	two_tell(line, 'l');
	COMCH_UNTIL(pe, end.messages == 1);
	MUST_BE(end.last_len <= sizeof(offer) && end.last_len > offsetof(struct offer, desc));
	memcpy(&offer, end.last, end.last_len);
	MUST_BE(offer.type == 7 && end.last_len == offsetof(struct offer, desc) + offer.desc_len);
	letter.addr = offer.addr;
	letter.len = offer.len;
	letter.desc_len = offer.desc_len;
	memcpy(letter.desc, offer.desc, offer.desc_len);
	share_card(&rig, BYTES, 1);
	remote = share_import(&letter, rig.dev);
	CHECK_STATUS(share_read(&rig, remote, share_at(&letter, 0), 0, BYTES), DOCA_SUCCESS);
	status = two_is(rig.mem, BYTES, 8) ? 1 : 2;
	/* Nothing of the host's is touched after the answer. */
	CHECK_OK(doca_mmap_destroy(remote));
	comch_send(&end, end.peer, &status, sizeof(status));
	COMCH_UNTIL(pe, end.disconnects == 1);
	rig_teardown(&rig);
	comch_stop(&end);
	comch_destroy(&end);
	CHECK_OK(doca_pe_destroy(pe));
	close(line);
}

int main(void)
{
	struct comch_end end = {0};
	struct doca_pe *pe = NULL;
	struct doca_mmap *map;
	struct letter letter;
	struct offer offer;
	uint32_t status = 0;
	uint8_t *mem;
	int line;
	pid_t pid = two_fork(&line);

	if (pid == 0) {
		card(line);
		exit(check_result());
	}
	two_await(line, 'l');
	MUST(doca_pe_create(&pe));
	comch_make_client(&end, pe, "dma copy", 16);
	comch_run(&end);
	mem = malloc(BYTES);
	MUST_BE(mem != NULL);
	two_fill(mem, BYTES, 8);
	map = rig_map(end.dev, mem, BYTES, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	share_export(map, end.dev, &letter);
	memset(&offer, 0, sizeof(offer));
	offer.type = 7;
	offer.addr = letter.addr;
	offer.len = letter.len;
	offer.desc_len = (uint32_t)letter.desc_len;
	memcpy(offer.desc, letter.desc, letter.desc_len);
	comch_send(&end, end.peer, &offer, (uint32_t)(offsetof(struct offer, desc) + offer.desc_len));
	COMCH_UNTIL(pe, end.messages == 1);
	memcpy(&status, end.last, sizeof(status));
	CHECK_U64(status, 1);
	CHECK_OK(doca_mmap_destroy(map));
	free(mem);
	comch_stop(&end);
	comch_destroy(&end);
	CHECK_OK(doca_pe_destroy(pe));
	two_reap(pid);
	close(line);
	return check_result();
}
