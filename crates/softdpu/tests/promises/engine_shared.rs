// E0277: a progress engine is not shared between threads.
use softdpu::prelude::*;

pub fn shared<T: Sync>(_: &T) {}
pub fn engine(pe: &ProgressEngine) {
    shared(pe);
}
