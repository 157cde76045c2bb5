//! Tools of others that the bench starts to measure beside its own rows.

use std::process::Child;

/// A running tool; it ends with this.
pub(super) struct Tool(pub(super) Child);

impl Drop for Tool {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
