//! The device family on the default machine: every call, its refusals, threads.
#![allow(unsafe_code, reason = "calls the C face")]

#[macro_use]
mod dev_common;

use dev_common::*;
use softdpu_c::dev::*;
use std::ffi::CString;
use std::ptr::{null, null_mut};
use std::sync::Arc;

#[test]
fn the_list_shows_the_default_devices_in_order() {
    setup();
    let list = List::new();
    let found: Vec<_> = list
        .all()
        .map(|info| {
            c! {
                let ibdev = text(64, |to, size| doca_devinfo_get_ibdev_name(info, to, size)).unwrap();
                let iface = text(256, |to, size| doca_devinfo_get_iface_name(info, to, size)).unwrap();
                format!("{} {ibdev} {iface}", pci(info))
            }
        })
        .collect();
    assert_eq!(
        found,
        [
            "0000:03:00.0 mlx5_0 p0",
            "0000:03:00.1 mlx5_1 p1",
            "0000:b1:00.0 mlx5_2 enp177s0f0np0",
            "0000:b1:00.1 mlx5_3 enp177s0f1np1",
        ]
    );
    assert!(c! { *list.array.add(list.count as usize) }.is_null(), "a NULL ends the array");
}

#[test]
fn several_lists_are_independent() {
    setup();
    let first = List::new();
    let second = List::new();
    assert_ne!(first.array, second.array);
    assert_ne!(first.at(0), second.at(0));
    drop(first);
    assert_eq!(pci(second.at(0)), "0000:03:00.0");
}

#[test]
fn null_outputs_and_lists_are_refused() {
    setup();
    let (mut array, mut count) = (null_mut(), 0);
    c! {
        assert_eq!(doca_devinfo_create_list(null_mut(), &mut count), INVALID_VALUE);
        assert_eq!(doca_devinfo_create_list(&mut array, null_mut()), INVALID_VALUE);
        assert!(array.is_null() && count == 0);
        assert_eq!(doca_devinfo_destroy_list(null_mut()), INVALID_VALUE);
        let mut stray = [null_mut::<DevInfo>(); 2];
        assert_eq!(doca_devinfo_destroy_list(stray.as_mut_ptr()), INVALID_VALUE);
        assert_eq!(doca_devinfo_rep_destroy_list(null_mut()), INVALID_VALUE);
    }
    let lines = lines();
    assert_eq!(lines.len(), 5, "one line per refusal: {lines:?}");
    assert!(lines.iter().all(|line| line.contains("doca_devinfo_")), "{lines:?}");
}

#[test]
fn a_list_destroyed_twice_or_overwritten_is_refused() {
    setup();
    let list = List::new();
    let array = list.array;
    c! {
        let second = *array.add(1);
        *array.add(1) = null_mut();
        assert_eq!(doca_devinfo_destroy_list(array), IN_USE);
        assert!(lines().iter().any(|line| line.contains("element 1")));
        *array.add(1) = second;
    }
    drop(list);
    // The address could have been given to another test's list, so only a list of our own is looked at.
    let (mut mine, mut count) = (null_mut(), 0);
    c! {
        assert_eq!(doca_devinfo_create_list(&mut mine, &mut count), SUCCESS);
        let inside = mine.add(1);
        assert_eq!(doca_devinfo_destroy_list(inside), INVALID_VALUE, "the middle of a list is no list");
        assert_eq!(doca_devinfo_destroy_list(mine), SUCCESS);
    }
}

#[test]
fn records_die_with_their_list_but_open_devices_do_not() {
    setup();
    let list = List::new();
    let info = list.by_pci("b1:00.1");
    let dev = open_info(info);
    drop(list);
    let mut same = null_mut();
    let own = c! { doca_dev_as_devinfo(dev) };
    assert_eq!(pci(own), "0000:b1:00.1");
    assert_eq!(c! { doca_dev_open(own, &mut same) }, SUCCESS, "the record of an open device may be opened");
    assert_eq!(same, dev);
    close(dev);
    close(dev);
}

#[test]
fn one_pointer_per_device_and_one_close_per_open() {
    setup();
    let dev = open("0000:03:00.1");
    assert_eq!(open("03:00.1"), dev);
    let other = open("b1:00.0");
    assert_ne!(other, dev);
    close(other);
    close(dev);
    assert_eq!(pci(c! { doca_dev_as_devinfo(dev) }), "0000:03:00.1", "one open is left");
    close(dev);
}

#[test]
fn a_representor_in_use_stays_open_until_its_users_are_gone() {
    setup();
    let dev = open("03:00.0");
    let list = RepList::new(dev, 0).unwrap();
    let mut rep = null_mut();
    assert_eq!(c! { doca_dev_rep_open(list.at(0), &mut rep) }, SUCCESS);
    drop(list);
    let held = Arc::clone(c! { open_representor(rep, "test") }.unwrap());
    lines();
    assert_eq!(c! { doca_dev_rep_close(rep) }, IN_USE);
    let said = lines();
    assert!(said.len() == 1 && said[0].contains("0000:b1:00.0"), "{said:?}");
    drop(held);
    assert_eq!(c! { doca_dev_rep_close(rep) }, SUCCESS);
    assert_eq!(c! { doca_dev_rep_close(rep) }, INVALID_VALUE, "closed already");
    close(dev);
}

#[test]
fn representors_are_shown_on_the_card_only() {
    setup();
    let card = open("03:00.0");
    for filter in [0, 2] {
        let list = RepList::new(card, filter).unwrap();
        assert_eq!(list.count, 1);
        let rep = list.at(0);
        c! {
            let address = text(13, |to, _| doca_devinfo_rep_get_pci_addr_str(rep, to)).unwrap();
            assert_eq!(address, "0000:b1:00.0");
            assert_eq!(
                text(256, |to, size| doca_devinfo_rep_get_iface_name(rep, to, size)).unwrap(),
                "pf0hpf"
            );
            let vuid = text(128, |to, size| doca_devinfo_rep_get_vuid(rep, to, size)).unwrap();
            assert!(!vuid.is_empty());
            let (mut kind, mut hot, mut id) = (9, 9, 9);
            assert_eq!(doca_devinfo_rep_get_pci_func_type(rep, &mut kind), SUCCESS);
            assert_eq!(doca_devinfo_rep_get_is_hotplug(rep, &mut hot), SUCCESS);
            assert_eq!(doca_devinfo_rep_get_vhca_id(rep, &mut id), SUCCESS);
            assert_eq!((kind, hot, id), (0, 0, 2));
            for (wanted, equal) in [("B1:00.0", 1), ("0000:b1:00.0", 1), ("b1:00.1", 0)] {
                let wanted = CString::new(wanted).unwrap();
                let mut answer = 9;
                assert_eq!(doca_devinfo_rep_is_equal_pci_addr(rep, wanted.as_ptr(), &mut answer), SUCCESS);
                assert_eq!(answer, equal);
            }
        }
    }
    for (filter, status) in
        [(4, NOT_SUPPORTED), (6, NOT_SUPPORTED), (1, INVALID_VALUE), (8, INVALID_VALUE), (-1, INVALID_VALUE)]
    {
        assert_eq!(RepList::new(card, filter).err(), Some(status), "filter {filter}");
    }
    close(card);
    let host = open("b1:00.0");
    assert_eq!(RepList::new(host, 0).err(), Some(NOT_SUPPORTED));
    assert!(lines().iter().any(|line| line.contains("side `host`")));
    close(host);
}

#[test]
fn every_open_of_a_representor_is_a_handle_of_its_own() {
    setup();
    let card = open("03:00.1");
    let list = RepList::new(card, 2).unwrap();
    let (mut first, mut second) = (null_mut(), null_mut());
    c! {
        assert_eq!(doca_dev_rep_open(list.at(0), &mut first), SUCCESS);
        assert_eq!(doca_dev_rep_open(list.at(0), &mut second), SUCCESS);
    }
    assert_ne!(first, second);
    drop(list);
    c! {
        let info = doca_dev_rep_as_devinfo(first);
        assert_eq!(text(13, |to, _| doca_devinfo_rep_get_pci_addr_str(info, to)).unwrap(), "0000:b1:00.1");
        let mut third = null_mut();
        assert_eq!(doca_dev_rep_open(info, &mut third), SUCCESS, "from the record of an open one");
        for rep in [third, second, first] {
            assert_eq!(doca_dev_rep_close(rep), SUCCESS);
        }
    }
    close(card);
}

/// A getter that takes a buffer: its name, the least size, and how it is called.
type Sized = (&'static str, u32, unsafe fn(*const DevInfo, *mut u8, u32) -> i32);

#[test]
fn buffers_below_the_constant_are_refused_and_larger_ones_are_fine() {
    setup();
    let list = List::new();
    let getters: [Sized; 5] = [
        ("ipv4", 4, |info, to, size| c! { doca_devinfo_get_ipv4_addr(info, to, size) }),
        ("ipv6", 16, |info, to, size| c! { doca_devinfo_get_ipv6_addr(info, to, size) }),
        ("mac", 6, |info, to, size| c! { doca_devinfo_get_mac_addr(info, to, size) }),
        ("iface", 256, |info, to, size| c! { doca_devinfo_get_iface_name(info, to.cast(), size) }),
        ("ibdev", 64, |info, to, size| c! { doca_devinfo_get_ibdev_name(info, to.cast(), size) }),
    ];
    lines();
    for (name, least, get) in getters {
        let mut buffer = [0xaau8; 512];
        c! {
            assert_eq!(get(list.at(0), buffer.as_mut_ptr(), least - 1), INVALID_VALUE, "{name}");
            assert!(buffer.iter().all(|&byte| byte == 0xaa), "{name}");
            let said = lines();
            assert!(said.len() == 1 && said[0].contains(&least.to_string()), "{said:?}");
            assert_eq!(get(list.at(0), null_mut(), least), INVALID_VALUE, "{name}");
            assert_eq!(get(null(), buffer.as_mut_ptr(), least), INVALID_VALUE, "{name}");
            assert_eq!(get(list.at(0), buffer.as_mut_ptr(), least), SUCCESS, "{name}");
            assert!(buffer[least as usize..].iter().all(|&byte| byte == 0xaa), "{name}");
            assert_eq!(get(list.at(0), buffer.as_mut_ptr(), 512), SUCCESS, "{name}");
            lines();
        }
    }
}

#[test]
fn addresses_and_numbers_differ_per_device() {
    setup();
    let list = List::new();
    let mut seen = std::collections::HashSet::new();
    for info in list.all() {
        let (mut v4, mut v6, mut mac) = ([0u8; 4], [0u8; 16], [0u8; 6]);
        let (mut rate, mut vhca, mut index, mut kind, mut sf, mut lid) = (0, 0, 0, 9, 0, 0);
        c! {
            assert_eq!(doca_devinfo_get_ipv4_addr(info, v4.as_mut_ptr(), 4), SUCCESS);
            assert_eq!(doca_devinfo_get_ipv6_addr(info, v6.as_mut_ptr(), 16), SUCCESS);
            assert_eq!(doca_devinfo_get_mac_addr(info, mac.as_mut_ptr(), 6), SUCCESS);
            assert_eq!(doca_devinfo_get_active_rate(info, &mut rate), SUCCESS);
            assert_eq!(doca_devinfo_get_vhca_id(info, &mut vhca), SUCCESS);
            assert_eq!(doca_devinfo_get_iface_index(info, &mut index), SUCCESS);
            assert_eq!(doca_devinfo_get_pci_func_type(info, &mut kind), SUCCESS);
            assert_eq!(doca_devinfo_get_sf_index(info, &mut sf), NOT_SUPPORTED);
            assert_eq!(doca_devinfo_get_lid(info, &mut lid), NOT_SUPPORTED);
        }
        assert_eq!(kind, 0);
        assert!(rate >= 1_000_000_000);
        for value in [v4.to_vec(), v6.to_vec(), mac.to_vec(), index.to_be_bytes().to_vec(), vec![vhca as u8]]
        {
            assert!(seen.insert(value.clone()), "{value:?} twice");
        }
    }
}

#[test]
fn addresses_are_compared_in_both_forms_and_malformed_ones_refused() {
    setup();
    let list = List::new();
    assert!(is_equal(list.at(2), "b1:00.0") && is_equal(list.at(2), "0000:B1:00.0"));
    assert!(!is_equal(list.at(2), "0001:b1:00.0"));
    lines();
    for text in ["", "b1", "b1:00.0 ", "0000:b1:00", "b1:00.9", "\u{fffd}\u{fffd}x"] {
        let wanted = CString::new(text).unwrap();
        let mut equal = 9;
        let status = c! { doca_devinfo_is_equal_pci_addr(list.at(2), wanted.as_ptr(), &mut equal) };
        assert_eq!(status, INVALID_VALUE, "{text:?}");
        assert_eq!(lines().len(), 1);
    }
    let wanted = c"b1:00.0";
    c! {
        let mut equal = 9;
        assert_eq!(doca_devinfo_is_equal_pci_addr(list.at(2), null(), &mut equal), INVALID_VALUE);
        assert_eq!(doca_devinfo_is_equal_pci_addr(list.at(2), wanted.as_ptr(), null_mut()), INVALID_VALUE);
        assert_eq!(doca_devinfo_is_equal_pci_addr(null(), wanted.as_ptr(), &mut equal), INVALID_VALUE);
    }
}

#[test]
fn a_search_without_result_lists_what_exists() {
    setup();
    let list = List::new();
    assert!(!list.all().any(|info| is_equal(info, "07:00.0")));
    lines();
    drop(list);
    let said = lines();
    assert_eq!(said.len(), 1, "{said:?}");
    for part in ["0000:07:00.0", "0000:03:00.0", "mlx5_3", "p1"] {
        assert!(said[0].contains(part), "{part} in {said:?}");
    }
    let list = List::new();
    assert!(list.all().any(|info| is_equal(info, "03:00.0")));
    drop(list);
    assert_eq!(lines(), [""; 0], "a search with a result says nothing");
}

#[test]
fn capabilities_of_the_default_card() {
    setup();
    let list = List::new();
    for (at, info) in list.all().enumerate() {
        let card = u8::from(at < 2);
        type Cap = unsafe extern "C" fn(*const DevInfo, *mut u8) -> i32;
        let flags: [(Cap, u8); 8] = [
            (doca_devinfo_cap_is_hotplug_manager_supported, 0),
            (doca_devinfo_cap_is_notification_moderation_supported, 0),
            (doca_devinfo_cap_is_accelerate_resource_reclaim_supported, 0),
            (doca_devinfo_rep_cap_is_filter_all_supported, card),
            (doca_devinfo_rep_cap_is_filter_net_supported, card),
            (doca_devinfo_rep_cap_is_filter_emulated_supported, 0),
            (doca_mmap_cap_is_export_pci_supported, 1),
            (doca_mmap_cap_is_create_from_export_pci_supported, 1),
        ];
        for (which, (cap, expected)) in flags.into_iter().enumerate() {
            let mut answer = 9;
            c! {
                assert_eq!(cap(info, &mut answer), SUCCESS);
                assert_eq!(answer, expected, "flag {which} of device {at}");
                assert_eq!(cap(info, null_mut()), INVALID_VALUE);
                assert_eq!(cap(null(), &mut answer), INVALID_VALUE);
            }
        }
        let (mut bytes, mut elements, mut token) = (0, 0, 0);
        c! {
            assert_eq!(doca_dma_cap_task_memcpy_is_supported(info), SUCCESS);
            assert_eq!(doca_dma_cap_task_memcpy_get_max_buf_size(info, &mut bytes), SUCCESS);
            assert_eq!(doca_dma_cap_task_memcpy_get_max_buf_list_len(info, &mut elements), SUCCESS);
            assert_eq!(doca_mmap_cap_get_max_export_access_token_size(info, &mut token), SUCCESS);
            assert_eq!(doca_dma_cap_task_memcpy_get_max_buf_size(info, null_mut()), INVALID_VALUE);
        }
        assert_eq!((bytes, elements, token), (2 << 30, 64, 32));
    }
    c! {
        assert_eq!(doca_dma_cap_task_memcpy_is_supported(null()), INVALID_VALUE);
    }
}

#[test]
fn the_hint_without_capability_is_not_supported() {
    setup();
    let dev = open("03:00.0");
    c! {
        assert_eq!(doca_dev_accelerate_resource_reclaim(dev), NOT_SUPPORTED);
        assert_eq!(doca_dev_accelerate_resource_reclaim(null_mut()), INVALID_VALUE);
    }
    close(dev);
}
