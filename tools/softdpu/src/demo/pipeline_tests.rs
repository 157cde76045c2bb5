//! Whether the pipeline notices what went wrong.

use super::*;
use softdpu::card::{EngineKind, Machine};

/// What did not come back as it was must not pass, wherever it went wrong.
#[test]
fn differences_are_found() {
    let session = crate::session::open(Machine::builder().build().unwrap());
    let device = session.first_with(EngineKind::Dma).and_then(|d| d.open()).unwrap();
    let mut pe = ProgressEngine::new(&session).unwrap();
    // Blocks that differ from each other: of equal ones the code makes equal ones.
    let bytes: Vec<u8> = (0..3_000_000u32).map(|i| (i >> 16) as u8).collect();
    let run = |pe: &mut ProgressEngine, wrong: fn(&mut Pipeline)| {
        let mut pipeline = Pipeline::open(&session, pe, &device).unwrap();
        wrong(&mut pipeline);
        pipeline.feed(pe, &bytes);
        pipeline.finish(pe);
        let mut stages = Stages::new(false);
        let outcome = pipeline.stop(pe).unwrap().report(&mut stages);
        let failed = stages.into_list().into_iter().find(|stage| !stage.ok).map(|stage| stage.name);
        (outcome, failed)
    };
    assert_eq!(run(&mut pe, |_| ()), (Ok(()), None));
    // Blocks computed with the matrices of other losses: the tags tell.
    let (outcome, failed) = run(&mut pe, |pipeline| pipeline.recovery.rotate_left(1));
    assert_eq!(failed, Some("aes_gcm_decrypt"), "{outcome:?}");
    // Nobody seals it: the stream is damaged, or what it gives has another hash.
    let (outcome, failed) = run(&mut pe, |pipeline| {
        pipeline.engines.aes_gcm = None;
        pipeline.recovery.rotate_left(1);
    });
    assert!(outcome.is_err() && failed.is_some());
    // Nor deflates it: only hash and comparison are left, and without the hash the comparison.
    let bare = |pipeline: &mut Pipeline| {
        pipeline.engines.aes_gcm = None;
        pipeline.engines.compress = None;
        pipeline.recovery.rotate_left(1);
    };
    assert_eq!(run(&mut pe, bare).1, Some("sha"));
    let (outcome, failed) = run(&mut pe, |pipeline| {
        pipeline.engines.aes_gcm = None;
        pipeline.engines.compress = None;
        pipeline.engines.sha = None;
        pipeline.recovery.rotate_left(1);
    });
    assert_eq!(
        (outcome, failed),
        (Err("compare: what came back differs from the original at byte 0".into()), Some("compare"))
    );
}
