//! The device family on other machines than the default one. The machine of a process is chosen once, so each of
//! these runs in a process of its own: the `#[ignore]`d tests are the children.
#![allow(unsafe_code, reason = "calls the C face")]

#[macro_use]
mod dev_common;

use dev_common::*;
use softdpu_c::dev::*;
use std::ptr::null_mut;
use std::sync::Arc;

fn create() -> (i32, u32) {
    let (mut array, mut count) = (null_mut(), 77);
    let status = c! { doca_devinfo_create_list(&mut array, &mut count) };
    if status == SUCCESS {
        assert_eq!(c! { doca_devinfo_destroy_list(array) }, SUCCESS);
    }
    (status, count)
}

#[test]
fn a_refused_configuration_is_an_error_with_its_reason() {
    in_process("child_bad_profile", &[("SOFTDPU_PROFILE", "bf9")]);
    in_process("child_bad_file", &[("SOFTDPU_CONFIG", "/nonexistent.toml")]);
}

#[test]
#[ignore = "child"]
fn child_bad_profile() {
    setup();
    for _ in 0..2 {
        assert_eq!(create(), (NOT_FOUND, 77));
        let said = lines();
        assert!(
            said.len() == 1 && said[0].contains("SOFTDPU_PROFILE") && said[0].contains("bf2"),
            "{said:?}"
        );
    }
}

#[test]
#[ignore = "child"]
fn child_bad_file() {
    setup();
    assert_eq!(create(), (NOT_FOUND, 77));
    let said = lines();
    assert!(said[0].contains("SOFTDPU_CONFIG: /nonexistent.toml"), "{said:?}");
}

#[test]
fn sides_and_profiles_choose_what_is_seen() {
    in_process("child_nothing", &[("SOFTDPU_PROFILE", "cx7"), ("SOFTDPU_SIDE", "dpu")]);
    in_process("child_host", &[("SOFTDPU_SIDE", "host"), ("SOFTDPU_PROFILE", "bf3")]);
    in_process("child_plain", &[("SOFTDPU_PROFILE", "cx7")]);
}

#[test]
#[ignore = "child"]
fn child_nothing() {
    setup();
    assert_eq!(create(), (SUCCESS, 0));
    let said = lines();
    assert!(said.iter().any(|line| line.contains("no device is visible")), "{said:?}");
}

#[test]
#[ignore = "child"]
fn child_host() {
    setup();
    let list = List::new();
    assert_eq!(list.count, 2);
    assert!(!is_equal(list.at(0), "03:00.0"));
    let (mut size, mut export, mut import) = (0, 9, 9);
    c! {
        assert_eq!(doca_dma_cap_task_memcpy_get_max_buf_size(list.at(0), &mut size), SUCCESS);
        assert_eq!(doca_mmap_cap_is_export_pci_supported(list.at(0), &mut export), SUCCESS);
        assert_eq!(doca_mmap_cap_is_create_from_export_pci_supported(list.at(0), &mut import), SUCCESS);
    }
    assert_eq!((size, export, import), (2 << 20, 1, 0));
    assert!(!is_equal(list.at(1), "03:00.0"));
    lines();
    drop(list);
    let said = lines();
    assert!(said.len() == 1 && said[0].contains("not seen with side `host`"), "{said:?}");
}

#[test]
#[ignore = "child"]
fn child_plain() {
    setup();
    let list = List::new();
    assert_eq!(list.count, 2);
    let mut number = 0;
    for info in list.all() {
        c! {
            assert_eq!(doca_dma_cap_task_memcpy_is_supported(info), NOT_SUPPORTED);
            assert_eq!(doca_dma_cap_task_memcpy_get_max_buf_size(info, &mut number), NOT_SUPPORTED);
        }
    }
    assert!(lines().iter().all(|line| line.starts_with("DEBUG")), "a scan is no reason to complain");
}

/// Writes a topology for a child; the guard removes it.
struct File(std::path::PathBuf);

impl File {
    fn new(name: &str, text: &str) -> File {
        let path = std::env::temp_dir().join(format!("softdpu-dev-{}-{name}.toml", std::process::id()));
        std::fs::write(&path, text).unwrap();
        File(path)
    }
    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn a_topology_file_brings_virtual_functions_and_devices_without_address() {
    let text = "[[card]]\n[[card.function]]\nside='dpu'\npci='03:00.0'\n[[card.function]]\nside='dpu'\n\
                pci='03:00.0'\nkind='sf'\nsf_index=5\n[[card.function]]\nside='host'\npci='b1:00.0'\n\
                [[card.function]]\nside='host'\npci='b1:00.2'\nkind='vf'\nipv4='none'\n";
    in_process("child_kinds", &[("SOFTDPU_CONFIG", File::new("kinds", text).path())]);
}

#[test]
#[ignore = "child"]
fn child_kinds() {
    setup();
    let list = List::new();
    let kinds: Vec<_> = list
        .all()
        .map(|info| {
            let (mut kind, mut sf) = (9, 99);
            c! {
                assert_eq!(doca_devinfo_get_pci_func_type(info, &mut kind), SUCCESS);
                let status = doca_devinfo_get_sf_index(info, &mut sf);
                assert_eq!(status == SUCCESS, kind == 2);
            }
            (kind, sf)
        })
        .collect();
    assert_eq!(kinds, [(0, 99), (2, 5), (0, 99), (1, 99)]);
    let (parent, child) = (open_info(list.at(0)), open_info(list.at(1)));
    assert_ne!(parent, child, "an sf is a device of its own, though it shares the address");
    let numbers = [parent, child].map(|dev| c! { device(dev, "test") }.unwrap().function().vhca_id());
    assert_eq!(numbers, [0, 1]);
    close(child);
    close(parent);

    let mut address = [0xaau8; 4];
    lines();
    c! {
        assert_eq!(doca_devinfo_get_ipv4_addr(list.at(3), address.as_mut_ptr(), 3), INVALID_VALUE);
        lines();
        assert_eq!(doca_devinfo_get_ipv4_addr(list.at(3), address.as_mut_ptr(), 4), NOT_FOUND);
    }
    assert_eq!(address, [0xaa; 4]);
    let said = lines();
    assert!(said.len() == 1 && said[0].contains("0000:b1:00.2") && said[0].contains("mlx5_0"), "{said:?}");
}

#[test]
fn in_nic_mode_the_card_shows_an_empty_list_of_representors() {
    in_process("child_nic", &[("SOFTDPU_CONFIG", File::new("nic", "[[card]]\nmode='nic'\n").path())]);
}

#[test]
#[ignore = "child"]
fn child_nic() {
    setup();
    let card = open("03:00.0");
    let mut supported = 9;
    let info = c! { doca_dev_as_devinfo(card) };
    assert_eq!(c! { doca_devinfo_rep_cap_is_filter_net_supported(info, &mut supported) }, SUCCESS);
    assert_eq!(supported, 1);
    let list = RepList::new(card, 2).unwrap();
    assert_eq!(list.count, 0);
    assert!(!list.array.is_null());
    drop(list);
    close(card);
}

#[test]
fn what_is_used_stays_open_and_what_is_closed_is_gone() {
    in_process("child_use", &[]);
}

/// Alone in its process, so that no other test holds the devices.
#[test]
#[ignore = "child"]
fn child_use() {
    setup();
    let dev = open("03:00.0");
    let user = Arc::clone(c! { device(dev, "test") }.unwrap());
    lines();
    assert_eq!(c! { doca_dev_close(dev) }, IN_USE);
    let said = lines();
    assert!(said.len() == 1 && said[0].contains("0000:03:00.0") && said[0].contains('1'), "{said:?}");
    drop(user);

    let reps = RepList::new(dev, 0).unwrap();
    let mut rep = null_mut();
    assert_eq!(c! { doca_dev_rep_open(reps.at(0), &mut rep) }, SUCCESS);
    assert_eq!(c! { doca_dev_close(dev) }, IN_USE, "an open representor uses its device");
    assert_eq!(c! { doca_dev_rep_close(rep) }, SUCCESS);

    let info = c! { doca_dev_as_devinfo(dev) };
    close(dev);
    lines();
    c! {
        let mut again = null_mut();
        assert_eq!(doca_dev_close(dev), INVALID_VALUE, "closed already");
        assert_eq!(doca_dev_open(info, &mut again), INVALID_VALUE, "its record went with it");
        assert_eq!(doca_dev_rep_open(reps.at(0), &mut rep), INVALID_VALUE, "the managing device is closed");
        assert!(doca_dev_as_devinfo(dev).is_null());
        assert_eq!(RepList::new(dev, 0).err(), Some(INVALID_VALUE));
    }
    assert_eq!(lines().len(), 4);

    let list = List::new();
    let stale = list.at(0);
    drop(list);
    c! {
        let mut number = 0;
        assert_eq!(doca_devinfo_get_vhca_id(stale, &mut number), INVALID_VALUE);
        assert_eq!(doca_dma_cap_task_memcpy_is_supported(stale), INVALID_VALUE);
    }
    let said = lines();
    assert!(said.iter().all(|line| line.contains("destroyed")), "{said:?}");
}

#[test]
fn forking_is_free_before_the_first_open_and_refused_after() {
    in_process("child_fork", &[]);
}

/// Runs `work` in a forked child; true when it returned true there.
fn forked(work: impl FnOnce() -> bool) -> bool {
    c! {
        match libc::fork() {
            -1 => panic!("fork: {}", std::io::Error::last_os_error()),
            0 => {
                libc::alarm(60);
                libc::_exit(i32::from(!work()));
            }
            child => {
                let mut status = 0;
                assert_eq!(libc::waitpid(child, &mut status, 0), child);
                libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
            }
        }
    }
}

#[test]
#[ignore = "child"]
fn child_fork() {
    setup();
    assert_eq!(create(), (SUCCESS, 4), "a list alone does not bind the process");
    assert!(forked(|| {
        let dev = open("03:00.0");
        close(dev);
        create() == (SUCCESS, 4)
    }));
    let list = List::new();
    let (info, dev) = (list.at(0), open("03:00.0"));
    assert!(forked(|| {
        lines();
        let mut out = null_mut();
        let mut number = 0;
        let all = c! {
            [
                create().0,
                doca_devinfo_destroy_list(list.array),
                doca_dev_open(info, &mut out),
                doca_dev_close(dev),
                doca_devinfo_get_vhca_id(info, &mut number),
                doca_dma_cap_task_memcpy_is_supported(info),
            ]
        };
        let said = lines();
        all == [BAD_STATE; 6] && said.len() == 1 && said[0].contains("forked")
    }));
    assert_eq!(pci(info), "0000:03:00.0", "the parent goes on");
    assert_eq!(create(), (SUCCESS, 4));
    close(dev);
    assert!(forked(|| create().0 == BAD_STATE), "also when the device was closed again");
}
