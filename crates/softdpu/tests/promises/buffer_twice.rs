// E0599: a buffer is not duplicated.
use softdpu::prelude::*;

pub fn twice(buf: Buf) -> (Buf, Buf) {
    (buf.clone(), buf)
}
