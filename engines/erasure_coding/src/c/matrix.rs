//! The C entry points of matrices.
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_erasure_coding.h"
)]

use super::{context, null, put};
use crate::caps::Caps;
use crate::held::Held;
use crate::matrix::Matrix;
use softdpu_memory::handle::{Object, Slab, checked, kind};
use softdpu_room::context::Core;
use softdpu_room::entry::guard;
use softdpu_status::{Code, Error, Result};
use std::sync::{Mutex, PoisonError};

// SAFETY: repr(C), head first.
unsafe impl Object for Held {
    const KIND: u32 = kind::EC_MATRIX;
    const NAME: &'static str = "erasure coding matrix";
}

/// Where places of matrices come from. None ever goes back there: destroyed ones wait in `FREE`.
static PLACES: Slab<Held> = Slab::new();
static FREE: Mutex<Vec<&'static Held>> = Mutex::new(Vec::new());

fn free_places() -> std::sync::MutexGuard<'static, Vec<&'static Held>> {
    FREE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn hold(matrix: Matrix) -> Result<*const Held> {
    let mut free = free_places();
    // Room for the way back first, so that destroying never allocates.
    free.try_reserve(1).map_err(|_| Error::new(Code::NoMemory, "no memory for a matrix"))?;
    if let Some(place) = free.pop() {
        place.replace(Some(matrix));
        place.head().wake(kind::EC_MATRIX);
        return Ok(place);
    }
    Ok(PLACES.make(Held::new(matrix))?.as_ptr())
}

fn refuse<T>(call: &str, what: &'static str) -> Result<T> {
    log::error!(target: "softdpu::erasure_coding", "{call}: {what}");
    Err(Error::new(Code::InvalidValue, what))
}

/// Makes a matrix for a C program; `build` gets the limits of the context's device.
unsafe fn make(
    call: &'static str,
    ec: *const Core,
    matrix: *mut *const Held,
    build: impl FnOnce(Caps) -> Result<Matrix>,
) -> i32 {
    guard(|| {
        // SAFETY: a handle, or NULL.
        let core = unsafe { context(ec, call)? };
        if matrix.is_null() {
            return null(call, "matrix");
        }
        let made = build(Caps::of(core.device().function())?)?;
        // SAFETY: checked above.
        unsafe { put(call, "matrix", matrix, hold(made)?) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_ec_matrix_create(
    ec: *const Core,
    kind: u32,
    data_block_count: usize,
    rdnc_block_count: usize,
    matrix: *mut *const Held,
) -> i32 {
    const CALL: &str = "doca_ec_matrix_create";
    let build = |caps: Caps| {
        caps.admit(data_block_count, rdnc_block_count)?;
        match kind {
            1 => Matrix::cauchy(data_block_count, rdnc_block_count),
            2 => Matrix::vandermonde(data_block_count, rdnc_block_count),
            _ => refuse(CALL, "the type is neither CAUCHY (1) nor VANDERMONDE (2)"),
        }
    };
    // SAFETY: handles and out parameters of the contract.
    unsafe { make(CALL, ec, matrix, build) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_ec_matrix_create_from_raw(
    ec: *const Core,
    data: *const u8,
    data_block_count: usize,
    rdnc_block_count: usize,
    matrix: *mut *const Held,
) -> i32 {
    const CALL: &str = "doca_ec_matrix_create_from_raw";
    let build = |caps: Caps| {
        if data.is_null() {
            return null(CALL, "data");
        }
        caps.admit(data_block_count, rdnc_block_count)?;
        // SAFETY: the program vouches for so many bytes; both counts were found small.
        let raw = unsafe { core::slice::from_raw_parts(data, data_block_count * rdnc_block_count) };
        Matrix::raw(data_block_count, rdnc_block_count, raw)
    };
    // SAFETY: handles and out parameters of the contract.
    unsafe { make(CALL, ec, matrix, build) }
}

/// Derives a matrix from a coding matrix and a list of indices.
unsafe fn derive(
    call: &'static str,
    (ec, coding, out): (*const Core, *const Held, *mut *const Held),
    (indices, count): (*const u32, usize),
    how: impl FnOnce(&Matrix, &[u32]) -> Result<Matrix>,
) -> i32 {
    let build = |_: Caps| {
        // SAFETY: a handle, or NULL.
        let coding = unsafe { checked(coding, call)? }.get();
        let coding = coding.ok_or(Error::new(Code::InvalidValue, "the matrix was destroyed"))?;
        if indices.is_null() {
            return null(call, "the list of indices");
        }
        let (data, rdnc) = coding.origin();
        if count > data + rdnc {
            log::error!(target: "softdpu::erasure_coding", "{call}: {count} indices for {} blocks", data + rdnc);
            return Err(Error::new(Code::InvalidValue, "more indices than blocks"));
        }
        // SAFETY: the program vouches for so many indices.
        how(&coding, unsafe { core::slice::from_raw_parts(indices, count) })
    };
    // SAFETY: handles and out parameters of the contract.
    unsafe { make(call, ec, out, build) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_ec_matrix_create_update(
    ec: *const Core,
    coding_matrix: *const Held,
    update_indices: *const u32,
    n_updates: usize,
    matrix: *mut *const Held,
) -> i32 {
    let (handles, list) = ((ec, coding_matrix, matrix), (update_indices, n_updates));
    // SAFETY: handles, lists and out parameters of the contract.
    unsafe { derive("doca_ec_matrix_create_update", handles, list, Matrix::update) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_ec_matrix_create_recover(
    ec: *const Core,
    coding_matrix: *const Held,
    missing_indices: *const u32,
    n_missing: usize,
    matrix: *mut *const Held,
) -> i32 {
    let (handles, list) = ((ec, coding_matrix, matrix), (missing_indices, n_missing));
    // SAFETY: handles, lists and out parameters of the contract.
    unsafe { derive("doca_ec_matrix_create_recover", handles, list, Matrix::recover) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_ec_matrix_destroy(matrix: *const Held) -> i32 {
    guard(|| {
        // SAFETY: a handle, or NULL. Places are never given back to the system.
        let place: &'static Held = unsafe { checked(matrix, "doca_ec_matrix_destroy")? };
        place.head().kill();
        drop(place.replace(None));
        free_places().push(place);
        Ok(())
    })
}
