//! The straight way: whole messages that each lie in one piece of private memory, one alone or several of one length.
//!
//! Nothing is planned and nothing copied but what follows the last whole block: several messages go through the vector
//! registers block by block where they lie, then through their padding. What does not fit, for whatever reason, is left
//! alone; the ways that can say why ([`single`](crate::single), [`group`](crate::group)) look at it then.

use crate::algorithm::Algorithm as Name;
use crate::hardware::Sha;
use crate::task::Job;
use softdpu_kernels::sha::{self, Algorithm, LANES, Lanes, pad, put};
use softdpu_memory::copy;
use softdpu_memory::view::with_lone;
use softdpu_status::Result;

/// One message, if it is such a one. The result is the length of the digest.
#[inline]
pub(crate) fn one(sha: &Sha, job: &Job) -> Option<u64> {
    if !sha.takes_whole(job) {
        return None;
    }
    match job.hash.algorithm() {
        Name::Sha1 => one_by::<sha::Sha1>(sha, job),
        Name::Sha256 => one_by::<sha::Sha256>(sha, job),
        Name::Sha512 => one_by::<sha::Sha512>(sha, job),
    }
}

#[inline(always)]
fn one_by<A: Algorithm>(sha: &Sha, job: &Job) -> Option<u64> {
    let dst = job.dst.any();
    with_lone(job.src.any(), dst, sha.gates().0, |text, place| {
        let place = place.get_mut(..A::DIGEST)?;
        if text.is_empty() {
            return None;
        }
        A::digest(text, place);
        Some(())
    })??;
    copy::commit(dst, A::DIGEST as u64);
    Some(A::DIGEST as u64)
}

/// Several messages, if they are such ones, all of one function and one length. False, and nothing was touched,
/// otherwise.
pub(crate) fn many(sha: &Sha, jobs: &mut [&mut Job], results: &mut [Result<u64>]) -> bool {
    let Some(first) = jobs.first() else { return false };
    let (name, len) = (first.hash.algorithm(), first.src.any().data_len());
    let alike = |job: &&mut Job| {
        sha.takes_whole(job) && job.hash.algorithm() == name && job.src.any().data_len() == len
    };
    if len == 0 || jobs.len() > LANES || !jobs.iter().all(alike) {
        return false;
    }
    match name {
        Name::Sha1 => many_by::<sha::Sha1>(sha, jobs, results),
        Name::Sha256 => many_by::<sha::Sha256>(sha, jobs, results),
        Name::Sha512 => many_by::<sha::Sha512>(sha, jobs, results),
    }
}

fn many_by<A: Algorithm>(sha: &Sha, jobs: &mut [&mut Job], results: &mut [Result<u64>]) -> bool {
    let mut states = Lanes::<A>::start();
    if !descend(sha, jobs, &mut states, None) {
        return false;
    }
    for (lane, (job, result)) in jobs.iter_mut().zip(results).enumerate() {
        let dst = job.dst.any();
        let placed = with_lone(job.src.any(), dst, sha.gates().0, |_, place| {
            place.get_mut(..A::DIGEST).map(|place| put::<A>(&states.get(lane), place)).is_some()
        });
        if placed == Some(true) {
            copy::commit(dst, A::DIGEST as u64);
            *result = Ok(A::DIGEST as u64);
        } else {
            // Two tasks with one destination, which the first of them filled: the long way says so.
            *result = sha.run_long(job);
        }
    }
    true
}

/// A message, and those of the frames before.
struct Link<'a> {
    text: &'a [u8],
    before: Option<&'a Link<'a>>,
}

/// A frame of the stack for each message, in which its bytes may be looked at; the last one hashes them all.
fn descend<A: Algorithm>(
    sha: &Sha,
    jobs: &[&mut Job],
    states: &mut Lanes<A>,
    before: Option<&Link<'_>>,
) -> bool {
    let Some((job, others)) = jobs.split_last() else {
        hash(states, before);
        return true;
    };
    let inside = with_lone(job.src.any(), job.dst.any(), sha.gates().0, |text, place| {
        place.len() >= A::DIGEST && descend(sha, others, states, Some(&Link { text, before }))
    });
    inside == Some(true)
}

/// The innermost link is the first message; all have one length.
fn hash<A: Algorithm>(states: &mut Lanes<A>, first: Option<&Link<'_>>) {
    let mut texts: [&[u8]; LANES] = [&[]; LANES];
    let (mut count, mut link) = (0, first);
    while let Some(at) = link {
        texts[count] = at.text;
        (count, link) = (count + 1, at.before);
    }
    let texts = &mut texts[..count];
    if texts.first().is_some_and(|text| text.len() == A::BLOCK) {
        states.advance(texts);
        return states.advance_padding(count);
    }
    if A::BLOCK == 64 { hash_cut::<A, 128>(states, texts) } else { hash_cut::<A, 256>(states, texts) }
}

/// Messages that do not end with the end of their first block; the last incomplete block and its padding fit `N` bytes.
#[inline(always)]
fn hash_cut<A: Algorithm, const N: usize>(states: &mut Lanes<A>, texts: &mut [&[u8]]) {
    let len = texts.first().map_or(0, |text| text.len());
    let body = len - len % A::BLOCK;
    let mut tails = [[0; N]; LANES];
    let mut end = 0;
    for (text, tail) in texts.iter_mut().zip(&mut tails) {
        let (whole, rest) = text.split_at(body);
        tail[..rest.len()].copy_from_slice(rest);
        end = pad::<A>(tail, rest.len(), len as u64);
        *text = whole;
    }
    if body > 0 {
        states.advance(texts);
    }
    let ends: [&[u8]; LANES] = core::array::from_fn(|i| &tails[i][..end]);
    states.advance(&ends[..texts.len()]);
}
