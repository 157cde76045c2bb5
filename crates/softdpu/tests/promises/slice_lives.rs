// E0505: nothing is submitted while a slice into its buffer lives.
use softdpu::dma::{Dma, Memcpy};
use softdpu::prelude::*;

pub fn looked_at(dma: &mut Context<Dma>, src: Buf, dst: Buf) {
    let bytes = src.as_slice();
    let _flying = dma.submit(Memcpy { src, dst });
    drop(bytes);
}
