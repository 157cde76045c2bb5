// E0271: a task goes only to its own engine.
use softdpu::dma::Memcpy;
use softdpu::prelude::*;
use softdpu::sha::Sha;

pub fn wrong(sha: &mut Context<Sha>, task: Memcpy) {
    let _flying = sha.submit(task);
}
