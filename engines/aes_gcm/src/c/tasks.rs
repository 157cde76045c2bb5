//! The entry points that both task types have: the same twice.
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_aes_gcm.h"
)]

use super::*;

macro_rules! task_type {
    ($direction:ident: $set_conf:ident, $alloc_init:ident, $as_task:ident, $key_type:ident,
     iv $get_iv:ident, $set_iv:ident) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $key_type(devinfo: *const DeviceRecord, key_type: u32) -> i32 {
            const CALL: &str = stringify!($key_type);
            guard(|| {
                // SAFETY: a handle, or NULL.
                let record = unsafe { checked(devinfo, CALL)? };
                let bits = key_bits(key_type, CALL)?;
                let caps = Caps::of(record.function())?;
                supported(caps.goes(Direction::$direction) && caps.takes_key(bits))
            })
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $set_conf(
            aes_gcm: *const Core,
            task_completion_cb: Option<Completion>,
            task_error_cb: Option<Completion>,
            num_tasks: u32,
        ) -> i32 {
            let calls = [task_completion_cb, task_error_cb];
            // SAFETY: a handle, or NULL.
            guard(|| unsafe {
                set_conf(aes_gcm, Direction::$direction, calls, num_tasks, stringify!($set_conf))
            })
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $alloc_init(
            aes_gcm: *const Core,
            src_buff: *const Node,
            dst_buff: *const Node,
            key: *const KeyObject,
            iv: *const u8,
            iv_length: u32,
            tag_size: u32,
            aad_size: u32,
            user_data: u64,
            task: *mut *const Slot,
        ) -> i32 {
            let given = Given {
                src: src_buff,
                dst: dst_buff,
                key,
                iv,
                iv_len: iv_length,
                tag_len: tag_size,
                aad_len: aad_size,
            };
            // SAFETY: handles and an out parameter, or NULL.
            number(unsafe {
                alloc_init(aes_gcm, Direction::$direction, &given, user_data, task, stringify!($alloc_init))
            })
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $as_task(task: *const Slot) -> *const Slot {
            task
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $set_iv(task: *const Slot, iv: *const u8, iv_length: u32) {
            // SAFETY: the program owns the task while it is not in flight; its vector is as long as it says.
            unsafe {
                if let Some(job) = job(task, stringify!($set_iv), false) {
                    (*job).parts.iv = copy_iv(iv, iv_length);
                    (*job).iv_at = iv as usize;
                }
            }
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $get_iv(task: *const Slot, iv_length: *mut u32) -> *const u8 {
            // SAFETY: a handle, or NULL; the slot holds a job since it was allocated.
            unsafe {
                let Some(job) = job(task, stringify!($get_iv), true) else { return null() };
                if !iv_length.is_null() {
                    iv_length.write((*job).parts.iv.said());
                }
                (*job).iv_at as *const u8
            }
        }
    };
}

task_type! {
    Encrypt: doca_aes_gcm_task_encrypt_set_conf, doca_aes_gcm_task_encrypt_alloc_init, doca_aes_gcm_task_encrypt_as_task, doca_aes_gcm_cap_task_encrypt_is_key_type_supported,
    iv doca_aes_gcm_task_encrypt_get_iv, doca_aes_gcm_task_encrypt_set_iv
}

ability! {
    doca_aes_gcm_cap_task_encrypt_is_supported = |caps| caps.encrypt;
    doca_aes_gcm_cap_task_encrypt_is_tag_96_supported = |caps| caps.encrypt && caps.tag_96;
    doca_aes_gcm_cap_task_encrypt_is_tag_128_supported = |caps| caps.encrypt && caps.tag_128;
}

capability! {
    doca_aes_gcm_cap_task_encrypt_get_max_iv_len(max_iv_len: u32) = |caps| caps.encrypt.then_some(caps.max_iv_len);
    doca_aes_gcm_cap_task_encrypt_get_max_buf_size(max_buffer_size: u64) = |caps| caps.encrypt.then_some(caps.max_buf_size);
    doca_aes_gcm_cap_task_encrypt_get_max_list_buf_num_elem(max_list_num_elem: u32) = |caps| caps.encrypt.then_some(caps.max_buf_list_len);
}

field! {
    doca_aes_gcm_task_encrypt_get_src, doca_aes_gcm_task_encrypt_set_src: *const Node, null(),
        |job| (*job).parts.src.handle(), |src| (*job).parts.src = Lent::from_handle(src);
    doca_aes_gcm_task_encrypt_get_dst, doca_aes_gcm_task_encrypt_set_dst: *const Node, null(),
        |job| (*job).parts.dst.handle(), |dst| (*job).parts.dst = Lent::from_handle(dst);
    doca_aes_gcm_task_encrypt_get_key, doca_aes_gcm_task_encrypt_set_key: *const KeyObject, null(),
        |job| (*job).parts.key.handle(), |key| (*job).parts.key = LentKey::from_handle(key);
    doca_aes_gcm_task_encrypt_get_tag_size, doca_aes_gcm_task_encrypt_set_tag_size: u32, 0,
        |job| (*job).parts.tag_len, |len| (*job).parts.tag_len = len;
    doca_aes_gcm_task_encrypt_get_aad_size, doca_aes_gcm_task_encrypt_set_aad_size: u32, 0,
        |job| (*job).parts.aad_len, |len| (*job).parts.aad_len = len;
}

task_type! {
    Decrypt: doca_aes_gcm_task_decrypt_set_conf, doca_aes_gcm_task_decrypt_alloc_init, doca_aes_gcm_task_decrypt_as_task, doca_aes_gcm_cap_task_decrypt_is_key_type_supported,
    iv doca_aes_gcm_task_decrypt_get_iv, doca_aes_gcm_task_decrypt_set_iv
}

ability! {
    doca_aes_gcm_cap_task_decrypt_is_supported = |caps| caps.decrypt;
    doca_aes_gcm_cap_task_decrypt_is_tag_96_supported = |caps| caps.decrypt && caps.tag_96;
    doca_aes_gcm_cap_task_decrypt_is_tag_128_supported = |caps| caps.decrypt && caps.tag_128;
}

capability! {
    doca_aes_gcm_cap_task_decrypt_get_max_iv_len(max_iv_len: u32) = |caps| caps.decrypt.then_some(caps.max_iv_len);
    doca_aes_gcm_cap_task_decrypt_get_max_buf_size(max_buffer_size: u64) = |caps| caps.decrypt.then_some(caps.max_buf_size);
    doca_aes_gcm_cap_task_decrypt_get_max_list_buf_num_elem(max_list_num_elem: u32) = |caps| caps.decrypt.then_some(caps.max_buf_list_len);
}

field! {
    doca_aes_gcm_task_decrypt_get_src, doca_aes_gcm_task_decrypt_set_src: *const Node, null(),
        |job| (*job).parts.src.handle(), |src| (*job).parts.src = Lent::from_handle(src);
    doca_aes_gcm_task_decrypt_get_dst, doca_aes_gcm_task_decrypt_set_dst: *const Node, null(),
        |job| (*job).parts.dst.handle(), |dst| (*job).parts.dst = Lent::from_handle(dst);
    doca_aes_gcm_task_decrypt_get_key, doca_aes_gcm_task_decrypt_set_key: *const KeyObject, null(),
        |job| (*job).parts.key.handle(), |key| (*job).parts.key = LentKey::from_handle(key);
    doca_aes_gcm_task_decrypt_get_tag_size, doca_aes_gcm_task_decrypt_set_tag_size: u32, 0,
        |job| (*job).parts.tag_len, |len| (*job).parts.tag_len = len;
    doca_aes_gcm_task_decrypt_get_aad_size, doca_aes_gcm_task_decrypt_set_aad_size: u32, 0,
        |job| (*job).parts.aad_len, |len| (*job).parts.aad_len = len;
}
