//! The compute engines that the pipeline finds, running, and how much they take at a time.

use softdpu::aes_gcm::{self, AesGcm};
use softdpu::card::{Feature, Limits};
use softdpu::compress::{self, Compress};
use softdpu::erasure_coding::{self, ErasureCoding};
use softdpu::sha::{self, Sha};
use softdpu::{Context, Device, ProgressEngine, Session};

use super::tally::{Step, Tally};

/// Data and redundancy blocks of the code.
pub(crate) const DATA: usize = 8;
pub(crate) const RDNC: usize = 4;
pub(crate) const BLOCKS: usize = DATA + RDNC;

/// Pieces in flight, and bytes per piece, unless an engine takes less.
const SLOTS: u32 = 8;
const PIECE: u64 = 1 << 20;
/// An engine that takes less than this at a time is left out.
const LEAST: u64 = 4096;
/// Room beside a piece for what sealing and padding add to it.
const MARGIN: u64 = 512;

/// Bytes that a stream of a piece may have, whatever is in it.
pub(crate) fn stream_room(piece: usize) -> usize {
    piece + piece / 512 + MARGIN as usize
}

/// The largest piece whose stream, sealed, has no more than so many bytes: see [`stream_room`].
fn piece_within(limit: u64) -> u64 {
    limit.saturating_sub(2 * MARGIN) / 513 * 512
}

/// Contexts of the engines there are; a family that is `None` is skipped.
#[derive(Debug)]
pub(crate) struct Engines {
    pub(crate) sha: Option<Context<Sha>>,
    pub(crate) compress: Option<Context<Compress>>,
    pub(crate) aes_gcm: Option<Context<AesGcm>>,
    pub(crate) erasure_coding: Option<Context<ErasureCoding>>,
    /// Every device that one of them runs on.
    pub(crate) devices: Vec<Device>,
    /// Bytes of a piece: a multiple of 64.
    pub(crate) piece: usize,
    /// Pieces in flight.
    pub(crate) slots: usize,
    /// Blocks of the code are a multiple of this.
    pub(crate) align: usize,
}

/// What a family of tasks asks of a device, and what it gives.
struct Family {
    steps: &'static [Step],
    features: &'static [Feature],
    /// The largest piece, and tasks in flight, of a device with these limits.
    takes: fn(&Limits) -> (u64, u32),
}

const SHA: Family = Family {
    steps: &[Step::Hash, Step::HashAgain],
    features: &[Feature::Sha256Partial],
    takes: |limits| (limits.sha.max_src_buf_size, SLOTS),
};

const COMPRESS: Family = Family {
    steps: &[Step::Deflate, Step::Inflate],
    features: &[Feature::CompressDeflate, Feature::DecompressDeflate],
    takes: |limits| (piece_within(limits.compress.max_buf_size), limits.compress.max_num_tasks),
};

const AES_GCM: Family = Family {
    steps: &[Step::Encrypt, Step::Decrypt],
    features: &[Feature::AesGcmEncrypt, Feature::AesGcmDecrypt, Feature::AesGcmKey256, Feature::AesGcmTag128],
    takes: |limits| {
        let limits = &limits.aes_gcm;
        // The vectors are 12 bytes long.
        let most = if limits.max_iv_len < 12 { 0 } else { limits.max_buf_size };
        (piece_within(most), limits.max_num_tasks)
    },
};

const ERASURE_CODING: Family = Family {
    steps: &[Step::Create, Step::Recover],
    features: &[Feature::EcCreate, Feature::EcRecover],
    takes: |limits| {
        let limits = &limits.erasure_coding;
        let code = limits.max_data_blocks as usize >= DATA
            && limits.max_rdnc_blocks as usize >= RDNC
            && limits.max_buf_list_len as usize >= BLOCKS;
        let padding = u64::from(limits.block_alignment) * DATA as u64;
        let most = (limits.max_block_size * DATA as u64).saturating_sub(padding);
        (if code { piece_within(most) } else { 0 }, limits.max_num_tasks)
    },
};

impl Engines {
    /// Opens what there is; what there is not is noted in `tally`.
    pub(crate) fn open(
        session: &Session,
        pe: &mut ProgressEngine,
        tally: &mut Tally,
    ) -> Result<Self, String> {
        let mut opening = Opening { session, tally, devices: Vec::new(), piece: PIECE, slots: SLOTS };
        let sha = opening.find(&SHA)?;
        let compress = opening.find(&COMPRESS)?;
        let aes_gcm = opening.find(&AES_GCM)?;
        let erasure_coding = opening.find(&ERASURE_CODING)?;
        let Opening { devices, piece, slots, .. } = opening;
        let align =
            erasure_coding.map_or(1, |at| devices[at].function().limits().erasure_coding.block_alignment);
        macro_rules! start {
            ($at:expr, $engine:ty, $config:expr) => {
                match $at {
                    Some(at) => {
                        let starting = Context::<$engine>::start(pe, &devices[at], $config);
                        Some(starting.and_then(|s| s.wait(pe)).map_err(|e| e.to_string())?)
                    }
                    None => None,
                }
            };
        }
        Ok(Self {
            // A hash of the whole is one chain: one task after the other.
            sha: start!(sha, Sha, sha::Config { tasks: 1, ..Default::default() }),
            compress: start!(compress, Compress, compress::Config { tasks: slots, ..Default::default() }),
            aes_gcm: start!(aes_gcm, AesGcm, aes_gcm::Config { tasks: slots, ..Default::default() }),
            erasure_coding: start!(
                erasure_coding,
                ErasureCoding,
                erasure_coding::Config { tasks: slots, ..Default::default() }
            ),
            devices,
            piece: piece as usize / 64 * 64,
            slots: slots as usize,
            align: align as usize,
        })
    }

    /// Does anything happen to a piece that has to be undone?
    pub(crate) fn transform(&self) -> bool {
        self.compress.is_some() || self.aes_gcm.is_some() || self.erasure_coding.is_some()
    }

    /// Stops them all.
    pub(crate) fn stop(self, pe: &mut ProgressEngine) -> Result<(), String> {
        let sha = self.sha.map_or(Ok(()), |c| c.stop().wait(pe));
        let compress = self.compress.map_or(Ok(()), |c| c.stop().wait(pe));
        let aes_gcm = self.aes_gcm.map_or(Ok(()), |c| c.stop().wait(pe));
        let erasure_coding = self.erasure_coding.map_or(Ok(()), |c| c.stop().wait(pe));
        sha.and(compress).and(aes_gcm).and(erasure_coding).map_err(|e| e.to_string())
    }
}

struct Opening<'a> {
    session: &'a Session,
    tally: &'a mut Tally,
    devices: Vec<Device>,
    piece: u64,
    slots: u32,
}

impl Opening<'_> {
    /// Opens the first device that can do all of this, and gives its place among the opened ones.
    fn find(&mut self, family: &Family) -> Result<Option<usize>, String> {
        let all = self.session.devices();
        let able = |f: &softdpu::card::Function| family.features.iter().all(|feature| f.has(*feature));
        let Some(info) = all.iter().find(|d| able(d.function())) else {
            let nowhere = |feature: &&Feature| !all.iter().any(|d| d.function().has(**feature));
            let missing: Vec<_> = family.features.iter().filter(nowhere).map(|f| f.name()).collect();
            let what = if missing.is_empty() { "all it takes".to_owned() } else { missing.join(", ") };
            self.skip(family, &format!("skipped: no device has {what}"));
            return Ok(None);
        };
        let (most, tasks) = (family.takes)(info.function().limits());
        if most < LEAST {
            self.skip(family, "skipped: the limits of the device are too small for the demonstration");
            return Ok(None);
        }
        self.piece = self.piece.min(most);
        self.slots = self.slots.min(tasks);
        let pci = info.function().pci();
        if let Some(at) = self.devices.iter().position(|d| d.function().pci() == pci) {
            return Ok(Some(at));
        }
        self.devices.push(info.open().map_err(|e| e.to_string())?);
        Ok(Some(self.devices.len() - 1))
    }

    fn skip(&mut self, family: &Family, why: &str) {
        family.steps.iter().for_each(|step| self.tally.skip(*step, why));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_pieces_fit_the_limits_they_were_cut_for() {
        for limit in (LEAST..100_000).chain([1 << 20, 2 << 20, (2 << 20) + 1, u64::MAX]) {
            let piece = piece_within(limit);
            if piece < 1 << 40 {
                assert!(stream_room(piece as usize) as u64 <= limit, "{limit}");
            }
            // Stored blocks: 5 bytes per 65535, and the tag.
            let stored = piece + 5 * (piece / 65_535 + 1) + 16;
            assert!(stored <= piece + piece / 512 + MARGIN, "{limit}");
        }
    }
}
