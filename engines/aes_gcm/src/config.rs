//! What a context of the Rust face is made with: how many tasks, and who gets those that were posted.

use crate::hardware::AesGcm;
use crate::task::{Decrypt, DecryptInPlace, Encrypt, EncryptInPlace, Job, Kind};
use softdpu_room::job::Outbox;
use softdpu_room::task::{Handler, deliver};
use softdpu_status::Result;

/// Configuration of an AES-GCM context of the Rust face.
#[derive(Default)]
pub struct Config {
    /// Tasks in flight at most, of all kinds together; 0 stands for 64.
    pub tasks: u32,
    /// Gets every encryption that was posted.
    pub on_encrypt: Option<Handler<Encrypt>>,
    /// Gets every decryption that was posted.
    pub on_decrypt: Option<Handler<Decrypt>>,
    /// Gets every encryption in place that was posted.
    pub on_encrypt_in_place: Option<Handler<EncryptInPlace>>,
    /// Gets every decryption in place that was posted.
    pub on_decrypt_in_place: Option<Handler<DecryptInPlace>>,
}

impl std::fmt::Debug for Config {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Config")
            .field("tasks", &self.tasks)
            .field("on_encrypt", &self.on_encrypt.is_some())
            .field("on_decrypt", &self.on_decrypt.is_some())
            .field("on_encrypt_in_place", &self.on_encrypt_in_place.is_some())
            .field("on_decrypt_in_place", &self.on_decrypt_in_place.is_some())
            .finish()
    }
}

/// The handlers of a context of the Rust face.
#[derive(Default)]
pub struct Handlers {
    encrypt: Option<Handler<Encrypt>>,
    decrypt: Option<Handler<Decrypt>>,
    encrypt_in_place: Option<Handler<EncryptInPlace>>,
    decrypt_in_place: Option<Handler<DecryptInPlace>>,
}

impl std::fmt::Debug for Handlers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Handlers")
    }
}

impl Handlers {
    /// Those of a configuration.
    pub(crate) fn of(config: Config) -> Handlers {
        Handlers {
            encrypt: config.on_encrypt,
            decrypt: config.on_decrypt,
            encrypt_in_place: config.on_encrypt_in_place,
            decrypt_in_place: config.on_decrypt_in_place,
        }
    }

    /// Hands a landed job to the one of its kind.
    #[inline]
    pub(crate) fn deliver(
        &mut self,
        job: Job,
        result: Result<u64>,
        outbox: &mut Outbox<'_, AesGcm>,
    ) -> Option<Job> {
        match job.0 {
            Kind::Encrypt(_) => deliver(&mut self.encrypt, job, result, outbox),
            Kind::Decrypt(_) => deliver(&mut self.decrypt, job, result, outbox),
            Kind::EncryptInPlace(_) => deliver(&mut self.encrypt_in_place, job, result, outbox),
            Kind::DecryptInPlace(_) => deliver(&mut self.decrypt_in_place, job, result, outbox),
            #[cfg(feature = "capi")]
            Kind::Lent(_) => None,
        }
    }
}
