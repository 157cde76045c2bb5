// E0277: a context is not shared between threads.
use softdpu::dma::Dma;
use softdpu::prelude::*;

pub fn shared<T: Sync>(_: &T) {}
pub fn context(dma: &Context<Dma>) {
    shared(dma);
}
