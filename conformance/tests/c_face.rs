//! The C face, seen from outside: every program of `conformance/c` compiled and run, one test each.

use softdpu_conformance::program::{self, Program};

macro_rules! programs {
    ($($name:ident),* $(,)?) => {
        /// The programs that have a test below.
        const LISTED: &[&str] = &[$(stringify!($name)),*];
        $(
            #[test]
            fn $name() {
                program::check(stringify!($name));
            }
        )*
    };
}

programs! {
    aes_gcm_caps,
    aes_gcm_forged,
    aes_gcm_messages,
    aes_gcm_not_there,
    aes_gcm_rules,
    argp_cli,
    argp_commands,
    argp_devices,
    argp_json,
    argp_rules,
    base_classes,
    base_errors,
    base_not_there,
    base_types,
    buf_array,
    buf_chains,
    buf_inventory,
    buf_pool,
    buf_refcounts,
    buf_threads,
    buf_windows,
    clock_readings,
    comch_asleep,
    comch_msgq,
    comch_path_killed,
    comch_path_large,
    comch_path_limits,
    comch_wrong_function,
    compress_caps,
    compress_lz4,
    compress_rules,
    compress_windows,
    compress_zlib_file,
    ctx_quiet_memory,
    ctx_states,
    ctx_stop_rules,
    ctx_unfreed_tasks,
    dev_choices,
    dev_lists,
    dev_properties,
    dev_representors,
    dev_threads,
    dev_topology,
    dma_copies,
    dma_order,
    dma_rules,
    ec_large,
    ec_profile_bf2,
    ec_rules,
    ec_tasks,
    fuzz_calls,
    fuzz_lists,
    fuzz_states,
    graph_nested,
    graph_rules,
    graph_runs,
    handles_wrong_kind,
    log_backends,
    log_causes,
    log_levels,
    log_sources,
    log_threads,
    mmap_advise,
    mmap_attributes,
    mmap_dmabuf,
    mmap_export,
    mmap_export_race,
    mmap_free_cb,
    mmap_kinds,
    mmap_large,
    mmap_memlock,
    mmap_permissions,
    mmap_states,
    pe_events_edge,
    pe_events_level,
    pe_nested,
    pe_reshape,
    pe_rules,
    process_fork,
    rdma_manager,
    rdma_messages,
    rdma_onesided,
    rdma_processes,
    rdma_rules,
    sha_digests,
    sha_imports,
    sha_not_there,
    sha_partial,
    sha_rules,
    share_engines,
    share_kernel,
    share_mapped,
    share_waits,
    share_worker,
    sync_event_direct,
    sync_event_net,
    sync_event_tasks,
    sync_event_two_sides,
    task_basics,
    task_batches,
    task_checked_submit,
    task_flags,
    task_pool,
    use_async_stop,
    use_copy_tool,
    use_coroutine,
    use_event_loop,
    use_failing_task,
    use_file_copy,
    use_gather_scatter,
    use_hand_over,
    use_local_copy,
    use_many_contexts,
    use_parallel_init,
    use_pick_device,
    use_raii,
    use_reactive,
    use_resubmit,
    use_signal_stop,
    use_slot_ring,
    use_thread_each,
    use_two_sides,
    x_clock_cross,
    x_clock_readings,
    x_clock_rules,
    x_comch_counters,
    x_comch_crossfire,
    x_comch_dead_handles,
    x_comch_deaf_server,
    x_comch_descriptor,
    x_comch_events,
    x_comch_far_ahead,
    x_comch_first_words,
    x_comch_freed_in_callbacks,
    x_comch_frozen,
    x_comch_full_house,
    x_comch_killed_client,
    x_comch_killed_server,
    x_comch_last_word,
    x_comch_many_clients,
    x_comch_msgq,
    x_comch_names,
    x_comch_nobody_there,
    x_comch_not_there,
    x_comch_one_guest,
    x_comch_path_children,
    x_comch_path_consumers,
    x_comch_path_drop,
    x_comch_path_events,
    x_comch_path_first_bytes,
    x_comch_path_immediate,
    x_comch_path_in_callbacks,
    x_comch_path_secure_channel,
    x_comch_path_spin,
    x_comch_path_stop_in_stream,
    x_comch_plain_memory,
    x_comch_raii,
    x_comch_reconnect,
    x_comch_rules,
    x_comch_same_name_race,
    x_comch_sides,
    x_comch_sloppy_exit,
    x_comch_slow_progress,
    x_comch_spawns,
    x_comch_sync_sample,
    x_comch_thread_of_callbacks,
    x_comch_too_long,
    x_comch_two_processes,
    x_graph_events,
    x_graph_failures,
    x_graph_nested,
    x_graph_order,
    x_graph_rules,
    x_graph_two_copies,
    x_share_another_user,
    x_share_churn,
    x_share_forged,
    x_share_hand_over,
    x_share_importer_dies,
    x_share_kinds,
    x_share_lists,
    x_share_many_importers,
    x_share_owner_dies,
    x_share_raii,
    x_share_read_only,
    x_share_stopped,
    x_share_third,
    x_share_threads,
    x_share_which_side,
    x_share_windows,
    x_sync_blobs,
    x_sync_blocked_waiter,
    x_sync_contention,
    x_sync_deaths,
    x_sync_frozen_owner,
    x_sync_modes,
    x_sync_pair,
    x_sync_plain,
    x_sync_storage,
    x_sync_tasks,
    x_sync_waits,
}

#[test]
fn every_program_has_its_test() {
    let names = Program::names().unwrap();
    for name in &names {
        Program::find(name).unwrap();
        assert!(LISTED.contains(&name.as_str()), "{name} is missing in the list of this file");
    }
    assert_eq!(names.len(), LISTED.len());
}

/// A program written from memory, with the wrong types: the compiler names exactly those lines.
#[test]
fn wrong_arguments_are_found_by_the_compiler() {
    let text = "\
#include <doca_buf.h>
#include <doca_dma.h>
#include <doca_mmap.h>
#include <doca_pe.h>

void f(struct doca_mmap *map, struct doca_dev *dev, struct doca_dma *dma, struct doca_pe *pe);
void f(struct doca_mmap *map, struct doca_dev *dev, struct doca_dma *dma, struct doca_pe *pe)
{
    const void *desc;
    size_t len;

    (void)doca_mmap_export_pci(map, dev, &desc, &len);
    (void)doca_mmap_export_pci(map, dev, desc, len);
    (void)doca_mmap_set_permissions(map);
    (void)doca_pe_connect_ctx(pe, doca_dma_as_ctx(dma));
    (void)doca_pe_connect_ctx(pe, dma);
    (void)doca_dma_memcpy(dma, map, map);
}
";
    for standard in ["c11", "c++17"] {
        let lines = program::error_lines(standard, text).unwrap();
        assert_eq!(lines, [13, 14, 16, 17], "{standard}");
    }
}
