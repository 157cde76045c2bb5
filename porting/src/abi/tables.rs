//! The tables: one per library, each function with the signature of the contract.

use super::{Changed, Completion, Object, Received, table};

table! {
    /// What all engines share.
    Common in "libdoca_common.so.2" {
        fn doca_devinfo_create_list(list: &mut Option<Object>, count: &mut u32) -> i32;
        fn doca_devinfo_destroy_list(list: Object) -> i32;
        fn doca_devinfo_get_pci_addr_str(info: Object, text: &mut [u8; 13]) -> i32;
        fn doca_devinfo_get_iface_name(info: Object, text: &mut [u8; 256], size: u32) -> i32;
        fn doca_devinfo_get_ibdev_name(info: Object, text: &mut [u8; 64], size: u32) -> i32;
        fn doca_dev_open(info: Object, device: &mut Option<Object>) -> i32;
        fn doca_mmap_create(map: &mut Option<Object>) -> i32;
        fn doca_mmap_destroy(map: Object) -> i32;
        fn doca_mmap_add_dev(map: Object, device: Object) -> i32;
        fn doca_mmap_set_memrange(map: Object, addr: usize, len: usize) -> i32;
        fn doca_mmap_set_permissions(map: Object, access: u32) -> i32;
        fn doca_mmap_start(map: Object) -> i32;
        fn doca_mmap_export_pci(map: Object, device: Object, bytes: &mut *const u8, len: &mut usize) -> i32;
        fn doca_mmap_create_from_export(
            user_data: Option<Object>, bytes: *const u8, len: usize, device: Object, map: &mut Option<Object>
        ) -> i32;
        fn doca_mmap_get_memrange(map: Object, addr: &mut usize, len: &mut usize) -> i32;
        fn doca_buf_inventory_create(elements: usize, inventory: &mut Option<Object>) -> i32;
        fn doca_buf_inventory_start(inventory: Object) -> i32;
        fn doca_buf_inventory_expand(inventory: Object, elements: u32) -> i32;
        fn doca_buf_inventory_destroy(inventory: Object) -> i32;
        fn doca_buf_inventory_buf_get_by_args(
            inventory: Object, map: Object, addr: usize, len: usize, data: usize, data_len: usize,
            buf: &mut Option<Object>
        ) -> i32;
        fn doca_buf_chain_list(list: Object, tail: Object) -> i32;
        fn doca_buf_get_data_len(buf: Object, len: &mut usize) -> i32;
        fn doca_buf_get_next_in_list(buf: Object, next: &mut Option<Object>) -> i32;
        fn doca_buf_dec_refcount(buf: Object, count: &mut u16) -> i32;
        fn doca_pe_create(engine: &mut Option<Object>) -> i32;
        fn doca_pe_destroy(engine: Object) -> i32;
        fn doca_pe_connect_ctx(engine: Object, context: Object) -> i32;
        fn doca_pe_progress(engine: Object) -> u8;
        fn doca_ctx_set_user_data(context: Object, data: u64) -> i32;
        fn doca_ctx_start(context: Object) -> i32;
        fn doca_ctx_stop(context: Object) -> i32;
        fn doca_ctx_get_state(context: Object, state: &mut i32) -> i32;
        fn doca_task_submit(task: Object) -> i32;
        fn doca_task_get_status(task: Object) -> i32;
        fn doca_task_set_user_data(task: Object, number: u64) -> ();
        fn doca_task_free(task: Object) -> ();
    }
}

table! {
    /// Sync events.
    Events in "libdoca_common.so.2" {
        fn doca_sync_event_cap_is_export_to_remote_pci_supported(info: Object) -> i32;
        fn doca_sync_event_cap_is_create_from_export_supported(info: Object) -> i32;
        fn doca_sync_event_cap_task_get_is_supported(info: Object) -> i32;
        fn doca_sync_event_create(event: &mut Option<Object>) -> i32;
        fn doca_sync_event_create_from_export(
            device: Object, bytes: *const u8, len: usize, event: &mut Option<Object>
        ) -> i32;
        fn doca_sync_event_destroy(event: Object) -> i32;
        fn doca_sync_event_add_publisher_location_cpu(event: Object, device: Object) -> i32;
        fn doca_sync_event_add_publisher_location_remote_pci(event: Object) -> i32;
        fn doca_sync_event_add_subscriber_location_cpu(event: Object, device: Object) -> i32;
        fn doca_sync_event_start(event: Object) -> i32;
        fn doca_sync_event_stop(event: Object) -> i32;
        fn doca_sync_event_get(event: Object, value: &mut u64) -> i32;
        fn doca_sync_event_update_set(event: Object, value: u64) -> i32;
        fn doca_sync_event_update_add(event: Object, value: u64, before: &mut u64) -> i32;
        fn doca_sync_event_export_to_remote_pci(
            event: Object, device: Object, bytes: &mut *const u8, len: &mut usize
        ) -> i32;
    }
}

table! {
    /// Messages between host and card, and the representors that servers need.
    Comch in "libdoca_comch.so.2" {
        fn doca_comch_cap_server_is_supported(info: Object) -> i32;
        fn doca_comch_cap_client_is_supported(info: Object) -> i32;
        fn doca_comch_cap_get_max_name_len(info: Object, bytes: &mut u32) -> i32;
        fn doca_comch_cap_get_max_msg_size(info: Object, bytes: &mut u32) -> i32;
        fn doca_comch_cap_get_max_recv_queue_size(info: Object, messages: &mut u32) -> i32;
        fn doca_comch_cap_get_max_clients(info: Object, clients: &mut u32) -> i32;
        fn doca_comch_cap_get_max_send_tasks(info: Object, tasks: &mut u32) -> i32;

        fn doca_comch_server_create(
            device: Object, representor: Object, name: *const u8, server: &mut Option<Object>
        ) -> i32;
        fn doca_comch_server_destroy(server: Object) -> i32;
        fn doca_comch_server_as_ctx(server: Object) -> Option<Object>;
        fn doca_comch_server_set_max_msg_size(server: Object, bytes: u32) -> i32;
        fn doca_comch_server_set_recv_queue_size(server: Object, messages: u32) -> i32;
        fn doca_comch_server_task_send_set_conf(
            server: Object, done: Completion, failed: Completion, tasks: u32
        ) -> i32;
        fn doca_comch_server_task_send_alloc_init(
            server: Object, peer: Object, bytes: *const u8, len: u32, task: &mut Option<Object>
        ) -> i32;
        fn doca_comch_server_event_msg_recv_register(server: Object, received: Received) -> i32;
        fn doca_comch_server_event_connection_status_changed_register(
            server: Object, connected: Changed, disconnected: Changed
        ) -> i32;
        fn doca_comch_server_disconnect(server: Object, connection: Object) -> i32;

        fn doca_comch_client_create(device: Object, name: *const u8, client: &mut Option<Object>) -> i32;
        fn doca_comch_client_destroy(client: Object) -> i32;
        fn doca_comch_client_as_ctx(client: Object) -> Option<Object>;
        fn doca_comch_client_set_max_msg_size(client: Object, bytes: u32) -> i32;
        fn doca_comch_client_set_recv_queue_size(client: Object, messages: u32) -> i32;
        fn doca_comch_client_task_send_set_conf(
            client: Object, done: Completion, failed: Completion, tasks: u32
        ) -> i32;
        fn doca_comch_client_task_send_alloc_init(
            client: Object, peer: Object, bytes: *const u8, len: u32, task: &mut Option<Object>
        ) -> i32;
        fn doca_comch_client_event_msg_recv_register(client: Object, received: Received) -> i32;
        fn doca_comch_client_get_connection(client: Object, connection: &mut Option<Object>) -> i32;

        fn doca_comch_task_send_as_task(task: Object) -> Option<Object>;
    }
}

table! {
    /// Functions on the other side of the link, as the card shows them.
    Representors in "libdoca_common.so.2" {
        fn doca_devinfo_rep_create_list(
            device: Object, filter: i32, list: &mut Option<Object>, count: &mut u32
        ) -> i32;
        fn doca_devinfo_rep_destroy_list(list: Object) -> i32;
        fn doca_devinfo_rep_get_pci_addr_str(info: Object, text: &mut [u8; 13]) -> i32;
        fn doca_dev_rep_open(info: Object, representor: &mut Option<Object>) -> i32;
        fn doca_dev_rep_close(representor: Object) -> i32;
    }
}

table! {
    /// Copies.
    Dma in "libdoca_dma.so.2" {
        fn doca_dma_cap_task_memcpy_is_supported(info: Object) -> i32;
        fn doca_dma_cap_task_memcpy_get_max_buf_size(info: Object, bytes: &mut u64) -> i32;
        fn doca_dma_cap_task_memcpy_get_max_buf_list_len(info: Object, elements: &mut u32) -> i32;
        fn doca_dma_create(device: Object, dma: &mut Option<Object>) -> i32;
        fn doca_dma_destroy(dma: Object) -> i32;
        fn doca_dma_as_ctx(dma: Object) -> Option<Object>;
        fn doca_dma_task_memcpy_set_conf(dma: Object, done: Completion, failed: Completion, tasks: u32) -> i32;
        fn doca_dma_task_memcpy_alloc_init(
            dma: Object, src: Object, dst: Object, number: u64, task: &mut Option<Object>
        ) -> i32;
        fn doca_dma_task_memcpy_as_task(task: Object) -> Option<Object>;
    }
}

table! {
    /// Hashes.
    Sha in "libdoca_sha.so.2" {
        fn doca_sha_cap_task_hash_get_supported(info: Object, algorithm: i32) -> i32;
        fn doca_sha_cap_get_max_src_buf_size(info: Object, bytes: &mut u64) -> i32;
        fn doca_sha_cap_get_max_list_buf_num_elem(info: Object, elements: &mut u32) -> i32;
        fn doca_sha_create(device: Object, sha: &mut Option<Object>) -> i32;
        fn doca_sha_destroy(sha: Object) -> i32;
        fn doca_sha_as_ctx(sha: Object) -> Option<Object>;
        fn doca_sha_task_hash_set_conf(sha: Object, done: Completion, failed: Completion, log_tasks: u8) -> i32;
        fn doca_sha_task_hash_alloc_init(
            sha: Object, algorithm: i32, src: Object, dst: Object, number: u64, task: &mut Option<Object>
        ) -> i32;
        fn doca_sha_task_hash_as_task(task: Object) -> Option<Object>;

        fn doca_sha_cap_task_partial_hash_get_supported(info: Object, algorithm: i32) -> i32;
        fn doca_sha_cap_get_max_num_tasks(sha: Object, tasks: &mut u32) -> i32;
        fn doca_sha_task_partial_hash_set_conf(
            sha: Object, done: Completion, failed: Completion, log_tasks: u8
        ) -> i32;
        fn doca_sha_task_partial_hash_alloc_init(
            sha: Object, algorithm: i32, src: Object, dst: Object, number: u64, task: &mut Option<Object>
        ) -> i32;
        fn doca_sha_task_partial_hash_as_task(task: Object) -> Option<Object>;
        fn doca_sha_task_partial_hash_set_src(task: Object, src: Object) -> i32;
        fn doca_sha_task_partial_hash_set_is_final_buf(task: Object) -> i32;
    }
}

table! {
    /// Compression.
    Compress in "libdoca_compress.so.2" {
        fn doca_compress_create(device: Object, compress: &mut Option<Object>) -> i32;
        fn doca_compress_destroy(compress: Object) -> i32;
        fn doca_compress_as_ctx(compress: Object) -> Option<Object>;

        fn doca_compress_cap_task_compress_deflate_is_supported(info: Object) -> i32;
        fn doca_compress_cap_task_compress_deflate_get_max_buf_size(info: Object, bytes: &mut u64) -> i32;
        fn doca_compress_cap_task_compress_deflate_get_max_buf_list_len(info: Object, elements: &mut u32) -> i32;
        fn doca_compress_task_compress_deflate_set_conf(
            compress: Object, done: Completion, failed: Completion, tasks: u32
        ) -> i32;
        fn doca_compress_task_compress_deflate_alloc_init(
            compress: Object, src: Object, dst: Object, number: u64, task: &mut Option<Object>
        ) -> i32;
        fn doca_compress_task_compress_deflate_as_task(task: Object) -> Option<Object>;
        fn doca_compress_task_compress_deflate_get_crc_cs(task: Object) -> u32;
        fn doca_compress_task_compress_deflate_get_adler_cs(task: Object) -> u32;

        fn doca_compress_cap_task_decompress_deflate_is_supported(info: Object) -> i32;
        fn doca_compress_cap_task_decompress_deflate_get_max_buf_size(info: Object, bytes: &mut u64) -> i32;
        fn doca_compress_cap_task_decompress_deflate_get_max_buf_list_len(
            info: Object, elements: &mut u32
        ) -> i32;
        fn doca_compress_task_decompress_deflate_set_conf(
            compress: Object, done: Completion, failed: Completion, tasks: u32
        ) -> i32;
        fn doca_compress_task_decompress_deflate_alloc_init(
            compress: Object, src: Object, dst: Object, number: u64, task: &mut Option<Object>
        ) -> i32;
        fn doca_compress_task_decompress_deflate_as_task(task: Object) -> Option<Object>;
        fn doca_compress_task_decompress_deflate_get_crc_cs(task: Object) -> u32;
        fn doca_compress_task_decompress_deflate_get_adler_cs(task: Object) -> u32;

        fn doca_compress_cap_task_decompress_lz4_stream_is_supported(info: Object) -> i32;
        fn doca_compress_task_decompress_lz4_stream_set_conf(
            compress: Object, done: Completion, failed: Completion, tasks: u32
        ) -> i32;
        fn doca_compress_task_decompress_lz4_stream_alloc_init(
            compress: Object, has_block_checksum: u8, are_blocks_independent: u8, src: Object, dst: Object,
            number: u64, task: &mut Option<Object>
        ) -> i32;
        fn doca_compress_task_decompress_lz4_stream_as_task(task: Object) -> Option<Object>;
        fn doca_compress_task_decompress_lz4_stream_get_crc_cs(task: Object) -> u32;
        fn doca_compress_task_decompress_lz4_stream_get_xxh_cs(task: Object) -> u32;

        fn doca_compress_cap_task_decompress_lz4_block_is_supported(info: Object) -> i32;
        fn doca_compress_task_decompress_lz4_block_set_conf(
            compress: Object, done: Completion, failed: Completion, tasks: u32
        ) -> i32;
        fn doca_compress_task_decompress_lz4_block_alloc_init(
            compress: Object, src: Object, dst: Object, number: u64, task: &mut Option<Object>
        ) -> i32;
        fn doca_compress_task_decompress_lz4_block_as_task(task: Object) -> Option<Object>;
        fn doca_compress_task_decompress_lz4_block_get_crc_cs(task: Object) -> u32;
        fn doca_compress_task_decompress_lz4_block_get_xxh_cs(task: Object) -> u32;
    }
}

table! {
    /// Erasure coding.
    Ec in "libdoca_erasure_coding.so.2" {
        fn doca_ec_cap_task_galois_mul_is_supported(info: Object) -> i32;
        fn doca_ec_cap_get_max_block_size(info: Object, bytes: &mut u64) -> i32;
        fn doca_ec_cap_get_max_buf_list_len(info: Object, elements: &mut u32) -> i32;
        fn doca_ec_create(device: Object, ec: &mut Option<Object>) -> i32;
        fn doca_ec_destroy(ec: Object) -> i32;
        fn doca_ec_as_ctx(ec: Object) -> Option<Object>;
        fn doca_ec_matrix_create_from_raw(
            ec: Object, coefficients: *mut u8, data: usize, rdnc: usize, matrix: &mut Option<Object>
        ) -> i32;
        fn doca_ec_matrix_destroy(matrix: Object) -> i32;
        fn doca_ec_task_galois_mul_set_conf(ec: Object, done: Completion, failed: Completion, tasks: u32) -> i32;
        fn doca_ec_task_galois_mul_allocate_init(
            ec: Object, matrix: Object, src: Object, dst: Object, number: u64, task: &mut Option<Object>
        ) -> i32;
        fn doca_ec_task_galois_mul_as_task(task: Object) -> Option<Object>;
    }
}

table! {
    /// Encryption.
    AesGcm in "libdoca_aes_gcm.so.2" {
        fn doca_aes_gcm_create(device: Object, aes_gcm: &mut Option<Object>) -> i32;
        fn doca_aes_gcm_destroy(aes_gcm: Object) -> i32;
        fn doca_aes_gcm_as_ctx(aes_gcm: Object) -> Option<Object>;
        fn doca_aes_gcm_key_create(
            aes_gcm: Object, raw: &[u8; 32], kind: i32, key: &mut Option<Object>
        ) -> i32;
        fn doca_aes_gcm_key_destroy(key: Object) -> i32;

        fn doca_aes_gcm_cap_task_encrypt_is_supported(info: Object) -> i32;
        fn doca_aes_gcm_cap_task_encrypt_get_max_iv_len(info: Object, bytes: &mut u32) -> i32;
        fn doca_aes_gcm_cap_task_encrypt_is_tag_96_supported(info: Object) -> i32;
        fn doca_aes_gcm_cap_task_encrypt_is_tag_128_supported(info: Object) -> i32;
        fn doca_aes_gcm_cap_task_encrypt_is_key_type_supported(info: Object, kind: i32) -> i32;
        fn doca_aes_gcm_cap_task_encrypt_get_max_buf_size(info: Object, bytes: &mut u64) -> i32;
        fn doca_aes_gcm_cap_task_encrypt_get_max_list_buf_num_elem(info: Object, elements: &mut u32) -> i32;
        fn doca_aes_gcm_task_encrypt_set_conf(
            aes_gcm: Object, done: Completion, failed: Completion, tasks: u32
        ) -> i32;
        fn doca_aes_gcm_task_encrypt_alloc_init(
            aes_gcm: Object, src: Object, dst: Object, key: Object, iv: &[u8; 12], iv_len: u32, tag: u32, aad: u32,
            number: u64, task: &mut Option<Object>
        ) -> i32;
        fn doca_aes_gcm_task_encrypt_as_task(task: Object) -> Option<Object>;

        fn doca_aes_gcm_cap_task_decrypt_is_supported(info: Object) -> i32;
        fn doca_aes_gcm_cap_task_decrypt_is_tag_96_supported(info: Object) -> i32;
        fn doca_aes_gcm_cap_task_decrypt_is_tag_128_supported(info: Object) -> i32;
        fn doca_aes_gcm_cap_task_decrypt_is_key_type_supported(info: Object, kind: i32) -> i32;
        fn doca_aes_gcm_task_decrypt_set_conf(
            aes_gcm: Object, done: Completion, failed: Completion, tasks: u32
        ) -> i32;
        fn doca_aes_gcm_task_decrypt_alloc_init(
            aes_gcm: Object, src: Object, dst: Object, key: Object, iv: &[u8; 12], iv_len: u32, tag: u32, aad: u32,
            number: u64, task: &mut Option<Object>
        ) -> i32;
        fn doca_aes_gcm_task_decrypt_as_task(task: Object) -> Option<Object>;
    }
}
