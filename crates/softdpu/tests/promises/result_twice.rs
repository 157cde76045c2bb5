// E0382: a result is taken once.
use softdpu::dma::Memcpy;
use softdpu::prelude::*;

pub fn twice(flying: InFlight<Memcpy>) {
    let _first = flying.try_take();
    let _second = flying.try_take();
}
