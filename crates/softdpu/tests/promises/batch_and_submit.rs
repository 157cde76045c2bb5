// E0499: nothing is submitted beside a batch.
use softdpu::dma::{Dma, Memcpy};
use softdpu::prelude::*;

pub fn beside(dma: &mut Context<Dma>, a: Memcpy, b: Memcpy) {
    let mut batch = dma.batch();
    dma.post(a).ok();
    batch.post(b).ok();
}
