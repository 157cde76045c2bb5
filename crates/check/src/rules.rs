//! The rules, one line of this table each: what a message says and what its page in the manual says.

/// A rule that programs can break.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// What it is called in messages, reports and the manual.
    pub id: &'static str,
    /// What a message says about the object.
    pub says: &'static str,
    /// What a message says about the remedy.
    pub todo: &'static str,
    /// Why it matters, for the manual.
    pub why: &'static str,
}

macro_rules! rules {
    ($($name:ident $id:literal $says:literal $todo:literal $why:literal;)*) => {
        $(pub(crate) static $name: Rule = Rule { id: $id, says: $says, todo: $todo, why: $why };)*
        /// All rules, in the order of the manual.
        pub static RULES: &[&Rule] = &[$(&$name,)*];
    };
}

rules! {
    DEVICE_IN_USE "device-in-use"
        "is closed while objects use it"
        "destroy contexts and memory maps of the device first"
        "Contexts, memory maps and imports hold their device. Closing it earlier is refused, and a program that does not look at the status leaves it open.";
    ENGINE_IN_USE "engine-in-use"
        "is destroyed while contexts are connected to it"
        "stop and destroy its contexts first"
        "A context stays connected to its progress engine until it is destroyed. Destroying the engine first is refused.";
    MAP_IN_USE "map-in-use"
        "is destroyed while buffers or pools of it are alive"
        "give all of its buffers back first (doca_buf_dec_refcount)"
        "A buffer refers to the map it was taken from. A map with buffers cannot be destroyed; memory behind it must stay, too.";
    INVENTORY_IN_USE "inventory-in-use"
        "is destroyed while buffers of it are alive"
        "give all of its buffers back first (doca_buf_dec_refcount)"
        "An inventory with buffers cannot be destroyed. Often a reference count was not dropped on an error path or in an error callback.";
    POOL_IN_USE "pool-in-use"
        "is destroyed while buffers of it are alive"
        "give all of its buffers back first (doca_buf_dec_refcount)"
        "A buffer pool with buffers cannot be destroyed.";
    CONTEXT_NOT_IDLE "context-not-idle"
        "is destroyed before it is idle"
        "call doca_ctx_stop, then doca_pe_progress until the state is IDLE, and free every task"
        "Stopping takes time: doca_ctx_stop answers DOCA_ERROR_IN_PROGRESS while tasks are in flight or were not freed, and only progress brings the context to IDLE.";
    DOUBLE_DESTROY "double-destroy"
        "is destroyed a second time"
        "destroy it once; set the pointer to NULL afterwards"
        "The handle of a destroyed object is refused for a while; once its place was given out again, the second call destroys somebody else's object.";
    USE_AFTER_DESTROY "use-after-destroy"
        "is used after it was destroyed"
        "destroy it after its last use"
        "The handle of a destroyed object is refused for a while; once its place was given out again, the call meets somebody else's object.";
    DOUBLE_FREE "double-free"
        "is freed a second time"
        "free a task once: in its callback, or where it is waited for, not in both"
        "The place of a freed task is given to the next one that is allocated; the second call then frees that.";
    FREE_IN_FLIGHT "free-in-flight"
        "is freed while it is in flight"
        "wait for its completion callback, then free it"
        "A task in flight belongs to the library until its callback.";
    USE_AFTER_FREE "use-after-free"
        "is submitted after it was freed"
        "allocate another one, or free it later"
        "The place of a freed task is given to the next one that is allocated.";
    SUBMIT_IN_FLIGHT "submit-in-flight"
        "is submitted while it is in flight"
        "wait for its completion callback, or allocate another task"
        "A task can be submitted again in or after its callback, not before.";
    SUBMIT_NOT_RUNNING "submit-not-running"
        "is submitted while its context is not running"
        "submit between the start of the context (state RUNNING) and its stop; a failed task of some engines stops its context"
        "Tasks are taken by running contexts only. A context may take a while to start, and after a failed DMA task it stops by itself: look at its state, or set a callback for it.";
    TASK_NOT_RUNNING "task-not-running"
        "is asked for a task while it is not running"
        "start it, and progress until its state is RUNNING, before tasks are allocated"
        "The pools of tasks exist from start to stop.";
    NEVER_PROGRESSED "never-progressed"
        "has tasks in flight and nobody calls doca_pe_progress"
        "call doca_pe_progress until the callbacks have come"
        "Callbacks run inside doca_pe_progress and nowhere else. A program that only waits, waits for ever.";
    WRONG_ENGINE "wrong-engine"
        "has tasks in flight, and another progress engine is progressed"
        "progress the engine that the context of the tasks was connected to"
        "Each context reports to the one engine it is connected to.";
    PROGRESS_TWO_THREADS "progress-two-threads"
        "is progressed by two threads at the same time"
        "give each thread an engine of its own, or a lock"
        "A progress engine and its contexts belong to one thread at a time.";
    PROGRESS_NESTED "progress-nested"
        "is progressed from inside one of its callbacks"
        "return from the callback; the loop outside calls progress again"
        "Progress does not nest.";
    CALLBACK_BLOCKS "callback-blocks"
        "has been inside one callback for a long time"
        "let callbacks return soon; do long work outside of progress"
        "While a callback runs nothing else of its progress engine is reported.";
    DESTROY_IN_CALLBACK "destroy-in-callback"
        "is destroyed from inside one of its callbacks"
        "destroy it after doca_pe_progress has returned"
        "The progress engine is at work while its callbacks run.";
    TASKS_NOT_FREED "tasks-not-freed"
        "has no task left, and none is in flight that could come back"
        "free tasks in their callbacks, or submit them again instead of allocating others"
        "A completed task stays allocated until it is freed. When all of a pool are, no progress brings one back.";
    INVENTORY_EMPTY "inventory-empty"
        "has no buffer left"
        "give buffers back when their tasks have ended (doca_buf_dec_refcount), or make the inventory larger"
        "Completion and freeing of a task do not touch the reference counts of its buffers: the program drops them.";
    WINDOW_PAST_MAP "window-past-map"
        "is asked for a buffer that does not lie inside its range"
        "keep address and length inside the range that was given to doca_mmap_set_memrange"
        "A buffer is a window into one memory map, whole.";
    MAP_NOT_STARTED "map-not-started"
        "is asked for a buffer while it is not started"
        "call doca_mmap_start after the range and the devices were set"
        "A map can be used between doca_mmap_start and doca_mmap_stop.";
    INVENTORY_NOT_STARTED "inventory-not-started"
        "is asked for a buffer while it is not started"
        "call doca_buf_inventory_start first"
        "An inventory gives out buffers between start and stop.";
    NO_DATA "no-data"
        "is submitted with a source that has no data"
        "set the data with doca_buf_set_data, or take the buffer by doca_buf_inventory_buf_get_by_data"
        "A buffer taken by address has a length, but no data in it: its data length is 0 until it is set.";
    DESTINATION_TOO_SMALL "destination-too-small"
        "is submitted with a destination that has not enough room"
        "make the destination larger; results go behind the data that is in it, so reset its data length"
        "Results are appended behind the data of the destination. A destination that is used again still holds what the task before wrote.";
    MISSING_PERMISSION "missing-permission"
        "is submitted with a destination that devices may only read"
        "give its map DOCA_ACCESS_FLAG_LOCAL_READ_WRITE with doca_mmap_set_permissions before start"
        "Devices write only where the map allows it.";
    OVERLAP_IN_FLIGHT "overlap-in-flight"
        "is submitted with memory that another task in flight uses"
        "give tasks that are in flight together separate memory, or wait for the first one"
        "Tasks in flight are carried out in any order, also at the same time: what ends up in the memory is undefined.";
    SOURCE_CHANGED "source-changed"
        "has another source now than when it was submitted"
        "leave the memory of a task alone from submit until its callback"
        "The engine reads the source at some moment between submit and completion; what it gets is undefined when it changes meanwhile. Check mode compares a digest of the source at submit and at completion: for the first 1024 tasks, then for one of 64; of long sources both ends.";
    DESTINATION_TOUCHED "destination-touched"
        "has ended, and its destination holds something else than it wrote"
        "leave the memory of a task alone from submit until its callback"
        "A task is complete when its callback runs, and not before. Check mode looks at the same copies as for source-changed.";
    BUFFER_IN_FLIGHT "buffer-in-flight"
        "is given back while a task in flight uses it"
        "give it back in the callback of the task"
        "A task refers to its buffers until its callback.";
    EXPORT_NOT_STARTED "export-not-started"
        "is exported while it is not started"
        "call doca_mmap_start first"
        "What is exported is the started map: its range, its devices and rights.";
    EXPORT_PERMISSION "export-permission"
        "is exported without the right that the other side needs"
        "set DOCA_ACCESS_FLAG_PCI_READ_ONLY or PCI_READ_WRITE (RDMA_READ, RDMA_WRITE for RDMA) with doca_mmap_set_permissions before start"
        "The rights of a map say who may use it: devices of this side, the other side of the PCIe bus, RDMA peers.";
    START_WITHOUT_ENGINE "start-without-engine"
        "is started without a progress engine"
        "call doca_pe_connect_ctx before doca_ctx_start"
        "A context reports to a progress engine, which it must know from the start on.";
    START_WITHOUT_TASKS "start-without-tasks"
        "is started without any kind of task"
        "call the set_conf function of each kind of task that is wanted before doca_ctx_start"
        "Pools of tasks are laid out when the context starts.";
    MEMORY_GONE "memory-gone"
        "is started while the memory under it is given back or protected"
        "stop or destroy the map first (doca_mmap_destroy), then free its memory"
        "Engines use the memory of a started map at any time, also on other threads. Freed memory may be in use again for something else by then; unmapped memory ends the program.";
    CONTEXT_IN_USE "context-in-use"
        "is stopped while producers or consumers of it are alive"
        "stop and destroy producers and consumers first, then the server, client or message queue"
        "Producers and consumers are children of a connection or of a message queue: it cannot end before them, nor can the context that it belongs to.";
    NOT_CONNECTED "not-connected"
        "is used for a task before it is connected or after it has ended"
        "send between the callback that reports a connection and its end; forget the handle when the end is reported or asked for"
        "Tasks for a connection that does not stand fail, with RDMA as late as at their completion.";
    SEND_WAITS "send-waits"
        "has been in flight for a long time while its engine was progressed"
        "let the other side post receives before messages come, and post each anew in its callback"
        "A message needs a receive on the other side. Without one it waits: because none was ever posted, because completed ones were not posted anew, or because nobody progresses there.";
    AGAIN_WITHOUT_PROGRESS "again-without-progress"
        "is asked again and again for what only progress brings, without a call of progress"
        "call doca_pe_progress before the next attempt"
        "Room in queues and pools comes with completions, and these with doca_pe_progress. A loop that only repeats the call never ends.";
    NOT_ARMED "not-armed"
        "has tasks in flight, and its notification handle was not armed after the last progress"
        "call doca_pe_request_notification, then progress once more, before each sleep"
        "The handle is signalled once per arming. A program that sleeps on it without having armed it again sleeps for ever.";
    EVENT_NOT_STARTED "event-not-started"
        "is used before it is started"
        "call doca_sync_event_start, or start its context"
        "An event has its value from start to stop.";
    GRAPH_IN_USE "graph-in-use"
        "is stopped or destroyed while instances of it are alive"
        "destroy the instances first, each after its callback"
        "An instance is a run of its graph, which it needs.";
    INSTANCE_IN_FLIGHT "instance-in-flight"
        "is submitted or destroyed while it is in flight"
        "wait for the callback of its graph"
        "One instance runs once at a time; several runs at a time need several instances.";
    IMPORT_WRONG_SIDE "import-wrong-side"
        "is asked to import memory, which it cannot"
        "import on the card's side: open a function of the card (doca_mmap_cap_is_create_from_export_pci_supported tells)"
        "Memory of the host is exported by a host function and imported by a function of the card. The profile all lets every function do both; cards do not.";
    WRONG_REPRESENTOR "wrong-representor"
        "is for another function than the one that it is used with"
        "list the representors of the very device that the server runs on, and take the one of the function that the client opens"
        "A server serves the clients of one host function: the one whose representor it was given. Clients of other functions find nobody and become idle again.";
    QUEUE_NOT_STARTED "queue-not-started"
        "is asked for a producer or consumer while it is not started"
        "call doca_comch_msgq_start first"
        "A message queue has producers and consumers from its start to its stop.";
    RANGE_SET_TWICE "range-set-twice"
        "is given a range a second time"
        "make one map per range, or one range that holds both"
        "A map has one range for life, set by doca_mmap_set_memrange or one of its relatives; a second one is refused.";
    TASK_TOO_LARGE "task-too-large"
        "is submitted with more data than its device takes at once"
        "cut the data into several tasks; the capability call for the largest buffer of the engine tells the limit of the device that was opened"
        "Limits differ between cards: a size that one takes fails on another.";
    REFUSAL_IGNORED "refusal-ignored"
        "was refused at submit, and neither submitted again nor freed while the program waits"
        "look at the status of doca_task_submit; after DOCA_ERROR_AGAIN, FULL and the like progress, then submit the task again"
        "A task that was refused has no callback. Whoever counts it among those in flight waits for ever.";
    NOT_CLEARED "not-cleared"
        "is armed again and again without having been cleared"
        "call doca_pe_clear_notification after each wake-up, or choose DOCA_PE_EVENT_MODE_PROGRESS_ALL"
        "In the event mode DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE, which is the one that an engine begins with, a notification stands until it is cleared: where arming does not clear, the next sleep ends at once.";
    FORK_AFTER_OPEN "fork-after-open"
        "was opened before a fork, and the child uses the library"
        "fork before the first device is opened, or let the child begin anew with exec"
        "Threads, mappings and queues of a card do not survive a fork; every call of the child is refused.";
    PACKETS_HELD "packets-held"
        "is stopped and waits for packets that the program has"
        "give every packet back (doca_buf_dec_refcount, or the whole batch at once), then progress until the state is IDLE"
        "Packets of events lie in the queue's own memory: it cannot become idle before it has all of them back, and receives nothing when all are out.";
    FLOW_NOT_STARTED "flow-not-started"
        "is used before doca_flow_init or after doca_flow_destroy"
        "call doca_flow_init before the first port is started, and doca_flow_destroy when all are stopped"
        "Ports, pipes and entries exist from doca_flow_init to doca_flow_destroy.";
    ENTRIES_NOT_PROCESSED "entries-not-processed"
        "has entries that were added and never processed"
        "call doca_flow_entries_process on the port and the queue of the entries until all are done"
        "Entries are only queued when they are added. Some cards put them into effect at once, others not before they are processed.";
    RETRY_PARAMETER "retry-parameter"
        "is repeated although its error does not pass"
        "retry only after DOCA_ERROR_AGAIN and the like; doca_error_is_retryable tells"
        "An error of the parameter class says that the call itself is wrong.";
    NEVER_FREED "never-freed"
        "is never given back"
        "destroy what was made, children first"
        "Whatever is left at the end of the program would be lost in one that goes on.";
}

/// The manual: a page per rule, in Markdown.
pub fn manual() -> String {
    let mut out = String::from(
        "# What check mode finds\n\n`softdpu run --check -- PROGRAM` says on stderr, one line per finding:\n\n```text\n\
         softdpu: check: RULE: object (name, place of creation): what it does: numbers: what to do\n```\n\n\
         Places are `function (file:line)` where the program has debug information (`-g`).\n",
    );
    for rule in RULES {
        out += &format!(
            "\n## {}\n\nAn object {}.\n\n{}\n\nWhat to do: {}.\n",
            rule.id, rule.says, rule.why, rule.todo
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_have_names_of_their_own() {
        let mut names: Vec<_> = RULES.iter().map(|rule| rule.id).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), RULES.len());
        assert!(names.iter().all(|n| n.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')));
    }

    /// `SOFTDPU_WRITE=1` writes the page anew.
    #[test]
    fn the_manual_is_up_to_date() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rules.md");
        if std::env::var_os("SOFTDPU_WRITE").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, manual()).unwrap();
        }
        assert_eq!(std::fs::read_to_string(path).unwrap(), manual());
    }
}
