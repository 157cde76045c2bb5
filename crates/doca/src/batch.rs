//! Task batches: `doca_task_batch_*`.
//!
//! A batch is allocated by an engine as one unit; of the contract only the Ethernet send queue does that, and this build
//! has none yet. So no live batch exists, and every call refuses what it is given as the contract refuses NULL, foreign
//! and dead handles.
#![expect(unsafe_code, reason = "C entry points")]
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_pe.h"
)]

use softdpu_memory::handle::{Head, Object, explain, kind};
use softdpu_room::context::Core;
use std::ffi::c_int;

/// `struct doca_task_batch`.
#[derive(Debug)]
#[repr(C)]
pub struct Batch {
    head: Head,
}

// SAFETY: repr(C), head first.
unsafe impl Object for Batch {
    const KIND: u32 = kind::BATCH;
    const NAME: &'static str = "task batch";
}

fn refuse(batch: *const Batch, call: &str) -> c_int {
    // SAFETY: a handle of this library, or NULL.
    unsafe { explain(batch, call) }.code().number()
}

macro_rules! refusals {
    ($($name:ident($($arg:ident: $ty:ty),*) -> $ret:ty, $with:expr;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(task_batch: *const Batch $(, $arg: $ty)*) -> $ret {
            $(let _ = $arg;)*
            let code = refuse(task_batch, stringify!($name));
            ($with)(code)
        }
    )*};
}

refusals! {
    doca_task_batch_submit() -> c_int, |code| code;
    doca_task_batch_try_submit() -> c_int, |code| code;
    doca_task_batch_free() -> (), |_: c_int| ();
    doca_task_batch_get_status() -> c_int, |code| code;
    doca_task_batch_set_user_data(user_data: u64) -> (), |_: c_int| ();
    doca_task_batch_get_user_data() -> u64, |_: c_int| 0;
    doca_task_batch_get_ctx() -> *const Core, |_: c_int| core::ptr::null();
    doca_task_batch_get_ctx_user_data() -> u64, |_: c_int| 0;
    doca_task_batch_get_tasks_num() -> u16, |_: c_int| 0;
}
