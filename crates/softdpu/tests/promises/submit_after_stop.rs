// E0382: nothing is submitted after a stop.
use softdpu::dma::{Dma, Memcpy};
use softdpu::prelude::*;

pub fn late(mut dma: Context<Dma>, task: Memcpy) {
    let _stopping = dma.stop();
    let _flying = dma.submit(task);
}
