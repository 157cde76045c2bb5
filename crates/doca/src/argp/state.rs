//! The one parser of the process: its settings, its objects, its handles.
//!
//! A handle is the address of a small block kept here; it is looked up, never followed, so a wrong or
//! destroyed handle is recognised. The lock is never held while the program's code runs.

use super::device::DevOpenCallback;
use super::dpdk::Arguments;
use super::model::{Command, CommandCallback, DpdkCallback, Param, ParamCallback, Text, ValidationCallback};
use softdpu_status::{Code, Error, Result};
use std::collections::HashMap;
use std::ffi::CString;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// First words of the blocks behind handles, so that no other kind of object is taken for one.
const PARAM_KIND: u64 = 0x006d_6172_6170_6761;
const COMMAND_KIND: u64 = 0x0000_646d_6370_6761;

/// Where an object is registered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Owner {
    /// With the program that made it: not registered yet.
    Program,
    /// Directly with the parser.
    Top,
    /// With the command of this handle.
    Command(usize),
}

/// A flag under construction or registered.
#[derive(Debug)]
pub(crate) struct ParamObject {
    _block: Box<u64>,
    pub(crate) owner: Owner,
    pub(crate) param: Param,
}

/// A command under construction or registered.
#[derive(Debug)]
pub(crate) struct CommandObject {
    _block: Box<u64>,
    pub(crate) owner: Owner,
    pub(crate) name: Option<Text>,
    pub(crate) description: Option<Text>,
    pub(crate) callback: Option<CommandCallback>,
    pub(crate) hidden: bool,
    pub(crate) params: Vec<usize>,
    pub(crate) commands: Vec<usize>,
}

/// The parser.
#[derive(Debug, Default)]
pub(crate) struct Parser {
    /// Tells this parser from one made after a destroy inside a callback.
    pub(crate) generation: u64,
    pub(crate) name: Option<Text>,
    /// Address of the program's configuration; exposed by the entry point.
    pub(crate) config: usize,
    pub(crate) started: bool,
    pub(crate) params: HashMap<usize, ParamObject>,
    pub(crate) commands: HashMap<usize, CommandObject>,
    pub(crate) top_params: Vec<usize>,
    pub(crate) top_commands: Vec<usize>,
    pub(crate) version: Option<ParamCallback>,
    pub(crate) validation: Option<ValidationCallback>,
    pub(crate) dpdk: Option<DpdkCallback>,
    /// The program's way of opening devices, and its context as an exposed address.
    pub(crate) dev_open: Option<(DevOpenCallback, usize)>,
    /// `doca_argp_logger_cb_t` as an exposed address.
    pub(crate) logger: Option<usize>,
    pub(crate) tolerant_json: bool,
    pub(crate) log_level: Option<u32>,
    pub(crate) sdk_log_level: Option<u32>,
    /// The current command, once known: for the usage.
    pub(crate) current: Option<Vec<Arc<Command>>>,
    /// Device arguments handed out by address: the program may keep them until the parser goes.
    pub(crate) kept: Vec<CString>,
    pub(crate) dpdk_arguments: Option<Arguments>,
}

struct Global {
    parser: Option<Box<Parser>>,
    generation: u64,
}

static GLOBAL: Mutex<Global> = Mutex::new(Global { parser: None, generation: 0 });

fn global() -> MutexGuard<'static, Global> {
    GLOBAL.lock().unwrap_or_else(PoisonError::into_inner)
}

fn not_initialised() -> Error {
    log::error!(target: "softdpu::argp", "the argument parser is not initialised: call doca_argp_init first");
    Error::new(Code::BadState, "the argument parser is not initialised")
}

/// Makes the parser.
pub(crate) fn init(name: Option<Text>, config: usize) -> Result<()> {
    let mut global = global();
    if global.parser.is_some() {
        drop(global);
        log::error!(target: "softdpu::argp", "the argument parser is already initialised");
        return Err(Error::new(Code::BadState, "the argument parser is already initialised"));
    }
    global.generation += 1;
    let generation = global.generation;
    global.parser = Some(Box::new(Parser { generation, name, config, ..Parser::default() }));
    Ok(())
}

/// Takes the parser down with everything in it.
pub(crate) fn destroy() -> Result<()> {
    let parser = global().parser.take();
    // Dropped here, after the lock: nothing in it may wait for it.
    parser.map(drop).ok_or_else(not_initialised)
}

/// Works on the parser under the lock. `work` must not run the program's code nor log.
pub(crate) fn with<T>(work: impl FnOnce(&mut Parser) -> Result<T>) -> Result<T> {
    if let Some(parser) = global().parser.as_mut() {
        return work(parser);
    }
    Err(not_initialised())
}

/// Works on the parser of that generation; `None` when it is gone.
pub(crate) fn with_generation<T>(generation: u64, work: impl FnOnce(&mut Parser) -> T) -> Option<T> {
    global().parser.as_mut().filter(|parser| parser.generation == generation).map(|parser| work(parser))
}

/// The program's logger callback.
pub(crate) fn logger_callback() -> Option<super::report::LoggerCallback> {
    global().parser.as_ref()?.logger.map(std::ptr::with_exposed_provenance)
}

/// Levels given by flags: (application, SDK).
pub(crate) fn levels() -> (Option<u32>, Option<u32>) {
    global().parser.as_ref().map_or((None, None), |parser| (parser.log_level, parser.sdk_log_level))
}

impl Parser {
    /// `BAD_STATE` once parsing has begun.
    pub(crate) fn registering(&self) -> Result<()> {
        if self.started {
            return Err(Error::new(Code::BadState, "the argument parser is already started"));
        }
        Ok(())
    }

    /// A new flag and its handle.
    pub(crate) fn create_param(&mut self) -> Result<usize> {
        self.params.try_reserve(1).map_err(|_| Error::new(Code::NoMemory, "argument parser"))?;
        let block = Box::new(PARAM_KIND);
        let handle = std::ptr::from_ref(&*block).expose_provenance();
        let object = ParamObject { _block: block, owner: Owner::Program, param: Param::default() };
        self.params.insert(handle, object);
        Ok(handle)
    }

    /// A new command and its handle.
    pub(crate) fn create_command(&mut self) -> Result<usize> {
        self.commands.try_reserve(1).map_err(|_| Error::new(Code::NoMemory, "argument parser"))?;
        let block = Box::new(COMMAND_KIND);
        let handle = std::ptr::from_ref(&*block).expose_provenance();
        let object = CommandObject {
            _block: block,
            owner: Owner::Program,
            name: None,
            description: None,
            callback: None,
            hidden: false,
            params: Vec::new(),
            commands: Vec::new(),
        };
        self.commands.insert(handle, object);
        Ok(handle)
    }

    /// The tree as registered now; the root carries the program's name.
    pub(crate) fn tree(&self) -> Arc<Command> {
        Arc::new(Command {
            name: self.name.clone().unwrap_or_default(),
            params: self.resolve_params(&self.top_params),
            commands: self.resolve_commands(&self.top_commands),
            ..Command::default()
        })
    }

    fn resolve_params(&self, handles: &[usize]) -> Vec<Arc<Param>> {
        let objects = handles.iter().filter_map(|handle| self.params.get(handle));
        objects.map(|object| Arc::new(object.param.clone())).collect()
    }

    fn resolve_commands(&self, handles: &[usize]) -> Vec<Arc<Command>> {
        let objects = handles.iter().filter_map(|handle| self.commands.get(handle));
        let resolve = |object: &CommandObject| {
            Arc::new(Command {
                name: object.name.clone().unwrap_or_default(),
                description: object.description.clone().unwrap_or_default(),
                callback: object.callback,
                hidden: object.hidden,
                params: self.resolve_params(&object.params),
                commands: self.resolve_commands(&object.commands),
            })
        };
        objects.map(resolve).collect()
    }
}
