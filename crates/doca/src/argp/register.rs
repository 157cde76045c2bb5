//! Registration: ownership passes to the parser whatever the answer, and the rules names must keep.

use super::model::Param;
use super::state::{Owner, Parser};
use softdpu_status::{Code, Error, Result};

/// The file flag cannot be taken by a program: the parser needs it to find the file.
const RESERVED_SHORT: &[u8] = b"j";
const RESERVED_LONG: &[u8] = b"json";

fn refuse<T>(code: Code, what: &'static str) -> Result<T> {
    Err(Error::new(code, what))
}

impl Parser {
    /// Registers a flag with the program (`Owner::Top`) or a command.
    pub(super) fn register_param(&mut self, handle: usize, owner: Owner) -> Result<()> {
        match self.params.get(&handle).map(|object| object.owner) {
            None => return refuse(Code::InvalidValue, "not a flag of this parser"),
            Some(Owner::Program) => {}
            Some(_) => return refuse(Code::BadState, "the flag is already registered"),
        }
        let checked = self.check_param(handle, owner);
        if checked.is_err() {
            self.params.remove(&handle);
            return checked;
        }
        if let Some(object) = self.params.get_mut(&handle) {
            object.owner = owner;
            object.param.cli_only |= object.param.long.is_none();
        }
        match owner {
            Owner::Command(command) => {
                if let Some(command) = self.commands.get_mut(&command) {
                    command.params.push(handle);
                }
            }
            _ => self.top_params.push(handle),
        }
        Ok(())
    }

    fn check_param(&self, handle: usize, owner: Owner) -> Result<()> {
        self.registering()?;
        let siblings = match owner {
            Owner::Command(command) => match self.commands.get(&command) {
                Some(command) => &command.params,
                None => return refuse(Code::InvalidValue, "not a command of this parser"),
            },
            _ => &self.top_params,
        };
        let Some(Param { short, long, description, callback, kind, .. }) =
            self.params.get(&handle).map(|object| &object.param)
        else {
            return refuse(Code::InvalidValue, "not a flag of this parser");
        };
        if short.is_none() && long.is_none() {
            return refuse(Code::Initialization, "the flag has no name");
        }
        if description.is_none() {
            return refuse(Code::Initialization, "the flag has no description");
        }
        if callback.is_none() {
            return refuse(Code::Initialization, "the flag has no callback");
        }
        if kind.is_none() {
            return refuse(Code::Initialization, "the flag has no type");
        }
        if short.as_deref() == Some(RESERVED_SHORT) || long.as_deref() == Some(RESERVED_LONG) {
            return refuse(Code::InvalidValue, "the names j and json are reserved");
        }
        let clash = siblings.iter().filter_map(|sibling| self.params.get(sibling)).any(|sibling| {
            (short.is_some() && sibling.param.short == *short)
                || (long.is_some() && sibling.param.long == *long)
        });
        if clash {
            return refuse(Code::InvalidValue, "another flag of this scope has the name");
        }
        Ok(())
    }

    /// Registers a command with the program (`Owner::Top`) or another command.
    pub(super) fn register_command(&mut self, handle: usize, owner: Owner) -> Result<()> {
        match self.commands.get(&handle).map(|object| object.owner) {
            None => return refuse(Code::InvalidValue, "not a command of this parser"),
            Some(Owner::Program) => {}
            Some(_) => return refuse(Code::BadState, "the command is already registered"),
        }
        if self.lies_below(owner, handle) {
            return refuse(Code::InvalidValue, "a command cannot lie below itself");
        }
        let checked = self.check_command(handle, owner);
        if checked.is_err() {
            self.remove_command(handle);
            return checked;
        }
        if let Some(object) = self.commands.get_mut(&handle) {
            object.owner = owner;
        }
        match owner {
            Owner::Command(above) => {
                if let Some(above) = self.commands.get_mut(&above) {
                    above.commands.push(handle);
                }
            }
            _ => self.top_commands.push(handle),
        }
        Ok(())
    }

    fn check_command(&self, handle: usize, owner: Owner) -> Result<()> {
        self.registering()?;
        let siblings = match owner {
            Owner::Command(command) => match self.commands.get(&command) {
                Some(command) => &command.commands,
                None => return refuse(Code::InvalidValue, "not a command of this parser"),
            },
            _ => &self.top_commands,
        };
        let Some(object) = self.commands.get(&handle) else {
            return refuse(Code::InvalidValue, "not a command of this parser");
        };
        if object.name.is_none() {
            return refuse(Code::Initialization, "the command has no name");
        }
        if object.description.is_none() {
            return refuse(Code::Initialization, "the command has no description");
        }
        if siblings.iter().any(|sibling| self.commands.get(sibling).is_some_and(|s| s.name == object.name)) {
            return refuse(Code::InvalidValue, "another command of this scope has the name");
        }
        Ok(())
    }

    /// Whether the place `owner` is the command `handle` or lies below it.
    fn lies_below(&self, mut owner: Owner, handle: usize) -> bool {
        while let Owner::Command(command) = owner {
            if command == handle {
                return true;
            }
            match self.commands.get(&command) {
                Some(object) => owner = object.owner,
                None => return false,
            }
        }
        false
    }

    /// Takes a command away with everything registered below it.
    pub(super) fn remove_command(&mut self, handle: usize) {
        let Some(object) = self.commands.remove(&handle) else { return };
        for param in object.params {
            self.params.remove(&param);
        }
        for command in object.commands {
            self.remove_command(command);
        }
    }
}
