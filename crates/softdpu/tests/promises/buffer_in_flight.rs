// E0382: a buffer in flight is gone from the program.
use softdpu::dma::{Dma, Memcpy};
use softdpu::prelude::*;

pub fn read_in_flight(dma: &mut Context<Dma>, src: Buf, dst: Buf) {
    let _flying = dma.submit(Memcpy { src, dst });
    dst.as_slice();
}
