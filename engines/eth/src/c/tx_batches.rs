//! How batches of sends are taken and filled.
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_eth_txq_cpu_data_path.h"
)]

use super::tx_setup::queue;
use super::{asked, null, put, refuse, tx_start};
use crate::batch::{Batch, BatchKind};
use crate::lent::Gather;
use core::ptr::from_ref;
use softdpu_memory::handle::checked;
use softdpu_memory::node::Node;
use softdpu_room::context::Core;
use softdpu_room::entry::number;
use softdpu_status::{Code, Result};

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_txq_task_batch_send_allocate(
    eth_txq: *const Core,
    tasks_num: u16,
    task_batch_user_data: u64,
    pkt_array: *mut *mut *const Node,
    task_user_data_array: *mut *mut u64,
    task_batch: *mut *const Batch,
) -> i32 {
    const CALL: &str = "doca_eth_txq_task_batch_send_allocate";
    // SAFETY: a handle and out parameters, or NULL.
    let made = || unsafe {
        let (core, part, _) = queue(eth_txq, CALL)?;
        if pkt_array.is_null() || task_user_data_array.is_null() || task_batch.is_null() {
            return null(CALL, "an out parameter");
        }
        let batch = tx_start::take(core, part, BatchKind::Send, tasks_num, task_batch_user_data, CALL)?;
        pkt_array.write(batch.packets.as_ptr().cast_mut().cast());
        task_user_data_array.write(batch.users.as_ptr().cast_mut().cast());
        task_batch.write(batch);
        Ok(())
    };
    number(made())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_txq_task_batch_lso_send_allocate(
    eth_txq: *const Core,
    tasks_num: u16,
    task_batch_user_data: u64,
    pkt_payload_array: *mut *mut *const Node,
    headers_array: *mut *mut *const Gather,
    task_user_data_array: *mut *mut u64,
    task_batch: *mut *const Batch,
) -> i32 {
    const CALL: &str = "doca_eth_txq_task_batch_lso_send_allocate";
    // SAFETY: a handle and out parameters, or NULL.
    let made = || unsafe {
        let (core, part, _) = queue(eth_txq, CALL)?;
        if pkt_payload_array.is_null()
            || headers_array.is_null()
            || task_user_data_array.is_null()
            || task_batch.is_null()
        {
            return null(CALL, "an out parameter");
        }
        let batch = tx_start::take(core, part, BatchKind::Lso, tasks_num, task_batch_user_data, CALL)?;
        pkt_payload_array.write(batch.packets.as_ptr().cast_mut().cast());
        headers_array.write(batch.headers.as_ptr().cast_mut().cast());
        task_user_data_array.write(batch.users.as_ptr().cast_mut().cast());
        task_batch.write(batch);
        Ok(())
    };
    number(made())
}

/// A batch of this kind.
unsafe fn of_kind<'a>(batch: *const Batch, kind: BatchKind, call: &str) -> Result<&'a Batch> {
    // SAFETY: a handle, or NULL.
    let found = unsafe { checked(batch, call)? };
    if found.kind == kind {
        return Ok(found);
    }
    let line = format_args!("{call}: batch {batch:p} holds {:?} tasks", found.kind);
    refuse(Code::InvalidValue, "a batch of another kind", line)
}

macro_rules! arrays {
    ($($kind:ident: $name:ident($out:ident: $type:ty) $field:ident $($what:literal)?;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(task_batch: *const Batch, $out: *mut *mut $type) -> i32 {
            const CALL: &str = stringify!($name);
            // SAFETY: a handle and an out parameter, or NULL.
            let get = || unsafe {
                let batch = of_kind(task_batch, BatchKind::$kind, CALL)?;
                if $out.is_null() {
                    return null(CALL, stringify!($out));
                }
                $(asked(!batch.$field.is_empty(), CALL, $what)?;)?
                put(CALL, stringify!($out), $out, from_ref::<[_]>(&*batch.$field).cast_mut().cast())
            };
            number(get())
        }
    )*};
}

arrays! {
    Send: doca_eth_txq_task_batch_send_get_metadata_array(metadata_array: u32) metadata "metadata";
    Lso: doca_eth_txq_task_batch_lso_send_get_metadata_array(metadata_array: u32) metadata "metadata";
    Send: doca_eth_txq_task_batch_send_get_ol_flags_array(ol_flags_array: u16) flags;
    Lso: doca_eth_txq_task_batch_lso_send_get_ol_flags_array(ol_flags_array: u16) flags;
    Lso: doca_eth_txq_task_batch_lso_send_get_mss_array(mss_array: u16) mss;
}
