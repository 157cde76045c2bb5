//! The chapters that are made from a source of truth: errors from the table of codes, the command from its help texts.

use super::TEXT;
use super::help::{self, Help};
use softdpu_status::{Class, Code};
use std::fmt::Write as _;

/// Path and text of each.
pub(crate) fn files() -> Result<Vec<(String, String)>, String> {
    Ok(vec![
        (format!("{TEXT}/errors.md"), errors()?),
        (format!("{TEXT}/command.md"), command(&help::helps()?)),
    ])
}

fn errors() -> Result<String, String> {
    let mut text = String::from(
        "# Errors\n\n\
         Every call of the C face answers a `doca_error_t`; the Rust face has the same codes in `softdpu::Code`. What to do\n\
         follows from the class, which `Code::class` and, in C, `doca_error_get_class` of `doca_primer.h` tell:\n\n\
         | class | the call | retry? |\n|---|---|---|\n",
    );
    for (class, what, retry) in [
        (Class::Parameter, "is wrong and stays wrong: repair the program", "never"),
        (
            Class::Resource,
            "needs something that is missing, out of order or in use",
            "after you have done something about it",
        ),
        (Class::Transient, "may work later", "with a bound, and progress in between"),
    ] {
        let _ = writeln!(text, "| {} | {what} | {retry} |", class.name());
    }
    text.push_str(
        "\nThe reason stands in the log: one line per refusal, with object, rule and numbers. `SOFTDPU_LOG=warning` shows it on\n\
         stderr, whatever the program does with its own log.\n\n\
         | number | code | class | meaning | usual causes, and what to do |\n|---|---|---|---|---|\n\
         | 0 | `DOCA_SUCCESS` | | | |\n",
    );
    for code in Code::ALL {
        let todo = todo(*code).ok_or(format!("{code:?}: nobody has written what to do about it"))?;
        let _ = writeln!(
            text,
            "| {} | `{}` | {} | {} | {todo} |",
            *code as i32,
            code.name(),
            code.class().name(),
            code.text()
        );
    }
    text.push_str(
        "\nThe numbers are those of the C header, and the same in every version. A task that fails has its code in\n\
         `doca_task_get_status`, in Rust in `Done::result`; [Life of a task](life.md) says which engines stop then.\n\n\
         Made by `cargo xtask book` from the table in `crates/status`.\n",
    );
    Ok(text)
}

/// Usual causes of a code and what to do about them.
fn todo(code: Code) -> Option<&'static str> {
    Some(match code {
        Code::Unknown => "a number that nobody gave out, for example a status variable that was never set",
        Code::NotPermitted => {
            "a right is missing (`doca_mmap_set_permissions`), or the object's role forbids the call; the log names the right"
        }
        Code::InUse => {
            "something still uses the object: destroy children first, stop contexts; the log counts the users"
        }
        Code::NotSupported => {
            "this card or function cannot: ask the capability call first, choose another device or profile"
        }
        Code::Again => "no credits or no room at this moment: progress, then call again",
        Code::InvalidValue => {
            "NULL, a handle of another kind or a dead one, a range outside of the object, a value outside of the limits"
        }
        Code::NoMemory => {
            "the pool of tasks or the inventory is empty, or the system has no memory: free tasks in their callbacks, make pools larger"
        }
        Code::Initialization => {
            "a part could not be set up, for example an address to listen at: the log names it"
        }
        Code::TimeOut => "nothing happened in time: is the peer alive, does anybody progress?",
        Code::Shutdown => "the owner has stopped or destroyed what you use: get a new one from the owner",
        Code::ConnectionReset => "the peer is gone: take the connection down, connect anew",
        Code::ConnectionAborted => "this side gave the connection up: connect anew",
        Code::ConnectionInProgress => "the connection is still being made: progress until its callback",
        Code::NotConnected => "no connection yet, or no longer: connect, progress until it is there",
        Code::NoLock => "somebody else holds what the call needs: let go first",
        Code::NotFound => "no device, server or entry of that name: the log lists those there are",
        Code::IoFailed => {
            "the task could not be done, or was given back by a stop: the log has the cause; a DMA context stops after it"
        }
        Code::BadState => {
            "wrong order: configure before start, submit after start, destroy after idle; the log names the step"
        }
        Code::UnsupportedVersion => {
            "a descriptor or a file of another version: use the same version on both sides"
        }
        Code::OperatingSystem => "the kernel refused something: the log has its reason",
        Code::Driver => "memory or an interface that the kernel does not give: the log says which",
        Code::Unexpected => "something broke inside: please report it, with the log",
        Code::AlreadyExist => "the name or the connection is there already: use it, or choose another name",
        Code::Full => "the queue is full: progress until something comes back",
        Code::Empty => "nothing there at this moment: progress, then look again",
        Code::InProgress => {
            "it has begun: progress until the state callback (start, stop) tells that it has ended"
        }
        Code::TooBig => {
            "more than the limit of the device: ask the capability call, cut the work into pieces"
        }
        Code::Authentication => "the peer or the data is not what it claims to be",
        Code::Skipped => "output of before is gone, for example log lines in a full ring: read more often",
        Code::BadConfig => "a configuration that cannot be: the log names the entry",
        Code::DeviceFatalError => "the device is lost: close everything on it, open it anew",
        _ => return None,
    })
}

fn command(helps: &[Help]) -> String {
    let mut text = String::from(
        "# The command\n\n\
         What `--help` says. The manual page `softdpu(1)` tells more about what the commands print.\n",
    );
    for help in helps {
        let name =
            if help.name == "softdpu" { "softdpu".to_owned() } else { format!("softdpu {}", help.name) };
        let _ = write!(text, "\n## {name}\n\n```text\n{}\n```\n", help.text.trim_end());
    }
    text.push_str("\nMade by `cargo xtask book` from the help texts of the command.\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_says_what_to_do() {
        let text = errors().expect("all codes are known");
        for code in Code::ALL {
            assert!(text.contains(&format!("| `{}` | {} |", code.name(), code.class().name())));
        }
    }
}
