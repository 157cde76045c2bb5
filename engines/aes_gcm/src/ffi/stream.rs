//! Messages taken piece by piece.
#![expect(unsafe_code, reason = "calls into aws-lc")]

use super::{BROKEN, NO_MEMORY, Settled, TAG, Text, forget_errors, places};
use aws_lc_sys as lc;
use core::ffi::{c_int, c_void};
use core::ptr::{NonNull, null, null_mut};
use softdpu_status::Result;

/// A message under way, taken piece by piece: additional data first, then text, then the tag.
pub(crate) struct Stream(NonNull<lc::EVP_CIPHER_CTX>);

// SAFETY: the context belongs to this value alone and to no thread.
unsafe impl Send for Stream {}

impl core::fmt::Debug for Stream {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Stream")
    }
}

/// Most bytes of one call.
const MOST: usize = 1 << 30;

impl Stream {
    /// Without cipher or key.
    pub(super) fn fresh() -> Result<Stream> {
        // SAFETY: no arguments.
        NonNull::new(unsafe { lc::EVP_CIPHER_CTX_new() }).map(Stream).ok_or(NO_MEMORY)
    }

    /// What was taken out by [`Stream::keep`].
    pub(super) fn keeping(context: NonNull<lc::EVP_CIPHER_CTX>) -> Stream {
        Stream(context)
    }

    pub(super) fn raw(&self) -> *mut lc::EVP_CIPHER_CTX {
        self.0.as_ptr()
    }

    pub(super) fn copy_of(template: NonNull<lc::EVP_CIPHER_CTX>) -> Result<Stream> {
        let stream = Stream::fresh()?;
        // SAFETY: a fresh context and one that was set up and is only read.
        let copied = unsafe { lc::EVP_CIPHER_CTX_copy(stream.0.as_ptr(), template.as_ptr()) };
        if copied == 1 { Ok(stream) } else { Err(forget_errors(NO_MEMORY)) }
    }

    pub(super) fn keep(self) -> NonNull<lc::EVP_CIPHER_CTX> {
        let context = self.0;
        core::mem::forget(self);
        context
    }

    pub(super) fn begin(&mut self, iv: &Settled, encrypt: bool) -> Result<()> {
        let context = self.0.as_ptr();
        // SAFETY: a context with a key; the vector has the length that is set before.
        let ok = unsafe {
            lc::EVP_CIPHER_CTX_ctrl(context, lc::EVP_CTRL_AEAD_SET_IVLEN, iv.len as c_int, null_mut()) == 1
                && lc::EVP_CipherInit_ex(
                    context,
                    null(),
                    null_mut(),
                    null(),
                    iv.bytes.as_ptr(),
                    encrypt.into(),
                ) == 1
        };
        if ok { Ok(()) } else { Err(forget_errors(BROKEN)) }
    }

    fn update(&mut self, from: *const u8, to: *mut u8, len: usize) -> Result<()> {
        let mut done = 0;
        while done < len {
            let now = (len - done).min(MOST);
            let mut written: c_int = 0;
            // SAFETY: the callers give `len` bytes at `from`, and at `to` unless that is NULL, apart or the same. The
            // offset of a NULL stays NULL below.
            let ok = unsafe {
                let to = if to.is_null() { to } else { to.add(done) };
                lc::EVP_CipherUpdate(self.0.as_ptr(), to, &raw mut written, from.add(done), now as c_int)
            };
            if ok != 1 {
                return Err(forget_errors(BROKEN));
            }
            done += now;
        }
        Ok(())
    }

    /// Takes additional data.
    ///
    /// # Errors
    /// Unexpected, after text.
    pub(crate) fn aad(&mut self, piece: &[u8]) -> Result<()> {
        self.update(piece.as_ptr(), null_mut(), piece.len())
    }

    /// Takes text.
    ///
    /// # Errors
    /// Unexpected.
    pub(crate) fn text(&mut self, mut piece: Text<'_>) -> Result<()> {
        let (from, to, len) = places(&mut piece);
        self.update(from, to, len)
    }

    fn finish(&mut self) -> bool {
        let (mut nothing, mut written) = ([0u8; 32], 0);
        // SAFETY: writes at most a block, and none for this cipher.
        unsafe { lc::EVP_CipherFinal_ex(self.0.as_ptr(), nothing.as_mut_ptr(), &raw mut written) == 1 }
    }

    /// Ends an encryption.
    ///
    /// # Errors
    /// Unexpected.
    pub(crate) fn tag(&mut self) -> Result<[u8; TAG]> {
        let mut tag = [0u8; TAG];
        let at = tag.as_mut_ptr().cast::<c_void>();
        // SAFETY: a tag of 16 bytes.
        let given = self.finish()
            && unsafe {
                lc::EVP_CIPHER_CTX_ctrl(self.0.as_ptr(), lc::EVP_CTRL_AEAD_GET_TAG, TAG as c_int, at) == 1
            };
        if given { Ok(tag) } else { Err(forget_errors(BROKEN)) }
    }

    /// Ends a decryption: is the message authentic? `tag` has 12 or 16 bytes.
    pub(crate) fn verify(&mut self, tag: &[u8]) -> bool {
        let at = tag.as_ptr().cast_mut().cast::<c_void>();
        // SAFETY: the tag is only read, as long as said.
        let set = unsafe {
            lc::EVP_CIPHER_CTX_ctrl(self.0.as_ptr(), lc::EVP_CTRL_AEAD_SET_TAG, tag.len() as c_int, at) == 1
        };
        if set && self.finish() { true } else { forget_errors(false) }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: made by `EVP_CIPHER_CTX_new`, freed once; aws-lc wipes it.
        unsafe { lc::EVP_CIPHER_CTX_free(self.0.as_ptr()) };
    }
}
