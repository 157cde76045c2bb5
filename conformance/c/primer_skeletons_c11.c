/*
 * The textbook's skeletons, compiled as C11.
 *
 * clauses: primer First chapter, Second chapter
 * std: c11
 * covers: softdpu_primer_init softdpu_primer_ctx_new softdpu_primer_ctx_create
 *   softdpu_primer_ctx_set_log_level softdpu_primer_ctx_destroy softdpu_primer_devinfo_get_first
 *   softdpu_primer_dev_open softdpu_primer_dev_close softdpu_primer_mem_reg softdpu_primer_mem_unreg
 *   softdpu_primer_buf_create softdpu_primer_buf_destroy softdpu_primer_task_submit
 *   softdpu_primer_devinfo_list_create softdpu_primer_devinfo_list_get_devinfo
 *   softdpu_primer_devinfo_list_destroy softdpu_primer_mmap_hugepage softdpu_primer_mmap_start
 *   softdpu_primer_rdma_create_event_channel softdpu_primer_pe_connect_event_channel
 *   softdpu_primer_rdma_task_write softdpu_primer_event_channel_destroy
 */
#include "primer_skeletons.h"

int main(void)
{
	return all_skeletons();
}
