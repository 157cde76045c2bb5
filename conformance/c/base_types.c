/*
 * Shared types and macros: sizes, enumerator values, structure versions, bit fields, what the
 * compile-time side is.
 *
 * clauses: core-base doca_types.h, doca_compat.h, doca_bitfield.h, doca_build_config.h
 * covers: @
 */
#include <arpa/inet.h>

#include <doca_bitfield.h>
#include <doca_build_config.h>
#include <doca_compat.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_pe.h>
#include <doca_types.h>

#include "check.h"

#if defined(DOCA_ARCH_HOST) == defined(DOCA_ARCH_DPU)
#error "exactly one of the two sides"
#endif

/* Integer constant expressions, or these would not compile. */
struct names {
	char iface[DOCA_DEVINFO_IFACE_NAME_SIZE], ibdev[DOCA_DEVINFO_IBDEV_NAME_SIZE];
	char pci[DOCA_DEVINFO_PCI_ADDR_SIZE], bdf[DOCA_DEVINFO_PCI_BDF_SIZE], vuid[DOCA_DEVINFO_VUID_SIZE];
	char rep_pci[DOCA_DEVINFO_REP_PCI_ADDR_SIZE], rep_bdf[DOCA_DEVINFO_REP_PCI_BDF_SIZE];
	char rep_vuid[DOCA_DEVINFO_REP_VUID_SIZE];
	uint8_t mac[DOCA_DEVINFO_MAC_ADDR_SIZE], v4[DOCA_DEVINFO_IPV4_ADDR_SIZE], v6[DOCA_DEVINFO_IPV6_ADDR_SIZE];
};
_Static_assert(sizeof(struct names) == 256 + 64 + 13 + 8 + 128 + 13 + 8 + 128 + 6 + 4 + 16, "size constants");
_Static_assert(sizeof(union doca_data) == 8, "travels like an integer");
_Static_assert(DOCA_GID_BYTE_LENGTH == 16, "length of a GID");

struct versioned {
	DOCA_STRUCT_START;
	int value;
	char text[8];
};

static void bit_fields(void)
{
	uint8_t u8 = 0x01;
	doca_be16_t be16 = 0;
	doca_be32_t be32 = 0;

	CHECK_U64(DOCA_SHIFT(0x0), (uint64_t)(int64_t)-1);
	CHECK_U64(DOCA_SHIFT(0xf0), 4);
	CHECK_U64(DOCA_U8_GENMASK(7, 4), 0xf0);
	CHECK_U64(DOCA_BE16_GENMASK(11, 4), htons(0x0ff0));
	CHECK_U64(DOCA_BE32_GENMASK(31, 31), htonl(0x80000000u));
	CHECK_U64(DOCA_BE32_GENMASK(31, 0), 0xffffffffu);
	CHECK_U64(DOCA_U8_SET(0xf0, 5), 0x50);
	CHECK_U64(DOCA_BE16_SET(htons(0x0ff0), 0x12), htons(0x0120));
	CHECK_U64(DOCA_BE32_SET(htonl(0x00ffff00u), 0x1234), htonl(0x00123400u));
	CHECK_U64(DOCA_U8_GET(0xf0, 0x5a), 5);
	CHECK_U64(DOCA_BE16_GET(htons(0x0ff0), htons(0x3456)), 0x45);
	CHECK_U64(DOCA_BE32_GET(htonl(0x00ffff00u), htonl(0x12345678u)), 0x3456);
	DOCA_U8P_SET(0xf0, 7, &u8);
	CHECK_U64(u8, 0x71);
	DOCA_BE16P_SET(htons(0xff00), 0xab, &be16);
	DOCA_BE16P_SET(htons(0x00ff), 0xcd, &be16);
	CHECK_U64(be16, htons(0xabcd));
	DOCA_BE32P_SET(htonl(0xff), 9, &be32);
	CHECK_U64(be32, htonl(9));
	DOCA_U8P_GENMASK(3, 1, &u8);
	CHECK_U64(u8, 0x0e);
	DOCA_BE16P_GENMASK(15, 8, &be16);
	CHECK_U64(be16, htons(0xff00));
	DOCA_BE32P_GENMASK(7, 0, &be32);
	CHECK_U64(be32, htonl(0xff));
	CHECK_U64(DOCA_HTOBE16(0x1234), htons(0x1234));
	CHECK_U64(DOCA_HTOBE32(0x12345678u), htonl(0x12345678u));
	CHECK_U64(DOCA_BETOH16(htons(0x1234)), 0x1234);
	CHECK_U64(DOCA_BETOH32(htonl(0x12345678u)), 0x12345678u);
}

static void structure_versions(void)
{
	DOCA_STRUCT_DEF(versioned, defined);
	struct versioned a, *heap = malloc(sizeof(*heap)), listed = {DOCA_STRUCT_CTOR_LIST_START, .value = 3};

	MUST_BE(heap != NULL);
	memset(&a, 0xff, sizeof(a));
	DOCA_STRUCT_MEMSET_CTOR(a);
	CHECK_U64(a.value, 0);
	CHECK_U64(DOCA_STRUCT_GET_VERSION(&a), DOCA_STRUCT_GET_VERSION(&defined));
	CHECK(DOCA_STRUCT_GET_VERSION(&a) != 0);
	memset(heap, 0xff, sizeof(*heap));
	DOCA_STRUCT_PTR_MEMSET_CTOR(heap);
	CHECK_U64(heap->text[7], 0);
	heap->value = 5;
	heap->__doca_api_version = 0;
	DOCA_STRUCT_PTR_CTOR(heap);
	CHECK_U64(heap->value, 5);
	CHECK_U64(heap->__doca_api_version, a.__doca_api_version);
	a.__doca_api_version = 0;
	DOCA_STRUCT_CTOR(a);
	CHECK_U64(a.__doca_api_version, listed.__doca_api_version);
	CHECK_U64(listed.value, 3);
	free(heap);
}

int main(void)
{
	union doca_data zero = {0}, pointer = {.ptr = &zero}, number = {.u64 = 7};

	CHECK(zero.ptr == NULL && pointer.ptr == &zero && number.u64 == 7);
	CHECK_U64(DOCA_ACCESS_FLAG_LOCAL_READ_ONLY, 0);
	CHECK_U64(DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE |
			  DOCA_ACCESS_FLAG_RDMA_ATOMIC | DOCA_ACCESS_FLAG_PCI_READ_ONLY |
			  DOCA_ACCESS_FLAG_PCI_READ_WRITE | DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING,
		  0x7f);
	CHECK_U64(DOCA_ACCESS_FLAG_RDMA_ATOMIC, 8);
	CHECK_U64(DOCA_ACCESS_FLAG_PCI_READ_WRITE, 0x20);
	CHECK(DOCA_PCI_FUNC_TYPE_PF == 0 && DOCA_PCI_FUNC_TYPE_VF == 1 && DOCA_PCI_FUNC_TYPE_SF == 2);
	CHECK(DOCA_MTU_SIZE_256_BYTES == 0 && DOCA_MTU_SIZE_RAW_ETHERNET == 5);
	CHECK(DOCA_ETH_WAIT_ON_TIME_TYPE_DPDK == 2);
	CHECK(DOCA_CTX_STATE_IDLE == 0 && DOCA_CTX_STATE_RUNNING == 2 && DOCA_CTX_STATE_STOPPING == 3);
	CHECK(DOCA_TASK_SUBMIT_FLAG_FLUSH == 1 && DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS == 2);
	CHECK(DOCA_TASK_BATCH_MAX_TASKS_NUMBER_128 == 3 && DOCA_EVENT_BATCH_EVENTS_NUMBER_128 == 7);
	CHECK(DOCA_DEVINFO_REP_FILTER_ALL == 0 && DOCA_DEVINFO_REP_FILTER_NET == 2 &&
	      DOCA_DEVINFO_REP_FILTER_EMULATED == 4);
	CHECK_U64((uint64_t)(int64_t)doca_event_invalid_handle, (uint64_t)(int64_t)-1);
	CHECK(DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE == 0 && DOCA_PE_EVENT_MODE_PROGRESS_ALL == 1);
	bit_fields();
	structure_versions();
	return check_result();
}
