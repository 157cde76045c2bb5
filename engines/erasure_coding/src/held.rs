//! Matrices that C programs hold by pointer.
//!
//! A place lives for ever and is used again. Tasks only note it, so a program may destroy a matrix while a task that
//! uses it flies: parts under way keep it until they are done, later ones fail.

use crate::matrix::Matrix;
use softdpu_memory::handle::Head;
use std::sync::{PoisonError, RwLock};

/// A place for a matrix, alive while there is one in it.
#[cfg_attr(not(feature = "capi"), expect(unreachable_pub, reason = "public in the entry points"))]
#[repr(C)]
pub struct Held {
    head: Head,
    matrix: RwLock<Option<Matrix>>,
}

impl Held {
    /// With a matrix, but not alive yet.
    #[cfg(feature = "capi")]
    pub(crate) fn new(matrix: Matrix) -> Held {
        Held { head: Head::unborn(), matrix: RwLock::new(Some(matrix)) }
    }

    /// The word that makes it a live handle.
    #[cfg(feature = "capi")]
    pub(crate) fn head(&self) -> &Head {
        &self.head
    }

    /// The matrix, unless it was destroyed.
    pub(crate) fn get(&self) -> Option<Matrix> {
        self.matrix.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Changes the matrix; gives the one before back.
    #[cfg(feature = "capi")]
    pub(crate) fn replace(&self, matrix: Option<Matrix>) -> Option<Matrix> {
        core::mem::replace(&mut *self.matrix.write().unwrap_or_else(PoisonError::into_inner), matrix)
    }
}

impl core::fmt::Debug for Held {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Held({:#x}, {:?})", self.head.word(), self.get())
    }
}
