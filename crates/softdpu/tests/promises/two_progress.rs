// E0499: two threads do not progress one engine at the same time.
use softdpu::prelude::*;

pub fn two(pe: &mut ProgressEngine) {
    std::thread::scope(|s| {
        s.spawn(|| pe.progress());
        s.spawn(|| pe.progress());
    });
}
