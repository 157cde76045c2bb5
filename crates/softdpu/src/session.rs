//! [`Session`]: one software machine, and the board its work runs on.

use core::fmt;
use softdpu_card::{ConfigError, EngineKind, Machine, MachineBuilder, Profile, View};
use softdpu_room::session as room;
use softdpu_status::{Code, Error, Result};
use std::path::PathBuf;

pub use softdpu_room::session::{Device, DeviceInfo};

/// One software machine: its cards, as this process sees them, and the [`Board`] its contexts run on. Cheap to clone; any
/// thread. Devices keep what they need of it; it may go first.
///
/// ```
/// use softdpu::prelude::*;
/// # fn main() -> softdpu::Result<()> {
/// let session = Session::builder().board(Board::inline()).open()?;
/// let device = session.device("03:00.0")?.open()?;
/// let mut pe = ProgressEngine::new(&session)?;
/// # let _ = (device, pe.progress());
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Session(room::Session);

impl Session {
    /// The machine that the environment describes, with the threaded board.
    ///
    /// `SOFTDPU_CONFIG` names a topology file, `SOFTDPU_PROFILE` is the profile of every card (`all`, `bf2`, `bf3`,
    /// `cx7`), `SOFTDPU_SIDE` chooses the functions that are seen (`dpu`, `host`, `both`). Without them there is one card
    /// that can do everything, seen from both sides.
    ///
    /// ```
    /// use softdpu::Session;
    /// # fn main() -> softdpu::Result<()> {
    /// let session = Session::open()?;
    /// println!("{} devices", session.devices().len());
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// As [`SessionBuilder::open`].
    pub fn open() -> Result<Session> {
        Session::builder().open()
    }

    /// A session that is put together by the program.
    ///
    /// ```
    /// use softdpu::card::{Profile, View};
    /// use softdpu::prelude::*;
    /// # fn main() -> softdpu::Result<()> {
    /// let session = Session::builder().profile(Profile::Bf3).side(View::Host).board(Board::inline()).open()?;
    /// assert_eq!(session.devices().len(), 2);
    /// # Ok(()) }
    /// ```
    pub fn builder() -> SessionBuilder {
        SessionBuilder::default()
    }

    /// A session on a machine that is there already.
    ///
    /// ```
    /// use softdpu::card::Machine;
    /// use softdpu::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let machine = Machine::builder().config_text("[[card]]\nprofile = \"bf2\"").build()?;
    /// let session = Session::new(machine, Board::inline());
    /// assert_eq!(session.machine().functions().len(), session.devices().len());
    /// # Ok(()) }
    /// ```
    pub fn new(machine: Machine, board: impl Into<Board>) -> Session {
        Session(room::Session::new(machine, board.into().0))
    }

    /// What this process sees of the cards.
    pub fn machine(&self) -> &Machine {
        self.0.machine()
    }

    /// The board its contexts run on.
    ///
    /// ```
    /// use softdpu::prelude::*;
    /// # fn main() -> softdpu::Result<()> {
    /// let session = Session::builder().board(Board::inline()).open()?;
    /// assert_eq!(session.board().name(), "inline");
    /// # Ok(()) }
    /// ```
    pub fn board(&self) -> Board {
        Board(self.0.board())
    }

    /// The devices, in the order of the machine's table.
    ///
    /// ```
    /// use softdpu::prelude::*;
    /// # fn main() -> softdpu::Result<()> {
    /// # let session = Session::builder().board(Board::inline()).open()?;
    /// let names: Vec<_> = session.devices().iter().map(|d| d.name()).collect();
    /// assert_eq!(names[0], "0000:03:00.0");
    /// # Ok(()) }
    /// ```
    pub fn devices(&self) -> Vec<DeviceInfo> {
        self.0.devices()
    }

    /// The device with this PCI address (with or without domain, any case), interface name or RDMA device name.
    ///
    /// ```
    /// use softdpu::prelude::*;
    /// # fn main() -> softdpu::Result<()> {
    /// # let session = Session::builder().board(Board::inline()).open()?;
    /// let one = session.device("0000:03:00.0")?;
    /// let same = session.device(one.function().iface())?;
    /// assert_eq!(one.name(), same.name());
    /// assert_eq!(session.device("eth7").unwrap_err().code(), Code::NotFound);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// NotFound; the log line lists the devices there are.
    pub fn device(&self, name: &str) -> Result<DeviceInfo> {
        self.0.device(name)
    }

    /// The first device that has this engine.
    ///
    /// ```
    /// use softdpu::prelude::*;
    /// # fn main() -> softdpu::Result<()> {
    /// # let session = Session::builder().board(Board::inline()).open()?;
    /// let device = session.first_with(EngineKind::Dma)?.open()?;
    /// # let _ = device;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// NotFound.
    pub fn first_with(&self, engine: EngineKind) -> Result<DeviceInfo> {
        self.0.first_with(engine)
    }
}

impl AsRef<room::Session> for Session {
    fn as_ref(&self) -> &room::Session {
        &self.0
    }
}

/// How closely a program is looked at: see [`SessionBuilder::checks`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Checks {
    /// Not at all; this costs nothing.
    #[default]
    Off,
    /// By all rules of [`checks`](crate::checks).
    Full,
}

/// A session to be: see [`Session::builder`]. What is not said comes from the environment, the board is the threaded one.
///
/// Whoever names a machine, a file or a profile has described the machine: the environment is not asked any more.
#[derive(Clone, Debug, Default)]
#[must_use = "a session is opened by `open`"]
pub struct SessionBuilder {
    machine: Option<Machine>,
    cards: Option<MachineBuilder>,
    board: Option<Board>,
    seed: Option<u64>,
    faults: Option<softdpu_faults::Plan>,
    trace: Option<PathBuf>,
    checks: Checks,
}

impl SessionBuilder {
    /// Takes a machine that is there already. Beats [`profile`](Self::profile), [`config_file`](Self::config_file) and
    /// [`side`](Self::side).
    ///
    /// ```
    /// use softdpu::card::Machine;
    /// use softdpu::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let session = Session::builder().machine(Machine::builder().build()?).board(Board::inline()).open()?;
    /// # let _ = session;
    /// # Ok(()) }
    /// ```
    pub fn machine(self, machine: Machine) -> Self {
        SessionBuilder { machine: Some(machine), ..self }
    }

    /// Gives every card this profile: the engines and limits of one kind of card.
    ///
    /// ```
    /// use softdpu::card::Profile;
    /// use softdpu::prelude::*;
    /// # fn main() -> softdpu::Result<()> {
    /// let session = Session::builder().profile(Profile::Bf2).board(Board::inline()).open()?;
    /// assert!(session.first_with(EngineKind::Sha).is_ok());
    /// assert!(session.first_with(EngineKind::AesGcm).is_err());
    /// # Ok(()) }
    /// ```
    pub fn profile(self, profile: Profile) -> Self {
        self.described(|cards| cards.profile(profile))
    }

    /// Takes the cards from a topology file.
    ///
    /// ```
    /// use softdpu::prelude::*;
    /// let refused = Session::builder().config_file("/no/such/file.toml").open().unwrap_err();
    /// assert_eq!(refused.code(), Code::BadConfig); // the log line says which file and why
    /// ```
    pub fn config_file(self, path: impl Into<PathBuf>) -> Self {
        self.described(|cards| cards.config_file(path))
    }

    /// Chooses which functions are seen; without it both sides are.
    ///
    /// ```
    /// use softdpu::card::View;
    /// use softdpu::prelude::*;
    /// # fn main() -> softdpu::Result<()> {
    /// let host = Session::builder().side(View::Host).board(Board::inline()).open()?;
    /// assert!(host.devices().iter().all(|d| d.name().contains(":b1:")));
    /// # Ok(()) }
    /// ```
    pub fn side(self, side: View) -> Self {
        self.described(|cards| cards.view(side))
    }

    fn described(self, change: impl FnOnce(MachineBuilder) -> MachineBuilder) -> Self {
        SessionBuilder { cards: Some(change(self.cards.unwrap_or_default())), ..self }
    }

    /// Chooses who carries the work out; without it the threaded board does.
    pub fn board(self, board: impl Into<Board>) -> Self {
        SessionBuilder { board: Some(board.into()), ..self }
    }

    /// Has contexts of this process that start from now on follow the schedule of a seed: how long tasks wait, and which
    /// pass which where the contract promises no order, is the same in every run. The session has the inline board.
    ///
    /// ```
    /// use softdpu::prelude::*;
    /// # fn main() -> softdpu::Result<()> {
    /// let session = Session::builder().seed(17).open()?;
    /// assert_eq!(session.board().name(), "inline");
    /// # Ok(()) }
    /// ```
    pub fn seed(self, seed: u64) -> Self {
        SessionBuilder { seed: Some(seed), ..self }
    }

    /// Has tasks of contexts of this process that start from now on fail as a plan says.
    ///
    /// ```
    /// use softdpu::dma::{Config, Dma, Memcpy};
    /// use softdpu::faults::Plan;
    /// use softdpu::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let plan = Plan::parse("[[fault]]\nengine = \"dma\"\ntask = 2\nerror = \"IO_FAILED\"")?;
    /// let session = Session::builder().faults(plan).open()?;
    /// # let device = session.first_with(EngineKind::Dma)?.open()?;
    /// # let memory = Memory::heap(8192).access(Access::LOCAL_READ_WRITE).register(&[&device])?;
    /// # let mut pe = ProgressEngine::new(&session)?;
    /// # let mut dma = Context::<Dma>::start(&mut pe, &device, Config::default())?.wait(&mut pe)?;
    /// # let (mut src, dst) = (memory.buf(..4096)?, memory.buf(4096..)?);
    /// # src.push_slice(b"bytes")?;
    /// let first = pe.run(dma.submit(Memcpy { src, dst })?);
    /// let second = pe.run(dma.submit(first.task)?);
    /// assert_eq!((first.result, second.result.unwrap_err().code()), (Ok(5), Code::IoFailed));
    /// # Ok(()) }
    /// ```
    pub fn faults(self, plan: softdpu_faults::Plan) -> Self {
        SessionBuilder { faults: Some(plan), ..self }
    }

    /// Writes what becomes of every task to a new file, for contexts of this process that start from now on: as
    /// `softdpu run --trace` does. Viewers of Chrome and Perfetto open it, and `softdpu trace` reads it. It is whole when
    /// the process ends, or after [`finish_trace`](crate::finish_trace).
    ///
    /// ```
    /// use softdpu::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let file = std::env::temp_dir().join(format!("trace-{}.json", std::process::id()));
    /// let session = Session::builder().trace(&file).board(Board::inline()).open()?;
    /// # drop(session);
    /// softdpu::finish_trace();
    /// assert!(std::fs::read_to_string(&file)?.starts_with("["));
    /// # std::fs::remove_file(&file)?;
    /// # Ok(()) }
    /// ```
    pub fn trace(self, file: impl Into<PathBuf>) -> Self {
        SessionBuilder { trace: Some(file.into()), ..self }
    }

    /// Has contexts of this process that start from now on checked: what a program does wrong, as far as the compiler
    /// cannot say it, becomes a warning in the log and a finding. Tasks go slower ways then.
    ///
    /// ```
    /// use softdpu::prelude::*;
    /// use softdpu::{Checks, checks};
    /// # fn main() -> softdpu::Result<()> {
    /// let session = Session::builder().checks(Checks::Full).board(Board::inline()).open()?;
    /// # drop(session);
    /// let found = checks::finish(); // at the end of the program, or of a test
    /// assert!(found.is_empty(), "{}", found[0]);
    /// # Ok(()) }
    /// ```
    pub fn checks(self, checks: Checks) -> Self {
        SessionBuilder { checks, ..self }
    }

    /// Opens the session. `SOFTDPU_SEED` and `SOFTDPU_FAULTS` are heeded as [`seed`](Self::seed) and
    /// [`faults`](Self::faults) are. No thread is started before the first context runs.
    ///
    /// # Errors
    /// BadConfig (or what the configuration's error stands for) when the description of the machine is refused; the log
    /// line has file, line and cause.
    pub fn open(self) -> Result<Session> {
        let machine = match (self.machine, self.cards) {
            (Some(machine), _) => machine,
            (None, Some(cards)) => cards.build().map_err(refused)?,
            (None, None) => Machine::from_env().map_err(refused)?,
        };
        softdpu_faults::start::from_environment();
        let seeded = self.seed.is_some() || softdpu_faults::start::is_seeded();
        softdpu_faults::start::install(self.seed.map(|seed| (seed, None)), self.faults);
        // After the others, so that it sees what comes of them.
        softdpu_trace::start::from_environment();
        self.trace.map_or(Ok(()), |file| softdpu_trace::start::into_file(&file))?;
        if self.checks == Checks::Full {
            softdpu_trace::checks::start().map_err(|e| {
                log::error!(target: "softdpu::session", "checks: {e}");
                Error::new(Code::NoMemory, "no thread for checks")
            })?;
        }
        let board = if seeded { Board::inline() } else { self.board.unwrap_or_default() };
        Ok(Session::new(machine, board))
    }
}

#[cold]
fn refused(cause: ConfigError) -> Error {
    log::error!(target: "softdpu::session", "{cause}");
    Error::new(Code::BadConfig, "the description of the machine was refused")
}

/// Who carries work out besides the threads that call progress.
///
/// ```
/// use softdpu::Board;
/// assert_eq!(Board::default().name(), "threads");
/// ```
#[derive(Clone, Copy)]
pub struct Board(&'static dyn softdpu_room::board::Board);

impl Board {
    /// A few worker threads of this process, shared by all its sessions. They help with large tasks and take over what
    /// nobody progresses; small tasks stay with the thread that progresses. They sleep when there is nothing to do.
    pub fn threads() -> Board {
        Board(softdpu_board::threads())
    }

    /// No threads: everything is carried out inside progress, in a fixed order. For tests, and where a second thread is
    /// unwelcome.
    pub fn inline() -> Board {
        Board(softdpu_board::inline())
    }

    /// `threads` or `inline`.
    pub fn name(&self) -> &'static str {
        self.0.name()
    }
}

impl Default for Board {
    fn default() -> Self {
        Board::threads()
    }
}

impl From<&'static dyn softdpu_room::board::Board> for Board {
    fn from(board: &'static dyn softdpu_room::board::Board) -> Board {
        Board(board)
    }
}

impl fmt::Debug for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Board({})", self.name())
    }
}
