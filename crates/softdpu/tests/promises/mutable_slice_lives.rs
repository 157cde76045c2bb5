// E0505: nothing is submitted while a mutable slice into its buffer lives.
use softdpu::dma::{Dma, Memcpy};
use softdpu::prelude::*;

pub fn written(dma: &mut Context<Dma>, mut src: Buf, dst: Buf) {
    let bytes = src.tail_mut().unwrap();
    let _flying = dma.submit(Memcpy { src, dst });
    bytes[0] = 1;
}
