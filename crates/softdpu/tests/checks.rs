//! The gallery of misuse in Rust: programs that break one rule and are told so, each with the correct program next to it,
//! in which nothing is found.

mod common;
use softdpu::Checks;
use softdpu::checks::{Finding, findings, finish};
use softdpu::dma::{Config, Dma, Memcpy};
use softdpu::prelude::*;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Findings are the process's: one program at a time.
static ONE: Mutex<()> = Mutex::new(());

/// A program: a device, memory, and what was found before.
struct Program {
    pe: ProgressEngine,
    device: Device,
    memory: Memory,
    before: usize,
    _one: MutexGuard<'static, ()>,
}

impl Program {
    fn new(board: Board) -> Program {
        common::watchdog();
        let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let session = Session::builder().checks(Checks::Full).board(board).open().unwrap();
        let device = session.first_with(EngineKind::Dma).unwrap().open().unwrap();
        let memory = Memory::heap(8192).access(Access::LOCAL_READ_WRITE).register(&[&device]).unwrap();
        let pe = ProgressEngine::new(&session).unwrap();
        Program { pe, device, memory, before: findings().len(), _one: one }
    }

    fn context(&mut self, config: Config) -> Context<Dma> {
        Context::<Dma>::start(&mut self.pe, &self.device, config).unwrap().wait(&mut self.pe).unwrap()
    }

    fn copy(&self, bytes: &[u8]) -> Memcpy {
        let (mut src, dst) = (self.memory.buf(..4096).unwrap(), self.memory.buf(4096..).unwrap());
        src.push_slice(bytes).unwrap();
        Memcpy { src, dst }
    }

    /// Waits until something is found, and it is this.
    fn until_found(&self, rule: &str) -> Finding {
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            match &findings()[self.before..] {
                [] => assert!(Instant::now() < end, "{rule} was not found"),
                [one] => {
                    assert_eq!(one.rule, rule, "{one}");
                    return one.clone();
                }
                more => panic!("{more:?}"),
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Ends a context and looks at what was found: nothing but this.
    fn end(mut self, context: Option<Context<Dma>>, rules: &[&str]) {
        if let Some(context) = context {
            context.stop().wait(&mut self.pe).unwrap();
        }
        while self.pe.progress() > 0 {}
        let found: Vec<_> = finish()[self.before..].iter().map(|finding| finding.rule).collect();
        assert_eq!(found, rules);
    }
}

/// Longer than any rule waits.
fn rest() {
    std::thread::sleep(Duration::from_millis(2600));
}

fn in_flight_and_not_progressed(board: Board) {
    let mut program = Program::new(board);
    let mut dma = program.context(Config::default());
    let flying = dma.submit(program.copy(b"bytes")).unwrap();
    let found = program.until_found("never-progressed");
    assert!(found.text.contains("dma context") && found.text.contains("1 tasks in flight"), "{found}");
    assert_eq!(program.pe.run(flying).result, Ok(5));
    program.end(Some(dma), &["never-progressed"]);
}

#[test]
fn a_program_that_only_waits_waits_for_ever() {
    in_flight_and_not_progressed(Board::inline());
}

#[test]
fn workers_do_not_report_what_they_carried_out() {
    in_flight_and_not_progressed(Board::threads());
}

#[test]
fn who_progresses_may_rest() {
    let mut program = Program::new(Board::inline());
    let mut dma = program.context(Config::default());
    let flying = dma.submit(program.copy(b"bytes")).unwrap();
    program.pe.progress();
    // Done, and taken later: nothing flies.
    rest();
    assert_eq!(program.pe.run(flying).result, Ok(5));
    program.end(Some(dma), &[]);
}

#[test]
fn a_handler_that_takes_seconds_holds_up_its_engine() {
    let mut program = Program::new(Board::inline());
    let before = program.before;
    let handler: Handler<Memcpy> = Box::new(move |_, _| {
        let end = Instant::now() + Duration::from_secs(60);
        while findings().len() == before && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(10));
        }
        Next::Free
    });
    let mut dma = program.context(Config { on_memcpy: Some(handler), ..Config::default() });
    dma.post(program.copy(b"bytes")).unwrap();
    program.pe.progress();
    program.until_found("callback-blocks");
    program.end(Some(dma), &["callback-blocks"]);
}

#[test]
fn a_handler_may_leave_long_work_to_others() {
    let mut program = Program::new(Board::inline());
    let mut dma =
        program.context(Config { on_memcpy: Some(Box::new(|_, _| Next::Free)), ..Config::default() });
    dma.post(program.copy(b"bytes")).unwrap();
    program.pe.progress();
    rest();
    program.end(Some(dma), &[]);
}

/// A copy that cannot be, tried all the same: its source has no data.
fn impossible(dma: &mut Context<Dma>, mut copy: Memcpy, times: u32) -> Memcpy {
    for _ in 0..times {
        let refused = dma.submit(copy).unwrap_err();
        assert_eq!(refused.error.class(), Class::Parameter);
        copy = refused.back;
    }
    copy
}

#[test]
fn an_error_of_the_parameter_class_does_not_pass() {
    let mut program = Program::new(Board::inline());
    let mut dma = program.context(Config::default());
    let copy = program.copy(b"");
    drop(impossible(&mut dma, copy, 200));
    let found = program.until_found("retry-parameter");
    assert!(found.text.contains("100 submits"), "{found}");
    program.end(Some(dma), &["retry-parameter"]);
}

#[test]
fn refusals_now_and_then_are_no_retries() {
    let mut program = Program::new(Board::inline());
    let mut dma = program.context(Config::default());
    for _ in 0..20 {
        let copy = program.copy(b"");
        let Memcpy { mut src, dst } = impossible(&mut dma, copy, 20);
        src.push_slice(b"bytes").unwrap();
        let flying = dma.submit(Memcpy { src, dst }).unwrap();
        assert_eq!(program.pe.run(flying).result, Ok(5));
    }
    rest();
    program.end(Some(dma), &[]);
}

#[test]
fn a_forgotten_context_is_left_at_the_end() {
    let mut program = Program::new(Board::inline());
    let dma = program.context(Config::default());
    std::mem::forget(dma);
    program.end(None, &["never-freed"]);
}

#[test]
fn a_dropped_context_ends_with_progress() {
    let mut program = Program::new(Board::inline());
    let mut dma = program.context(Config::default());
    let flying = dma.submit(program.copy(b"bytes")).unwrap();
    drop((flying, dma));
    program.end(None, &[]);
}

/// Two copies that are through, for which somebody keeps the futures.
fn two_that_are_kept(program: &mut Program, dma: &mut Context<Dma>) -> Vec<InFlight<Memcpy>> {
    let mut copies = (0..2).map(|n| small(program, n));
    let kept: Vec<_> = copies.by_ref().map(|copy| dma.submit(copy).unwrap()).collect();
    drop(copies);
    while kept.iter().any(|flying| !flying.is_done()) {
        program.pe.progress();
    }
    kept
}

fn small(program: &Program, n: usize) -> Memcpy {
    let mut src = program.memory.buf(n * 64..n * 64 + 64).unwrap();
    src.push_slice(b"bytes").unwrap();
    Memcpy { src, dst: program.memory.buf(4096 + n * 64..4096 + n * 64 + 64).unwrap() }
}

#[test]
fn results_that_nobody_takes_keep_their_places() {
    let mut program = Program::new(Board::inline());
    let mut dma = program.context(Config { memcpy: 2, ..Config::default() });
    let kept = two_that_are_kept(&mut program, &mut dma);
    let end = Instant::now() + Duration::from_secs(60);
    let mut copy = small(&program, 2);
    while findings().len() == program.before && Instant::now() < end {
        let refused = dma.submit(copy).unwrap_err();
        assert_eq!(refused.error.code(), Code::Full);
        copy = refused.back;
        program.pe.progress();
        std::thread::sleep(Duration::from_millis(1));
    }
    program.until_found("tasks-not-freed");
    drop((kept, copy));
    program.end(Some(dma), &["tasks-not-freed"]);
}

#[test]
fn who_takes_results_gets_on() {
    let mut program = Program::new(Board::inline());
    let mut dma = program.context(Config { memcpy: 2, ..Config::default() });
    for _ in 0..50 {
        let kept = two_that_are_kept(&mut program, &mut dma);
        let mut copy = small(&program, 2);
        for _ in 0..20 {
            copy = dma.submit(copy).unwrap_err().back;
        }
        std::thread::sleep(Duration::from_millis(20));
        drop((kept, copy));
    }
    program.end(Some(dma), &[]);
}

/// A stream that is none, and what becomes of it if its future is `kept`.
fn a_damaged_stream(kept: bool, rules: &[&str]) {
    use softdpu::compress::{Compress, DecompressDeflate};
    let mut program = Program::new(Board::inline());
    let (pe, device) = (&mut program.pe, &program.device);
    let mut context = Context::<Compress>::start(pe, device, Default::default()).unwrap().wait(pe).unwrap();
    let mut src = program.memory.buf(..64).unwrap();
    src.push_slice(&[0xff; 64]).unwrap();
    let task = DecompressDeflate { src, dst: program.memory.buf(4096..).unwrap() };
    let mut flying = Some(context.submit(task).unwrap());
    if !kept {
        drop(flying.take());
    }
    while context.in_flight() != 0 {
        pe.progress();
    }
    if let Some(flying) = flying {
        assert_eq!(pe.run(flying).result.unwrap_err().code(), Code::IoFailed);
    }
    context.stop().wait(pe).unwrap();
    program.end(None, rules);
}

#[test]
fn nobody_learns_of_a_failure_whose_future_is_gone() {
    a_damaged_stream(false, &["result-ignored"]);
}

#[test]
fn a_failure_may_be_heard_of_late() {
    a_damaged_stream(true, &[]);
}
