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
    sha_digests,
    sha_imports,
    sha_not_there,
    sha_partial,
    sha_rules,
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
