// E0382: a buffer that a consumer posted is gone until it is filled.
use softdpu::comch::Consumer;
use softdpu::prelude::*;

pub fn looked_at(consumer: &Consumer, buf: Buf) -> usize {
    let _ = consumer.post(buf);
    buf.data_len()
}
