// E0599: memory of another process has no bytes to look at.
use softdpu::RemoteMemory;

pub fn peek(remote: &RemoteMemory) -> Option<u8> {
    let buf = remote.buf(..).ok()?;
    buf.as_slice().map(|bytes| bytes[0])
}
