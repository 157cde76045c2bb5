//! The C functions that the bridge calls, found by name in the libraries of the card at run time.
//!
//! One table per library. Every function gets a method of its name. Objects of the libraries are [`Object`]s, which only
//! these functions make; the rules for using them (children before parents, one thread at a time) are the callers' to
//! keep, and `driver.rs`, `maps.rs` and `card.rs` are the only ones.
#![expect(unsafe_code, reason = "loads C libraries and calls them")]

use core::ffi::c_void;
use core::ptr::NonNull;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use std::ffi::OsStr;

/// Something of a library: a device, a map, a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub(crate) struct Object(NonNull<c_void>);

// SAFETY: an address; which thread may use what is behind it is for the users of this module to see to.
unsafe impl Send for Object {}
// SAFETY: as above.
unsafe impl Sync for Object {}

/// Called when a task is through: the task, its number, and the address of where completions are noted.
pub(crate) type Completion = extern "C" fn(Option<Object>, u64, u64);

/// The state of a context that is at rest.
pub(crate) const IDLE: i32 = 0;
/// Of one that takes tasks.
pub(crate) const RUNNING: i32 = 2;

/// Declares a table: the library's name, then its functions, whose signatures are those of the contract.
macro_rules! table {
    ($(#[$doc:meta])* $Table:ident in $library:literal {
        $(fn $name:ident($($arg:ident: $type:ty),*) -> $ret:ty;)*
    }) => {
        $(#[$doc])*
        pub(crate) struct $Table {
            $($name: unsafe extern "C" fn($($type),*) -> $ret,)*
        }

        impl $Table {
            /// The library, as the dynamic linker knows it.
            pub(crate) const LIBRARY: &str = $library;

            /// Loads the library and finds every function.
            ///
            /// # Errors
            /// The linker's words: no such library, or a function it does not have.
            pub(crate) fn load(path: &OsStr) -> Result<$Table, String> {
                // SAFETY: constructors of a library that was installed to be used run.
                let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
                let library = library.map_err(|e| e.to_string())?;
                let table = $Table {
                    $($name: {
                        // SAFETY: the signature is that of the contract for this name.
                        let found = unsafe { library.get(concat!(stringify!($name), "\0").as_bytes()) };
                        *found.map_err(|e| e.to_string())?
                    },)*
                };
                // The functions stay where they are until the process ends.
                core::mem::forget(library);
                Ok(table)
            }

            $(
                #[allow(clippy::too_many_arguments, reason = "signatures are the contract's")]
                pub(crate) fn $name(&self, $($arg: $type),*) -> $ret {
                    // SAFETY: objects come from these functions, out-parameters are references, and the callers keep to
                    // the order and the threads that the contract asks for.
                    unsafe { (self.$name)($($arg),*) }
                }
            )*
        }
    };
}

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
        fn doca_task_free(task: Object) -> ();
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

/// The entries of a list of devices.
pub(crate) fn entries(list: Object, count: u32) -> Vec<Object> {
    // SAFETY: `doca_devinfo_create_list` made a list with as many entries, none of them NULL, which is not destroyed yet.
    unsafe { core::slice::from_raw_parts(list.0.cast::<Object>().as_ptr(), count as usize) }.to_vec()
}

/// Where completions of one context are noted, for the thread that progresses it. It stays in its place.
#[derive(Debug, Default)]
pub(crate) struct Landing(core::cell::RefCell<Vec<u64>>);

impl Landing {
    /// For [`Common::doca_ctx_set_user_data`].
    pub(crate) fn address(&self) -> u64 {
        core::ptr::from_ref(self) as u64
    }

    /// The numbers of the tasks that are through since the last call.
    pub(crate) fn take(&self) -> Vec<u64> {
        self.0.take()
    }

    /// What completions call.
    pub(crate) extern "C" fn note(_: Option<Object>, number: u64, landing: u64) {
        // SAFETY: the address is that of the context's landing, which outlives the context; only the thread that
        // progresses the context, and is inside that call now, touches it.
        let landing = unsafe { &*(landing as *const Landing) };
        landing.0.borrow_mut().push(number);
    }
}
