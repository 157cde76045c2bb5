// E0499: one submitter per context, also across threads.
use softdpu::dma::{Dma, Memcpy};
use softdpu::prelude::*;

pub fn two(dma: &mut Context<Dma>, a: Memcpy, b: Memcpy) {
    std::thread::scope(|s| {
        s.spawn(|| dma.post(a).is_ok());
        s.spawn(|| dma.post(b).is_ok());
    });
}
