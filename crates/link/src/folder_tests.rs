//! Which folders are taken, and which refused.

use super::*;
use std::os::unix::fs::{PermissionsExt, symlink};

struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str) -> Temporary {
        let path = std::env::temp_dir().join(format!("softdpu-folder-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).unwrap();
        Temporary(path)
    }
    fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn refused(path: &Path) {
    assert_eq!(Folder::open(path).map(|_| ()).unwrap_err().code(), Code::Driver, "{}", path.display());
}

#[test]
fn the_path_follows_the_environment() {
    let folder = |runtime: &str, xdg: &str| {
        let folder = path_from(|name| match name {
            "SOFTDPU_RUNTIME_DIR" => Some(runtime.into()),
            "XDG_RUNTIME_DIR" => Some(xdg.into()),
            _ => None,
        });
        folder.into_os_string().into_string().unwrap()
    };
    assert_eq!(folder("/a", "/b"), "/a");
    assert_eq!(folder("", "/b"), "/b/softdpu");
    assert_eq!(folder("", ""), format!("/tmp/softdpu-{}", geteuid().as_raw()));
}

#[test]
fn it_is_made_with_all_folders_above_it() {
    let base = Temporary::new("made");
    let deep = base.at(&"a/".repeat(200)).join(".").join("softdpu/");
    assert!(deep.as_os_str().len() > 400, "longer than the address of a socket");
    let folder = Folder::open(&deep).unwrap();
    assert_eq!(std::fs::metadata(&deep).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(Folder::open(&deep).unwrap().number(), folder.number(), "opened again");
    assert!(folder.short_path("x").len() < 100);
    std::fs::write(deep.join("x"), "text").unwrap();
    assert_eq!(folder.names().iter().filter(|n| *n == "x").count(), 1);
    assert_eq!(std::fs::read_to_string(folder.short_path("x")).unwrap(), "text");
}

#[test]
fn one_number_per_folder_by_whatever_path() {
    let base = Temporary::new("number");
    let (one, two) = (Folder::open(&base.at("one")).unwrap(), Folder::open(&base.at("two")).unwrap());
    assert_ne!(one.number(), two.number());
    symlink(&base.0, base.at("link")).unwrap();
    let other_way = base.at("link").join("one");
    assert_eq!(Folder::open(&other_way).unwrap().number(), one.number());
}

#[test]
fn what_others_may_change_is_refused() {
    let base = Temporary::new("mode");
    let path = base.at("folder");
    Folder::open(&path).unwrap();
    for mode in [0o770, 0o722, 0o500, 0o300, 0o777] {
        std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        refused(&path);
    }
    for mode in [0o755, 0o701, 0o700] {
        std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        Folder::open(&path).unwrap();
    }
}

#[test]
fn what_is_no_folder_is_refused() {
    let base = Temporary::new("kind");
    std::fs::write(base.at("file"), "").unwrap();
    refused(&base.at("file"));
    refused(&base.at("file/below"));
    Folder::open(&base.at("folder")).unwrap();
    symlink(base.at("folder"), base.at("link")).unwrap();
    refused(&base.at("link"));
    refused(&base.at("link/"));
    refused(&base.at("link/."));
    symlink(base.at("nowhere"), base.at("broken")).unwrap();
    refused(&base.at("broken"));
}

#[test]
fn a_folder_of_another_user_is_refused() {
    if !geteuid().is_root() {
        eprintln!("skipped: only root can give folders away");
        return;
    }
    let base = Temporary::new("owner");
    Folder::open(&base.at("folder")).unwrap();
    std::os::unix::fs::chown(base.at("folder"), Some(65534), None).unwrap();
    refused(&base.at("folder"));
}
