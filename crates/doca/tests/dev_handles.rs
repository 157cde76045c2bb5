//! The device family: wrong handles, and many threads at once.
#![allow(unsafe_code, reason = "calls the C face")]

#[macro_use]
mod dev_common;

use dev_common::*;
use softdpu_c::dev::*;
use std::ffi::c_char;
use std::ptr::{null, null_mut};
use std::sync::{Arc, Barrier};

#[test]
fn handles_of_another_kind_are_refused_everywhere() {
    setup();
    let list = List::new();
    let (info, dev) = (list.at(0), open("03:00.0"));
    let reps = RepList::new(dev, 0).unwrap();
    let rep_info = reps.at(0);
    let mut rep = null_mut();
    let mut byte = [0u8; 512];
    let chars: *mut c_char = byte.as_mut_ptr().cast();
    lines();
    c! {
        assert_eq!(doca_dev_rep_open(rep_info, &mut rep), SUCCESS);
        let mut any_dev = null_mut();
        assert_eq!(doca_dev_open(dev.cast(), &mut any_dev), INVALID_VALUE);
        assert_eq!(doca_dev_open(rep_info.cast(), &mut any_dev), INVALID_VALUE);
        assert_eq!(doca_dev_open(null_mut(), &mut any_dev), INVALID_VALUE);
        assert_eq!(doca_dev_open(info, null_mut()), INVALID_VALUE);
        assert!(any_dev.is_null());
        assert_eq!(doca_dev_close(info.cast()), INVALID_VALUE);
        assert_eq!(doca_dev_close(rep.cast()), INVALID_VALUE);
        assert_eq!(doca_dev_close(null_mut()), INVALID_VALUE);
        assert_eq!(doca_devinfo_get_pci_addr_str(dev.cast(), chars), INVALID_VALUE);
        assert_eq!(doca_devinfo_get_pci_addr_str(info, null_mut()), INVALID_VALUE);
        assert_eq!(lines().len(), 9, "one line per refusal");
        assert_eq!(doca_devinfo_rep_get_vuid(info.cast(), chars, 128), INVALID_VALUE);
        assert_eq!(doca_devinfo_rep_get_vuid(rep_info, chars, 127), INVALID_VALUE);
        assert_eq!(doca_devinfo_rep_get_iface_name(rep_info, chars, 255), INVALID_VALUE);
        assert_eq!(doca_devinfo_rep_get_pci_addr_str(rep_info, null_mut()), INVALID_VALUE);
        assert_eq!(
            doca_devinfo_rep_is_equal_pci_addr(rep_info, c"x".as_ptr(), byte.as_mut_ptr()),
            INVALID_VALUE
        );
        assert_eq!(doca_devinfo_rep_is_equal_pci_addr(rep_info, null(), byte.as_mut_ptr()), INVALID_VALUE);
        assert_eq!(doca_devinfo_rep_get_is_hotplug(null(), byte.as_mut_ptr()), INVALID_VALUE);
        let mut other = null_mut();
        assert_eq!(doca_dev_rep_open(info.cast(), &mut other), INVALID_VALUE);
        assert_eq!(doca_dev_rep_open(rep_info, null_mut()), INVALID_VALUE);
        assert_eq!(doca_dev_rep_close(dev.cast()), INVALID_VALUE);
        assert_eq!(doca_dev_rep_close(null_mut()), INVALID_VALUE);
        assert_eq!(RepList::new(info.cast(), 0).err(), Some(INVALID_VALUE));
        assert_eq!(doca_devinfo_rep_create_list(dev, 0, null_mut(), &mut 0), INVALID_VALUE);
        assert_eq!(lines().len(), 13, "one line per refusal");
        assert!(doca_dev_as_devinfo(null()).is_null());
        assert!(doca_dev_as_devinfo(info.cast_const().cast()).is_null());
        assert!(doca_dev_rep_as_devinfo(null_mut()).is_null());
        assert!(doca_dev_rep_as_devinfo(rep_info.cast()).is_null());
        assert_eq!(doca_dev_rep_close(rep), SUCCESS);
    }
    close(dev);
}

#[test]
fn engines_see_the_same_device_behind_the_handle() {
    setup();
    let dev = open("b1:00.0");
    let seen =
        c! { softdpu_memory::handle::checked(dev.cast::<softdpu_memory::handle::OpenDevice>(), "test") };
    let ours = c! { device(dev, "test") };
    assert!(Arc::ptr_eq(seen.unwrap().device(), ours.unwrap()));
    close(dev);
}

#[test]
fn sixteen_threads_list_open_and_close_at_once() {
    setup();
    let gate = Arc::new(Barrier::new(16));
    let threads: Vec<_> = (0..16)
        .map(|number| {
            let gate = Arc::clone(&gate);
            std::thread::spawn(move || {
                gate.wait();
                for round in 0..300 {
                    let list = List::new();
                    let dev = open_info(list.at((number + round) % 4));
                    drop(list);
                    let info = c! { doca_dev_as_devinfo(dev) };
                    assert!(pci(info).starts_with("0000:"));
                    if let Ok(reps) = RepList::new(dev, 0) {
                        let mut rep = null_mut();
                        assert_eq!(c! { doca_dev_rep_open(reps.at(0), &mut rep) }, SUCCESS);
                        assert_eq!(c! { doca_dev_rep_close(rep) }, SUCCESS);
                    }
                    close(dev);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}
