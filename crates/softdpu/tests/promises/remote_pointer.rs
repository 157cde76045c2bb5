// E0599: memory of another process has no address here.
use softdpu::RemoteMemory;

pub fn address(remote: &RemoteMemory) -> *mut u8 {
    remote.as_ptr()
}
