//! The guest: QEMU, without anything that has to be set up or needs rights.

use super::fetch::{Image, Tools, quiet};
use super::jobs::Job;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// What the guest's kernel says goes there.
pub(super) const CONSOLE: &str = "console";
const BINARY: &str = "usr/bin/qemu-system-x86_64";

/// How the guest came to its end.
pub(super) struct Ended {
    /// It was too slow, and was stopped.
    pub(super) stopped: bool,
    /// What QEMU says of itself.
    pub(super) status: String,
}

/// Its name and number.
pub(super) fn version(tools: &Tools) -> String {
    let text = quiet(tools.program(BINARY).arg("--version")).unwrap_or_default();
    let version = text.lines().next().unwrap_or_default().split(" version ").nth(1).unwrap_or_default();
    format!("QEMU {}", version.split(' ').next().unwrap_or_default())
}

/// Boots, waits for the end.
///
/// # Errors
/// QEMU could not be run.
pub(super) fn run(job: &Job, tools: &Tools, kernel: &Image, work: &Path) -> Result<Ended, String> {
    let said = File::create(work.join("qemu")).map_err(|e| format!("{}: {e}", work.display()))?;
    let mut qemu = command(job, tools, kernel, work);
    let errors = said.try_clone().map_err(|e| e.to_string())?;
    let child = qemu.stdin(Stdio::null()).stdout(said).stderr(errors).spawn();
    let mut child = child.map_err(|e| format!("QEMU cannot be run: {e}"))?;
    let end = Instant::now() + Duration::from_secs(job.seconds);
    loop {
        if let Some(status) = child.try_wait().map_err(|e| e.to_string())? {
            return Ok(Ended { stopped: false, status: status.to_string() });
        }
        if Instant::now() >= end {
            child.kill().map_err(|e| e.to_string())?;
            let status = child.wait().map_err(|e| e.to_string())?;
            return Ok(Ended { stopped: true, status: status.to_string() });
        }
        sleep(Duration::from_millis(50));
    }
}

fn command(job: &Job, tools: &Tools, kernel: &Image, work: &Path) -> Command {
    let mut qemu = tools.program(BINARY);
    let accel = std::env::var("SOFTDPU_GUEST_ACCEL").ok().filter(|accel| !accel.is_empty());
    qemu.args(["-accel", accel.as_deref().unwrap_or("tcg,thread=multi"), "-cpu", "max", "-smp", "2"]);
    qemu.args(["-m", &job.memory.to_string(), "-nodefaults", "-display", "none", "-no-reboot"]);
    for data in ["qemu", "seabios"] {
        qemu.arg("-L").arg(tools.0.join("usr/share").join(data));
    }
    qemu.arg("-serial").arg(format!("file:{}", work.join(CONSOLE).display()));
    qemu.arg("-kernel").arg(kernel.folder.join(format!("boot/vmlinuz-{}", kernel.version)));
    qemu.arg("-initrd").arg(work.join("initramfs"));
    qemu.args(["-append", "console=ttyS0 quiet panic=-1"]);
    let folders: [(&str, PathBuf, &str); 4] = [
        ("root", "/".into(), "readonly=on"),
        ("tools", tools.0.clone(), "readonly=on"),
        ("kernel", kernel.folder.clone(), "readonly=on"),
        ("job", work.to_path_buf(), "readonly=off"),
    ];
    for (tag, folder, way) in folders {
        // A comma in a path has to be there twice.
        let path = folder.display().to_string().replace(',', ",,");
        qemu.arg("-fsdev")
            .arg(format!("local,id={tag},path={path},security_model=none,{way},multidevs=remap"))
            .arg("-device")
            .arg(format!("virtio-9p-pci,fsdev={tag},mount_tag={tag}"));
    }
    qemu
}
