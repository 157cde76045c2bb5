//! What a device's AES-GCM engine can do.

use crate::task::{Direction, TagLen};
use softdpu_card::{EngineKind, Feature, Function};
use softdpu_status::{Code, Error, Result};

/// Abilities and limits of the AES-GCM engine of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Caps {
    /// Can it encrypt?
    pub encrypt: bool,
    /// Can it decrypt?
    pub decrypt: bool,
    /// Does it take keys of 128 bits?
    pub key_128: bool,
    /// Does it take keys of 256 bits?
    pub key_256: bool,
    /// Does it take tags of 12 bytes?
    pub tag_96: bool,
    /// Does it take tags of 16 bytes?
    pub tag_128: bool,
    /// Longest initialisation vector in bytes.
    pub max_iv_len: u32,
    /// Most bytes of the source list, and of what is added to the destination list, of one task.
    pub max_buf_size: u64,
    /// Most elements of a source or destination list.
    pub max_buf_list_len: u32,
    /// Most tasks in flight of one context.
    pub max_num_tasks: u32,
}

impl Caps {
    /// Of this function.
    ///
    /// # Errors
    /// NotSupported when its card has no AES-GCM engine.
    pub fn of(function: &Function) -> Result<Caps> {
        if !function.supports(EngineKind::AesGcm) {
            return Err(Error::new(Code::NotSupported, "the device has no AES-GCM engine"));
        }
        let limits = &function.limits().aes_gcm;
        Ok(Caps {
            encrypt: function.has(Feature::AesGcmEncrypt),
            decrypt: function.has(Feature::AesGcmDecrypt),
            key_128: function.has(Feature::AesGcmKey128),
            key_256: function.has(Feature::AesGcmKey256),
            tag_96: function.has(Feature::AesGcmTag96),
            tag_128: function.has(Feature::AesGcmTag128),
            max_iv_len: limits.max_iv_len.min(crate::Iv::MAX as u32),
            max_buf_size: limits.max_buf_size,
            max_buf_list_len: limits.max_buf_list_len,
            max_num_tasks: limits.max_num_tasks,
        })
    }

    /// Can it go that way?
    pub fn goes(&self, direction: Direction) -> bool {
        match direction {
            Direction::Encrypt => self.encrypt,
            Direction::Decrypt => self.decrypt,
        }
    }

    /// Does it take keys of so many bits?
    pub fn takes_key(&self, bits: u32) -> bool {
        match bits {
            128 => self.key_128,
            256 => self.key_256,
            _ => false,
        }
    }

    /// Does it take tags of that length?
    pub fn takes_tag(&self, tag: TagLen) -> bool {
        match tag {
            TagLen::Bits96 => self.tag_96,
            TagLen::Bits128 => self.tag_128,
        }
    }
}
