// E0308: memory of a peer is no local end of a task.
use softdpu::RemoteBuf;
use softdpu::rdma::{Target, Write};

pub fn from_there(to: Target, there: RemoteBuf, also_there: RemoteBuf) -> Write {
    Write { to, src: there, dst: also_there, immediate: None }
}
