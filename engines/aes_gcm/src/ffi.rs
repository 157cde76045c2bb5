//! AES-GCM itself: aws-lc, behind a safe door.
//!
//! Two ways in: [`Cipher::seal`] and [`Cipher::open`] take a whole message that lies in one piece, from any thread at
//! once; a [`Stream`] takes it piece by piece and is drawn from a stock that the key keeps.
//!
//! An initialisation vector of no bytes is outside what aws-lc takes, though the standard's rule for lengths other than
//! 12 covers it: its first counter block is zero. [`Cipher::settle`] gives the 16-byte vector that leads there too.
#![expect(unsafe_code, reason = "calls into aws-lc")]

use crate::field;
use crate::key::Iv;
use aws_lc_sys as lc;
use core::ffi::c_uint;
use core::mem::MaybeUninit;
use core::ptr::{NonNull, null, null_mut};
pub(crate) use softdpu_kernels::gcm::Text;
use softdpu_kernels::gcm::{GcmKey, TagUnderWay, Way};
use softdpu_status::{Code, Error, Result};
use std::sync::{Mutex, MutexGuard, OnceLock};

mod stream;
pub(crate) use stream::Stream;

/// Bytes of a whole tag.
pub(crate) const TAG: usize = 16;
/// Bytes of a short tag.
pub(crate) const SHORT_TAG: usize = 12;
/// Most bytes of text that are quicker without aws-lc.
const SHORT: usize = 2048;
/// Idle streams a key keeps.
const KEPT: usize = 4;

const NO_MEMORY: Error = Error::new(Code::NoMemory, "no memory for a key");
const BROKEN: Error = Error::new(Code::Unexpected, "the cipher refused its input");

/// An initialisation vector as aws-lc takes it.
#[derive(Clone, Copy)]
struct Settled {
    bytes: [u8; 16],
    len: usize,
}

/// Where a text lies: from, to, bytes.
fn places(text: &mut Text<'_>) -> (*const u8, *mut u8, usize) {
    match text {
        Text::Apart(from, to) => (from.as_ptr(), to.as_mut_ptr(), from.len().min(to.len())),
        Text::Same(both) => {
            let to = both.as_mut_ptr();
            (to, to, both.len())
        }
    }
}

/// A key's schedules, wiped when it goes.
pub(crate) struct Cipher {
    /// For whole tags, and for short ones.
    whole: [NonNull<lc::EVP_AEAD_CTX>; 2],
    /// Copied for every stream.
    template: NonNull<lc::EVP_CIPHER_CTX>,
    idle: Mutex<Vec<Stream>>,
    /// The hash key, for `empty_iv`.
    hash_key: [u8; 16],
    empty_iv: OnceLock<[u8; 16]>,
    bits: u32,
    /// For short messages and for the halves of the cipher, on processors that have it.
    short: Option<Box<GcmKey>>,
}

// SAFETY: the contexts behind the pointers are the cipher's alone; `whole` and `template` are only read once made (aws-lc
// documents its AEAD contexts as usable from several threads), streams are reached through the lock.
unsafe impl Send for Cipher {}
// SAFETY: as above.
unsafe impl Sync for Cipher {}

impl core::fmt::Debug for Cipher {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Cipher(AES-{})", self.bits)
    }
}

impl Cipher {
    /// From 16 or 32 bytes.
    ///
    /// # Errors
    /// InvalidValue for another length, NoMemory.
    pub(crate) fn new(raw: &[u8]) -> Result<Cipher> {
        // SAFETY: constants of aws-lc.
        let (aead, cipher) = unsafe {
            match raw.len() {
                16 => (lc::EVP_aead_aes_128_gcm(), lc::EVP_aes_128_gcm()),
                32 => (lc::EVP_aead_aes_256_gcm(), lc::EVP_aes_256_gcm()),
                _ => return Err(Error::new(Code::InvalidValue, "a key has 16 or 32 bytes")),
            }
        };
        let hash_key = hash_key(raw)?;
        let whole = |tag| {
            // SAFETY: `raw` is as long as the AEAD wants its key.
            NonNull::new(unsafe { lc::EVP_AEAD_CTX_new(aead, raw.as_ptr(), raw.len(), tag) }).ok_or(NO_MEMORY)
        };
        let long = Whole(whole(TAG)?);
        let short = Whole(whole(SHORT_TAG)?);
        // SAFETY: no arguments.
        let template = Stream::fresh()?;
        // SAFETY: a fresh context; `raw` is as long as the cipher wants its key.
        let made =
            unsafe { lc::EVP_CipherInit_ex(template.raw(), cipher, null_mut(), raw.as_ptr(), null(), 1) };
        if made != 1 {
            return Err(NO_MEMORY);
        }
        let (template, long, short) = (template.keep(), long.keep(), short.keep());
        let bits = raw.len() as u32 * 8;
        let idle = Mutex::new(Vec::new());
        let whole = [long, short];
        let short = GcmKey::new(raw).map(Box::new);
        Ok(Cipher { whole, template, idle, hash_key, empty_iv: OnceLock::new(), bits, short })
    }

    /// The same without the kernel for short messages.
    pub(crate) fn without_kernel(self) -> Cipher {
        let mut cipher = self;
        cipher.short = None;
        cipher
    }

    /// 128 or 256.
    pub(crate) fn bits(&self) -> u32 {
        self.bits
    }

    /// The vector as aws-lc takes it.
    fn settle(&self, iv: &Iv) -> Settled {
        let mut bytes = [0; 16];
        if iv.is_empty() {
            bytes = *self.empty_iv.get_or_init(|| field::empty_iv(&self.hash_key));
            return Settled { bytes, len: 16 };
        }
        bytes[..Iv::MAX].copy_from_slice(&iv.to_array());
        Settled { bytes, len: iv.len() }
    }

    /// The key for short messages, if it is one and there is one.
    #[inline(always)]
    fn short(&self, text: &Text<'_>) -> Option<&GcmKey> {
        let (Text::Apart(_, to) | Text::Same(to)) = text;
        self.short.as_deref().filter(|_| to.len() <= SHORT)
    }

    fn whole(&self, tag_len: usize) -> *const lc::EVP_AEAD_CTX {
        self.whole[usize::from(tag_len == SHORT_TAG)].as_ptr()
    }

    /// Encrypts a message that lies in one piece. `tag` has 12 or 16 bytes and is apart from the text.
    ///
    /// # Errors
    /// Unexpected.
    #[inline]
    pub(crate) fn seal(&self, iv: &Iv, aad: &[u8], mut text: Text<'_>, tag: &mut [u8]) -> Result<()> {
        if let (Some(key), Some(iv)) = (self.short(&text), iv.usual()) {
            let whole = key.run(Way::Encrypt, &iv, aad, text);
            copy_tag(tag, &whole);
            return Ok(());
        }
        let iv = self.settle(iv);
        let (from, to, len) = places(&mut text);
        let mut tag_len = 0;
        // SAFETY: `from` and `to` have `len` bytes and are apart or the same; `tag` has room for its length, which is
        // what the context gives; the vector and the additional data are slices.
        let ok = unsafe {
            lc::EVP_AEAD_CTX_seal_scatter(
                self.whole(tag.len()),
                to,
                tag.as_mut_ptr(),
                &raw mut tag_len,
                tag.len(),
                iv.bytes.as_ptr(),
                iv.len,
                from,
                len,
                null(),
                0,
                aad.as_ptr(),
                aad.len(),
            )
        };
        if ok == 1 { Ok(()) } else { Err(forget_errors(BROKEN)) }
    }

    /// Decrypts a message that lies in one piece; `tag` has 12 or 16 bytes. False when it is not authentic: the text's
    /// destination is wiped then.
    #[inline]
    pub(crate) fn open(&self, iv: &Iv, aad: &[u8], mut text: Text<'_>, tag: &[u8]) -> bool {
        if let (Some(key), Some(iv)) = (self.short(&text), iv.usual()) {
            return open_short(key, &iv, aad, text, tag);
        }
        let iv = self.settle(iv);
        let (from, to, len) = places(&mut text);
        // SAFETY: as in `seal`.
        let ok = unsafe {
            lc::EVP_AEAD_CTX_open_gather(
                self.whole(tag.len()),
                to,
                iv.bytes.as_ptr(),
                iv.len,
                from,
                len,
                tag.as_ptr(),
                tag.len(),
                aad.as_ptr(),
                aad.len(),
            )
        };
        if ok != 1 {
            forget_errors(());
        }
        ok == 1
    }

    /// Is the tag that of this cipher text? Nothing is decrypted. `None`: only decrypting would tell.
    pub(crate) fn check(&self, iv: &Iv, aad: &[u8], text: &[u8], tag: &[u8]) -> Option<bool> {
        let (key, iv) = (self.short.as_deref()?, iv.usual()?);
        Some(is_same(&key.tag(&iv, aad, text)[..tag.len()], tag))
    }

    /// As [`Cipher::check`], of a text in parts: the additional data.
    pub(crate) fn begin_check(&self, iv: &Iv, aad: &[u8]) -> Option<TagUnderWay> {
        iv.usual()?;
        Some(self.short.as_deref()?.begin_tag(aad))
    }

    /// A part of the text; all but the last are multiples of 16 bytes.
    pub(crate) fn extend_check(&self, so_far: &mut TagUnderWay, text: &[u8]) {
        if let Some(key) = &self.short {
            key.extend_tag(so_far, text);
        }
    }

    /// Is the tag that of the text?
    pub(crate) fn end_check(&self, iv: &Iv, so_far: &TagUnderWay, tag: &[u8]) -> bool {
        let (Some(key), Some(iv)) = (&self.short, iv.usual()) else { return false };
        is_same(&key.end_tag(so_far, &iv)[..tag.len()], tag)
    }

    /// Decrypts a part of a text, from its block `block` on, that [`Cipher::check`] vouched for. False, and nothing is
    /// done, where that answers `None`.
    pub(crate) fn decrypt(&self, iv: &Iv, block: u32, from: &[u8], to: &mut [u8]) -> bool {
        let (Some(key), Some(iv)) = (&self.short, iv.usual()) else { return false };
        key.stream(&iv, block, from, to);
        true
    }

    /// A stream for a message.
    ///
    /// # Errors
    /// NoMemory.
    pub(crate) fn stream(&self, iv: &Iv, encrypt: bool) -> Result<Stream> {
        let kept = self.idle().pop();
        let mut stream = match kept {
            Some(stream) => stream,
            None => Stream::copy_of(self.template)?,
        };
        stream.begin(&self.settle(iv), encrypt)?;
        Ok(stream)
    }

    /// Takes a stream back for the next message.
    pub(crate) fn give_back(&self, stream: Stream) {
        let mut idle = self.idle();
        if idle.len() < KEPT {
            idle.push(stream);
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Stream>> {
        self.idle.lock().unwrap_or_else(|e| e.into_inner())
    }
}

/// Two moves of known length in place of one of an unknown length.
#[inline(always)]
fn copy_tag(to: &mut [u8], whole: &[u8; TAG]) {
    match to.len() {
        TAG => to.copy_from_slice(whole),
        n => to.copy_from_slice(&whole[..n]),
    }
}

/// Compares in constant time.
#[inline]
fn is_same(a: &[u8], b: &[u8]) -> bool {
    // SAFETY: two slices, looked at as far as the shorter one goes.
    let differ = unsafe { lc::CRYPTO_memcmp(a.as_ptr().cast(), b.as_ptr().cast(), a.len().min(b.len())) };
    a.len() == b.len() && differ == 0
}

#[inline]
fn open_short(key: &GcmKey, iv: &[u8; 12], aad: &[u8], text: Text<'_>, tag: &[u8]) -> bool {
    let (whole, to) = match text {
        Text::Apart(from, to) => (key.run(Way::Decrypt, iv, aad, Text::Apart(from, to)), to),
        Text::Same(both) => (key.run(Way::Decrypt, iv, aad, Text::Same(both)), both),
    };
    let right = is_same(&whole[..tag.len()], tag);
    if !right {
        wipe(to);
    }
    right
}

impl Drop for Cipher {
    fn drop(&mut self) {
        wipe(&mut self.hash_key);
        if let Some(iv) = self.empty_iv.get_mut() {
            wipe(iv);
        }
        for context in self.whole {
            drop(Whole(context));
        }
        drop(Stream::keeping(self.template));
    }
}

/// An AEAD context under construction; aws-lc wipes what it frees.
struct Whole(NonNull<lc::EVP_AEAD_CTX>);

impl Whole {
    fn keep(self) -> NonNull<lc::EVP_AEAD_CTX> {
        let context = self.0;
        core::mem::forget(self);
        context
    }
}

impl Drop for Whole {
    fn drop(&mut self) {
        // SAFETY: made by `EVP_AEAD_CTX_new`, freed once.
        unsafe { lc::EVP_AEAD_CTX_free(self.0.as_ptr()) };
    }
}

/// The block cipher of a block of zeros.
fn hash_key(raw: &[u8]) -> Result<[u8; 16]> {
    let mut schedule = MaybeUninit::<lc::AES_KEY>::uninit();
    let mut block = [0u8; 16];
    // SAFETY: `raw` has as many bits as said; the schedule is read only when it was made; a block is 16 bytes. The
    // schedule is wiped as plain bytes.
    unsafe {
        if lc::AES_set_encrypt_key(raw.as_ptr(), raw.len() as c_uint * 8, schedule.as_mut_ptr()) != 0 {
            return Err(BROKEN);
        }
        lc::AES_encrypt(block.as_ptr(), block.as_mut_ptr(), schedule.as_ptr());
        lc::OPENSSL_cleanse(schedule.as_mut_ptr().cast(), size_of::<lc::AES_KEY>());
    }
    Ok(block)
}

/// Overwrites secrets with zeros, in a way the compiler does not leave out.
pub(crate) fn wipe(bytes: &mut [u8]) {
    // SAFETY: a slice.
    unsafe { lc::OPENSSL_cleanse(bytes.as_mut_ptr().cast(), bytes.len()) };
}

/// Empties aws-lc's error queue of this thread: what went wrong is told by our own error.
#[cold]
fn forget_errors<T>(error: T) -> T {
    // SAFETY: no arguments.
    unsafe { lc::ERR_clear_error() };
    error
}
