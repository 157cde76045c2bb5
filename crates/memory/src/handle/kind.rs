//! Kind words, so that no two objects share one.

/// A device information record.
pub const DEVINFO: u32 = 0x5D0C_0001;
/// A device list.
pub const DEVLIST: u32 = 0x5D0C_0002;
/// An opened device.
pub const DEV: u32 = 0x5D0C_0003;
/// A representor information record.
pub const DEVINFO_REP: u32 = 0x5D0C_0004;
/// An opened representor.
pub const DEV_REP: u32 = 0x5D0C_0005;
/// A memory map.
pub const MMAP: u32 = 0x5D0C_0006;
/// A buffer.
pub const BUF: u32 = 0x5D0C_0007;
/// A buffer inventory.
pub const INVENTORY: u32 = 0x5D0C_0008;
/// A buffer pool.
pub const POOL: u32 = 0x5D0C_0009;
/// A buffer array.
pub const BUF_ARRAY: u32 = 0x5D0C_000A;
/// A progress engine.
pub const PE: u32 = 0x5D0C_000B;
/// A context, whatever its engine.
pub const CTX: u32 = 0x5D0C_000C;
/// A task.
pub const TASK: u32 = 0x5D0C_000D;
/// A session of the textbook face.
pub const SESSION: u32 = 0x5D0C_000E;
/// A task batch.
pub const BATCH: u32 = 0x5D0C_000F;
/// Registered memory of the textbook face.
pub const PRIMER_MEMORY: u32 = 0x5D0C_0010;
/// An event channel of the textbook face.
pub const PRIMER_CHANNEL: u32 = 0x5D0C_0011;
/// A key of the AES-GCM engine.
pub const AES_GCM_KEY: u32 = 0x5D0C_0020;
/// A matrix of the erasure coding engine.
pub const EC_MATRIX: u32 = 0x5D0C_0021;

/// A sync event.
pub const SYNC_EVENT: u32 = 0x5D0C_0030;
/// A sync event of an RDMA peer.
pub const SYNC_EVENT_NET: u32 = 0x5D0C_0031;
/// A task graph.
pub const GRAPH: u32 = 0x5D0C_0032;
/// A node of a task graph.
pub const GRAPH_NODE: u32 = 0x5D0C_0033;
/// An instance of a task graph.
pub const GRAPH_INSTANCE: u32 = 0x5D0C_0034;
/// A reader of clocks.
pub const CLOCK: u32 = 0x5D0C_0035;

/// A connection of the RDMA engine.
pub const RDMA_CONNECTION: u32 = 0x5D0C_0050;
/// An address of the RDMA engine.
pub const RDMA_ADDRESS: u32 = 0x5D0C_0051;

/// A schema of telemetry.
pub const TELEMETRY_SCHEMA: u32 = 0x5D0C_0070;
/// A source of telemetry.
pub const TELEMETRY_SOURCE: u32 = 0x5D0C_0071;
/// A type of telemetry records, not yet part of a schema.
pub const TELEMETRY_TYPE: u32 = 0x5D0C_0072;
/// A field of telemetry records, not yet part of a type.
pub const TELEMETRY_FIELD: u32 = 0x5D0C_0073;
/// A template of flow records.
pub const NETFLOW_TEMPLATE: u32 = 0x5D0C_0074;
/// A field of flow records, not yet part of a template.
pub const NETFLOW_FIELD: u32 = 0x5D0C_0075;

/// A connection of a server or client.
pub const COMCH_CONNECTION: u32 = 0x5D0C_0038;
/// A queue for messages inside a process.
pub const COMCH_MSGQ: u32 = 0x5D0C_0039;

/// What is told of received packets.
pub const ETH_EVENT: u32 = 0x5D0C_0060;
/// The array of packets of one receive event.
pub const ETH_PACKETS: u32 = 0x5D0C_0061;
/// A configuration of the steering library.
pub const FLOW_CFG: u32 = 0x5D0C_0062;
/// A configuration of a port of it.
pub const FLOW_PORT_CFG: u32 = 0x5D0C_0063;
/// A port of it.
pub const FLOW_PORT: u32 = 0x5D0C_0064;
/// A configuration of a pipe.
pub const FLOW_PIPE_CFG: u32 = 0x5D0C_0065;
/// A pipe.
pub const FLOW_PIPE: u32 = 0x5D0C_0066;

/// The name of a kind word, for messages.
pub fn name(word: u32) -> Option<&'static str> {
    Some(match word {
        DEVINFO => "device information",
        DEVLIST => "device list",
        DEV => "device",
        DEVINFO_REP => "representor information",
        DEV_REP => "representor",
        MMAP => "memory map",
        BUF => "buffer",
        INVENTORY => "buffer inventory",
        POOL => "buffer pool",
        BUF_ARRAY => "buffer array",
        PE => "progress engine",
        CTX => "context",
        TASK => "task",
        SESSION => "session",
        BATCH => "task batch",
        PRIMER_MEMORY => "registered memory",
        PRIMER_CHANNEL => "event channel",
        AES_GCM_KEY => "AES-GCM key",
        EC_MATRIX => "erasure coding matrix",
        COMCH_CONNECTION => "connection",
        COMCH_MSGQ => "message queue",
        SYNC_EVENT => "sync event",
        SYNC_EVENT_NET => "sync event of an RDMA peer",
        GRAPH => "graph",
        GRAPH_NODE => "graph node",
        GRAPH_INSTANCE => "graph instance",
        CLOCK => "clock",
        RDMA_CONNECTION => "RDMA connection",
        ETH_EVENT => "receive event",
        ETH_PACKETS => "packet array",
        FLOW_CFG => "flow configuration",
        FLOW_PORT_CFG => "port configuration",
        FLOW_PORT => "flow port",
        FLOW_PIPE_CFG => "pipe configuration",
        FLOW_PIPE => "flow pipe",
        RDMA_ADDRESS => "RDMA address",
        TELEMETRY_SCHEMA => "telemetry schema",
        TELEMETRY_SOURCE => "telemetry source",
        TELEMETRY_TYPE => "telemetry type",
        TELEMETRY_FIELD => "telemetry field",
        NETFLOW_TEMPLATE => "NetFlow template",
        NETFLOW_FIELD => "NetFlow field",
        _ => return None,
    })
}
