//! What an inventory tells of itself, and the value it keeps for the program.
#![expect(unsafe_code, reason = "C entry points")]

use super::Inventory;
use crate::call::{enter, output};
use softdpu_memory::handle::checked;
use std::ffi::c_int;
use std::sync::atomic::Ordering::Relaxed;

/// Stores a value for the program, in any state. (`union doca_data` travels like a 64-bit integer.)
///
/// # Safety
/// NULL or a handle of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_buf_inventory_set_user_data(
    inventory: *mut Inventory,
    user_data: u64,
) -> c_int {
    enter("doca_buf_inventory_set_user_data", || {
        // SAFETY: the caller's promise.
        unsafe { checked(inventory, "doca_buf_inventory_set_user_data") }?
            .user_data
            .store(user_data, Relaxed);
        Ok(())
    })
}

/// Declares a call that reads one property.
macro_rules! getter {
    ($(#[$doc:meta])* $name:ident: $type:ty = |$this:ident| $value:expr) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// `inventory` is NULL or a handle of this library; `result` is NULL or good for one write.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(inventory: *const Inventory, result: *mut $type) -> c_int {
            enter(stringify!($name), || {
                // SAFETY: the caller's promise.
                let $this = unsafe { checked(inventory, stringify!($name)) }?;
                // SAFETY: the caller's promise.
                unsafe { output(result, stringify!($name)) }?.set($value);
                Ok(())
            })
        }
    };
}

getter! {
    /// The value stored for the program.
    doca_buf_inventory_get_user_data: u64 = |this| this.user_data.load(Relaxed)
}
getter! {
    /// All descriptors, expansions included.
    doca_buf_inventory_get_num_elements: u32 = |this| this.store.total()
}
getter! {
    /// Descriptors that can be taken now.
    doca_buf_inventory_get_num_free_elements: u32 = |this| this.store.available()
}
