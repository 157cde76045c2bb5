//! One message: whole blocks are hashed where they lie, blocks that are cut by the borders of list elements are put
//! together first, and what is left at the end is padded as the standard says.

use crate::hardware::Sha;
use crate::task::Job;
use softdpu_kernels::sha::{Algorithm, pad, put};
use softdpu_memory::copy;
use softdpu_memory::node::Node;
use softdpu_memory::view::{Hold, Sources};
use softdpu_status::{Code, Error, Result};

/// Bytes of the largest block.
const MOST_BLOCK: usize = 128;
/// Bytes that are hashed under one hold.
const STRIDE: u64 = 256 << 10;

/// Takes `state` through the whole blocks of bytes `[from, from + len)`. The rest, less than a block, is left.
fn blocks<A: Algorithm>(state: &mut [A::Word; 8], sources: &Sources<'_>, from: u64, len: u64) {
    let whole = len - len % A::BLOCK as u64;
    if let Some(data) = usize::try_from(whole).ok().and_then(|n| sources.slice(from, n)) {
        return A::blocks(state, data);
    }
    let mut open = [0; MOST_BLOCK];
    let mut filled = 0;
    sources.each(from, whole, |mut piece| {
        if filled > 0 {
            let n = piece.len().min(A::BLOCK - filled);
            let (head, rest) = piece.split_at(n);
            open[filled..filled + n].copy_from_slice(head);
            filled += n;
            piece = rest;
            if filled < A::BLOCK {
                return;
            }
            A::blocks(state, &open[..A::BLOCK]);
            filled = 0;
        }
        let (body, rest) = piece.split_at(piece.len() - piece.len() % A::BLOCK);
        A::blocks(state, body);
        open[..rest.len()].copy_from_slice(rest);
        filled = rest.len();
    });
}

/// Most bytes that padding adds: a block but one byte, and mark and length in front of it.
pub(crate) const MOST_PADDING: usize = MOST_BLOCK + 16;

/// Puts the digest behind the data of `dst`.
pub(crate) fn deposit<A: Algorithm>(sha: &Sha, state: &[A::Word; 8], dst: &Node) -> Result<()> {
    // Another task may have written there since this one was admitted.
    if dst.room() < A::DIGEST {
        log::error!(target: "softdpu::sha", "sha task: destination buffer {dst:p}: room for {} bytes is left, needs {}",
            dst.room(), A::DIGEST);
        return Err(Error::new(Code::InvalidValue, "no room for the digest"));
    }
    let mut hold = Hold::room(dst, sha.gates().1)?;
    let (_, mut sink) = hold.split();
    match sink.slice(A::DIGEST) {
        Some(place) => put::<A>(state, place),
        None => {
            let mut digest = [0; 64];
            put::<A>(state, &mut digest[..A::DIGEST]);
            sink.write(&digest[..A::DIGEST]);
        }
    }
    hold.check()?;
    drop(hold);
    copy::commit(dst, A::DIGEST as u64);
    Ok(())
}

/// The digest of a message of `total` bytes whose last `rest` bytes lie from `from` on, and whose state is behind all
/// blocks before. `rest` and padding fit the scratch of `N` bytes.
#[inline]
fn finish<A: Algorithm, const N: usize>(
    mut state: [A::Word; 8],
    sources: &Sources<'_>,
    from: u64,
    rest: usize,
    total: u64,
) -> [A::Word; 8] {
    let mut tail = [0; N];
    sources.read(from, &mut tail[..rest]);
    let end = pad::<A>(&mut tail, rest, total);
    A::blocks(&mut state, &tail[..end]);
    state
}

/// The digest of a message whose last `bytes` bytes, all of the source, come after `state`.
#[inline]
fn digest<A: Algorithm>(
    mut state: [A::Word; 8],
    sources: &Sources<'_>,
    bytes: u64,
    total: u64,
) -> [A::Word; 8] {
    let room = |n: usize| (n - 1 - A::LENGTH) as u64;
    // Short ones are copied next to their padding: one call for all blocks.
    if A::BLOCK == 64 && bytes <= room(128) {
        return finish::<A, 128>(state, sources, 0, bytes as usize, total);
    }
    if bytes <= room(256) {
        return finish::<A, 256>(state, sources, 0, bytes as usize, total);
    }
    blocks::<A>(&mut state, sources, 0, bytes);
    let rest = bytes % A::BLOCK as u64;
    finish::<A, 256>(state, sources, bytes - rest, rest as usize, total)
}

/// The whole job.
pub(crate) fn run<A: Algorithm>(sha: &Sha, job: &mut Job) -> Result<u64> {
    let (src, bytes, dst) = sha.admit(job)?;
    if bytes > STRIDE {
        let mut at = 0;
        while at < bytes {
            let n = STRIDE.min(bytes - at);
            step::<A>(sha, job, at, n)?;
            at += n;
        }
        return close::<A>(sha, job, bytes);
    }
    let mut state = job.hash.words::<A>();
    let total = job.hash.done + bytes;
    let hold = Hold::source(src, sha.gates().0)?;
    let sources = hold.sources();
    let Some(dst) = dst else {
        blocks::<A>(&mut state, &sources, 0, bytes);
        job.hash.set_words::<A>(state);
        job.hash.done = total;
        return Ok(total);
    };
    let state = digest::<A>(state, &sources, bytes, total);
    drop(hold);
    deposit::<A>(sha, &state, dst)?;
    settle(job, total);
    Ok(A::DIGEST as u64)
}

/// The digest was made.
pub(crate) fn settle(job: &mut Job, total: u64) {
    if !job.whole {
        job.hash.done = total;
        job.hash.finished = true;
    }
}

/// Bytes `[from, from + len)` of a job that takes several steps. Until the last one a partial hash counts as broken,
/// since nobody tells the job when the remaining steps are left out.
pub(crate) fn step<A: Algorithm>(sha: &Sha, job: &mut Job, from: u64, len: u64) -> Result<()> {
    let Some(src) = job.src.node() else { return Err(gone()) };
    let mut state = if from == 0 { job.hash.words::<A>() } else { job.hash.words_inside::<A>() };
    let block = A::BLOCK as u64;
    let (first, end) = (from - from % block, (from + len) - (from + len) % block);
    job.hash.broken = !job.whole;
    let hold = Hold::source(src, sha.gates().0)?;
    blocks::<A>(&mut state, &hold.sources(), first, end - first);
    job.hash.set_words::<A>(state);
    Ok(())
}

/// After the last step of a job of `bytes` bytes.
pub(crate) fn close<A: Algorithm>(sha: &Sha, job: &mut Job, bytes: u64) -> Result<u64> {
    let Some(src) = job.src.node() else { return Err(gone()) };
    let total = job.hash.done + bytes;
    let mut result = total;
    if job.is_last() {
        let hold = Hold::source(src, sha.gates().0)?;
        let rest = bytes % A::BLOCK as u64;
        let state = job.hash.words_inside::<A>();
        let state = finish::<A, 256>(state, &hold.sources(), bytes - rest, rest as usize, total);
        drop(hold);
        let Some(dst) = job.dst.node() else { return Err(gone()) };
        deposit::<A>(sha, &state, dst)?;
        settle(job, total);
        result = A::DIGEST as u64;
    } else {
        job.hash.done = total;
    }
    job.hash.broken = false;
    Ok(result)
}

#[cold]
fn gone() -> Error {
    log::error!(target: "softdpu::sha", "sha task: a buffer was released while the task was in flight");
    Error::new(Code::InvalidValue, "a buffer is missing")
}
