//! The AES-GCM engine.
