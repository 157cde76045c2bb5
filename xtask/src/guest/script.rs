//! What the guest does: prepares, runs the programs one after the other, and notes what came of each.

use super::build::Program;
use super::jobs::Job;
use std::fmt::Write as _;

/// The script's name in the folder of the job.
pub(super) const NAME: &str = "script";
/// Written when all that was to be prepared is.
pub(super) const PREPARED: &str = "prepared";

/// The file of a run's output, and of its status, with its number.
pub(super) fn output(run: usize) -> String {
    format!("{run}.output")
}

/// See [`output`].
pub(super) fn status(run: usize) -> String {
    format!("{run}.status")
}

/// The script.
pub(super) fn text(job: &Job, programs: &[Program]) -> String {
    let mut text = String::from(
        "export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C\n\
         export TMPDIR=/run/tmp RUST_BACKTRACE=1\n\
         export XDG_RUNTIME_DIR=/run/user\n\
         mkdir -m 700 -p /run/tmp /run/user /run/lock /run/netns\n\
         ulimit -c 0\n\
         (\n  set -ex\n  ip link set lo up\n",
    );
    for module in &job.modules {
        line(&mut text, format_args!("  modprobe {module}"));
    }
    if job.hugepages > 0 {
        line(&mut text, format_args!("  echo {} >/proc/sys/vm/nr_hugepages", job.hugepages));
    }
    for command in &job.prepare {
        line(&mut text, format_args!("  {command}"));
    }
    line(&mut text, format_args!(") >/run/job/preparing 2>&1 && echo yes >/run/job/{PREPARED}"));
    line(&mut text, format_args!("[ -f /run/job/{PREPARED} ] && {{"));
    for (number, program) in programs.iter().enumerate() {
        let words: Vec<String> = program.words().iter().map(|word| quote(word)).collect();
        let (output, status) = (output(number), status(number));
        line(&mut text, format_args!("  cd {}", quote(&program.folder.display().to_string())));
        line(
            &mut text,
            format_args!(
                "  env {} </dev/null >/run/job/{output} 2>&1; echo $? >/run/job/{status}",
                words.join(" ")
            ),
        );
    }
    text += "}\ncut -d ' ' -f 1 /proc/uptime >/run/job/uptime\nsync\necho o >/proc/sysrq-trigger\nsleep 30\n";
    text
}

fn line(text: &mut String, what: std::fmt::Arguments<'_>) {
    // A string takes everything.
    let _ = writeln!(text, "{what}");
}

/// A word as the shell takes it.
fn quote(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shell_gets_words_as_they_are() {
        for word in ["plain", "it's", "$HOME `ls` \"x\"", ""] {
            let script = format!("printf %s {}", quote(word));
            let said = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
            assert_eq!(String::from_utf8(said.stdout).unwrap(), word);
        }
    }

    #[test]
    fn scripts_are_good_shell() {
        for job in super::super::jobs::load().unwrap() {
            let programs: Vec<Program> = job.run.iter().map(|run| Program::of(run, "/x/y".into())).collect();
            let text = text(&job, &programs);
            let mut shell = std::process::Command::new("bash");
            let checked = shell.args(["-n", "-c", &text]).output().unwrap();
            assert!(checked.status.success(), "{}\n{text}", String::from_utf8_lossy(&checked.stderr));
            assert_eq!(text.matches(".status").count(), job.run.len());
        }
    }
}
