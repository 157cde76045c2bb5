//! Limits of the engines: one table with the field, its default and the values a topology file may give it.
//!
//! Capability calls answer from here and engines check against here, so that what is promised is what holds.
//! Where no figure of the imitated card is published the default is a choice of this project.

use crate::profile::Profile;
use std::ops::RangeInclusive;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// Declares the limits once: engine, struct, and per field type, default of profile `all`, allowed values.
macro_rules! limits {
    ($(
        $(#[$group_doc:meta])*
        $group:ident: $Group:ident {
            $($(#[$doc:meta])* $field:ident: $type:ident = $default:expr, $allowed:expr;)*
        }
    )*) => {
        $(
            $(#[$group_doc])*
            #[derive(Clone, PartialEq, Eq, Debug)]
            #[non_exhaustive]
            pub struct $Group { $($(#[$doc])* pub $field: $type,)* }

            impl Default for $Group {
                fn default() -> $Group {
                    $Group { $($field: $default as $type,)* }
                }
            }
        )*

        /// The limits of every engine of a function. Meaningful for engines that the function has.
        #[derive(Clone, PartialEq, Eq, Debug, Default)]
        #[non_exhaustive]
        pub struct Limits { $($(#[$group_doc])* pub $group: $Group,)* }

        impl Limits {
            /// Every limit as (engine, name, value), in the order of the table.
            pub fn entries(&self) -> Vec<(&'static str, &'static str, u64)> {
                vec![$($((stringify!($group), stringify!($field), u64::from(self.$group.$field)),)*)*]
            }

            /// The values that a topology file may give to a limit, or what names are allowed instead.
            fn allowed(group: &str, field: &str) -> Result<RangeInclusive<u64>, SetError> {
                match group {
                    $(stringify!($group) => match field {
                        $(stringify!($field) => Ok($allowed),)*
                        _ => Err(SetError::UnknownLimit(&[$(stringify!($field),)*])),
                    },)*
                    _ => Err(SetError::UnknownEngine(&[$(stringify!($group),)*])),
                }
            }

            /// Sets a limit by name, after looking whether the value is allowed.
            pub(crate) fn set(&mut self, group: &str, field: &str, value: u64) -> Result<(), SetError> {
                let allowed = Limits::allowed(group, field)?;
                if !allowed.contains(&value) {
                    return Err(SetError::OutOfRange(allowed));
                }
                match (group, field) {
                    // The allowed range was checked and lies within the field's type.
                    $($((stringify!($group), stringify!($field)) => self.$group.$field = value as $type,)*)*
                    _ => {}
                }
                Ok(())
            }
        }
    };
}

/// Why a limit could not be set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum SetError {
    /// No such engine; these there are.
    UnknownEngine(&'static [&'static str]),
    /// The engine has no such limit; these it has.
    UnknownLimit(&'static [&'static str]),
    /// The value is not one of these.
    OutOfRange(RangeInclusive<u64>),
}

const ANY32: RangeInclusive<u64> = 1..=u32::MAX as u64;
const TASKS: RangeInclusive<u64> = 1..=MIB;
const LIST: RangeInclusive<u64> = 1..=4096;
const BYTES: RangeInclusive<u64> = 1..=1 << 48;

limits! {
    /// Memory that is registered with the card. Counted per function and process; no engine, and so no capability call.
    memory: MemoryLimits {
        /// Most regions that are registered at once.
        max_regions: u32 = u32::MAX, ANY32;
        /// Most bytes of one region.
        max_region_size: u64 = 1u64 << 48, BYTES;
    }
    /// Copies.
    dma: DmaLimits {
        /// Most bytes one task may move.
        max_buf_size: u64 = 2 * GIB, BYTES;
        /// Most elements of a source or destination list; 1 means no lists.
        max_buf_list_len: u32 = 64, LIST;
        /// Largest task pool of a context.
        max_num_tasks: u32 = 65536, TASKS;
    }
    /// Hashes.
    sha: ShaLimits {
        /// Most source bytes of one task.
        max_src_buf_size: u64 = 2 * GIB, BYTES;
        /// Most elements of a source list.
        max_buf_list_len: u32 = 64, LIST;
        /// Largest task pool of a context.
        max_num_tasks: u32 = 65536, TASKS;
    }
    /// Compression and decompression.
    compress: CompressLimits {
        /// Most bytes of the source and of the destination of one task.
        max_buf_size: u64 = 128 * MIB, BYTES;
        /// Most elements of a list.
        max_buf_list_len: u32 = 64, LIST;
        /// Largest task pool of a context.
        max_num_tasks: u32 = 65536, TASKS;
    }
    /// Authenticated encryption.
    aes_gcm: AesGcmLimits {
        /// Most bytes of the source and of the destination of one task.
        max_buf_size: u64 = 2 * MIB, BYTES;
        /// Most elements of a list.
        max_buf_list_len: u32 = 64, LIST;
        /// Longest initialisation vector in bytes.
        max_iv_len: u32 = 12, 1..=64;
        /// Largest task pool of a context.
        max_num_tasks: u32 = 65536, TASKS;
    }
    /// Erasure coding.
    erasure_coding: ErasureCodingLimits {
        /// Largest single block in bytes.
        max_block_size: u64 = 128 * MIB, 64..=1 << 40;
        /// Blocks are multiples of this many bytes.
        block_alignment: u32 = 64, 1..=4096;
        /// Most elements of all lists of one task; bounds data plus redundancy blocks.
        max_buf_list_len: u32 = 160, LIST;
        /// Most data blocks.
        max_data_blocks: u32 = 128, 1..=255;
        /// Most redundancy blocks.
        max_rdnc_blocks: u32 = 32, 1..=255;
        /// Largest task pool of a context.
        max_num_tasks: u32 = 65536, TASKS;
    }
    /// Remote memory access.
    rdma: RdmaLimits {
        /// Most bytes of one message.
        max_message_size: u32 = GIB, ANY32;
        /// Longest send queue.
        max_send_queue_size: u32 = 8192, TASKS;
        /// Longest receive queue.
        max_recv_queue_size: u32 = 8192, TASKS;
        /// Most elements of a send list.
        max_send_buf_list_len: u32 = 32, LIST;
        /// Most elements of a receive list.
        max_recv_buf_list_len: u32 = 32, LIST;
        /// Rows of the table of global identifiers.
        gid_table_size: u32 = 255, 1..=4096;
        /// Largest path unit in bytes.
        max_mtu: u32 = 4096, 256..=4096;
        /// Most connections of one context.
        max_num_connections: u32 = 4096, 1..=65535;
    }
    /// Messages and streams between host and card.
    comch: ComchLimits {
        /// Most bytes of one control message.
        max_msg_size: u32 = 4080, 1..=MIB;
        /// Longest server name in bytes, with its terminating zero.
        max_name_len: u32 = 120, 2..=256;
        /// Longest receive queue in messages.
        max_recv_queue_size: u32 = 8192, TASKS;
        /// Largest pool of send tasks.
        max_send_tasks: u32 = 8192, TASKS;
        /// Most clients of one server at once.
        max_clients: u32 = 512, 1..=65535;
        /// Most bytes of one buffer of a producer or consumer.
        max_stream_buf_size: u32 = GIB, ANY32;
        /// Most elements of a list of a producer or consumer.
        max_stream_buf_list_len: u32 = 64, LIST;
        /// Largest task pool of a producer or consumer.
        max_stream_tasks: u32 = 8192, TASKS;
        /// Most producers, and most consumers, of one connection.
        max_streams: u32 = 64, 1..=65535;
        /// Most bytes of immediate data.
        max_imm_data_len: u32 = 32, 1..=64;
    }
    /// Ethernet receive queues.
    eth_rxq: EthRxqLimits {
        /// Longest queue in packets.
        max_burst_size: u32 = 16384, TASKS;
        /// Largest packet in bytes.
        max_packet_size: u32 = 9600, 64..=65535;
        /// Most bytes kept free before a packet.
        max_packet_headroom: u32 = 1024, 0..=65535;
        /// Most bytes kept free behind a packet.
        max_packet_tailroom: u32 = 1024, 0..=65535;
        /// Most bytes of headroom, packet and tailroom in a managed pool.
        max_managed_packet_size: u32 = 8 * KIB, 64..=65535;
        /// Most elements of a receive list.
        max_recv_buf_list_len: u32 = 32, LIST;
        /// Most metadata words of a packet.
        max_metadata_num: u32 = 4, 0..=255;
    }
    /// Ethernet send queues.
    eth_txq: EthTxqLimits {
        /// Longest queue in packets.
        max_burst_size: u32 = 16384, TASKS;
        /// Largest packet in bytes.
        max_packet_size: u32 = 9600, 64..=65535;
        /// Most elements of a send list.
        max_send_buf_list_len: u32 = 32, LIST;
        /// Most bytes of the header of a segmented send.
        max_lso_header_size: u32 = 256, 54..=65535;
        /// Most bytes of a segmented send.
        max_lso_msg_size: u32 = 256 * KIB, 64..=1 << 24;
        /// Most metadata words of a packet.
        max_metadata_num: u32 = 4, 0..=255;
    }
    /// Sync events.
    sync_event: SyncEventLimits {
        /// Largest task pool of a context.
        max_num_tasks: u32 = 65536, TASKS;
    }
}

/// What a strict machine grants where the topology says nothing: the figures are those that programs for real cards are
/// known to get along with (a copy of 2 MiB, bursts of 2048 packets, 1 MiB through the channel at once), or, where none is
/// known, a sixty-fourth of what is granted otherwise, so that whoever asks no capability call is found out. Regions are as
/// many and as large as network cards of this kind publish.
const STRICT: &[(&str, &str, u64)] = &[
    ("memory", "max_regions", 1 << 24),
    ("memory", "max_region_size", 1 << 40),
    ("dma", "max_buf_size", 2 * MIB),
    ("dma", "max_num_tasks", 1024),
    ("sha", "max_src_buf_size", 64 * MIB),
    ("sha", "max_num_tasks", 1024),
    ("compress", "max_buf_size", 2 * MIB),
    ("compress", "max_num_tasks", 1024),
    ("aes_gcm", "max_num_tasks", 1024),
    ("erasure_coding", "max_block_size", 2 * MIB),
    ("erasure_coding", "max_num_tasks", 1024),
    ("rdma", "max_send_queue_size", 1024),
    ("rdma", "max_recv_queue_size", 1024),
    ("rdma", "max_num_connections", 64),
    ("comch", "max_recv_queue_size", 1024),
    ("comch", "max_send_tasks", 1024),
    ("comch", "max_stream_buf_size", MIB),
    ("comch", "max_stream_tasks", 1024),
    ("eth_rxq", "max_burst_size", 2048),
    ("eth_txq", "max_burst_size", 2048),
    ("sync_event", "max_num_tasks", 1024),
];

/// Limits that a topology file sets, which are as large as it says: engine and name.
pub(crate) type Given = Vec<(String, String)>;

impl Limits {
    /// Takes back what a strict machine does not grant, but for what was `given`.
    pub(crate) fn tighten(&mut self, given: &Given) {
        let granted = self.entries();
        for &(group, field, most) in STRICT {
            let is = |(g, f): (&str, &str)| g == group && f == field;
            let now = granted.iter().find(|(g, f, _)| is((g, f))).map(|(.., value)| *value);
            if now.is_some_and(|now| now > most) && !given.iter().any(|(g, f)| is((g, f))) {
                // The table is tested against the allowed values.
                let _ = self.set(group, field, most);
            }
        }
    }

    /// The limits of a card of this profile.
    pub fn of(profile: Profile) -> Limits {
        let mut limits = Limits::default();
        match profile {
            Profile::All | Profile::Cx7 => {}
            Profile::Bf2 => limits.compress.max_buf_size = 2 * MIB,
            Profile::Bf3 => {
                limits.dma.max_buf_size = 2 * MIB;
                limits.compress.max_buf_size = 2 * MIB;
            }
        }
        limits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profiles_have_the_limits_of_their_cards() {
        assert_eq!(Limits::of(Profile::Bf3).dma.max_buf_size, 2_097_152);
        assert!(Limits::of(Profile::All).dma.max_buf_size > 2_097_152);
        assert_eq!(Limits::of(Profile::All).compress.max_buf_size, 128 << 20);
        assert_eq!(Limits::of(Profile::Bf2).compress.max_buf_size, 2 << 20);
        for &profile in Profile::ALL {
            let limits = Limits::of(profile);
            assert_eq!((limits.dma.max_buf_list_len, limits.dma.max_num_tasks), (64, 65536));
            assert_eq!(limits.comch.max_msg_size, 4080);
            assert_eq!(limits.eth_rxq.max_packet_size, 9600);
        }
    }

    #[test]
    fn every_default_is_an_allowed_value_and_can_be_set_by_name() {
        for &profile in Profile::ALL {
            let wanted = Limits::of(profile);
            let mut limits = Limits::default();
            for (group, field, value) in wanted.entries() {
                assert_eq!(limits.set(group, field, value), Ok(()), "{group}.{field} = {value}");
            }
            assert_eq!(limits, wanted);
        }
    }

    #[test]
    fn setting_changes_that_limit_alone() {
        for (group, field, value) in Limits::default().entries() {
            let mut limits = Limits::default();
            let allowed = Limits::allowed(group, field).unwrap();
            let other = if value == *allowed.end() { *allowed.start() } else { *allowed.end() };
            limits.set(group, field, other).unwrap();
            let changed: Vec<_> = limits
                .entries()
                .into_iter()
                .zip(Limits::default().entries())
                .filter(|(now, before)| now != before)
                .map(|(now, _)| now)
                .collect();
            assert_eq!(changed, [(group, field, other)]);
        }
    }

    #[test]
    fn strict_limits_are_allowed_values_below_the_usual_ones() {
        for &profile in Profile::ALL {
            let (usual, mut strict) = (Limits::of(profile), Limits::of(profile));
            strict.tighten(&Given::new());
            for &(group, field, most) in STRICT {
                let value = |limits: &Limits| {
                    limits.entries().into_iter().find(|(g, f, _)| (*g, *f) == (group, field)).unwrap().2
                };
                assert!(Limits::allowed(group, field).unwrap().contains(&most), "{group}.{field}");
                assert_eq!(value(&strict), value(&usual).min(most), "{group}.{field} of {profile}");
            }
            let given: Given = STRICT.iter().map(|(g, f, _)| ((*g).to_owned(), (*f).to_owned())).collect();
            let mut as_given = usual.clone();
            as_given.tighten(&given);
            assert_eq!(as_given, usual);
        }
    }

    #[test]
    fn wrong_names_and_values_are_refused() {
        let mut limits = Limits::default();
        assert!(
            matches!(limits.set("dna", "max_buf_size", 1), Err(SetError::UnknownEngine(names)) if names.contains(&"dma"))
        );
        assert!(
            matches!(limits.set("dma", "size", 1), Err(SetError::UnknownLimit(names)) if names.contains(&"max_buf_size"))
        );
        assert_eq!(limits.set("dma", "max_num_tasks", 0), Err(SetError::OutOfRange(1..=1 << 20)));
        assert_eq!(limits, Limits::default());
    }
}
