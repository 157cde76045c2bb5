//! The machine when nothing is configured, per profile and side.

use softdpu_card::{EngineKind, Feature, FunctionKind, Machine, Mode, Profile, Side, View};
use std::collections::HashSet;

fn machine(profile: Profile, view: View) -> Machine {
    Machine::builder().profile(profile).view(view).build().unwrap()
}

#[test]
fn functions_come_in_table_order_with_representors_on_their_ports() {
    let machine = machine(Profile::All, View::Both);
    let names: Vec<_> = machine.functions().iter().map(ToString::to_string).collect();
    assert_eq!(
        names,
        [
            "0000:03:00.0 (dpu, mlx5_0, p0)",
            "0000:03:00.1 (dpu, mlx5_1, p1)",
            "0000:b1:00.0 (host, mlx5_2, enp177s0f0np0)",
            "0000:b1:00.1 (host, mlx5_3, enp177s0f1np1)",
        ]
    );
    for (port, name) in [(0, "pf0hpf"), (1, "pf1hpf")] {
        let host = &machine.functions()[2 + port];
        let [representor] = machine.functions()[port].representors() else {
            panic!("one representor per port")
        };
        assert_eq!(representor.iface(), name);
        assert_eq!(representor.pci(), host.pci());
        assert_eq!(representor.vhca_id(), host.vhca_id());
        assert_eq!(representor.kind(), FunctionKind::Pf);
        assert!(!representor.vuid().is_empty() && representor.vuid().len() < 128);
        assert!(host.representors().is_empty() && !host.shows_representors());
    }
}

#[test]
fn addresses_are_fixed_and_distinct() {
    let first = machine(Profile::All, View::Both);
    let again = machine(Profile::All, View::Both);
    let mut seen = HashSet::new();
    for (function, other) in first.functions().iter().zip(again.functions()) {
        assert_eq!(function, other);
        let ipv4 = function.ipv4().unwrap();
        assert_eq!(function.gid()[12..], ipv4);
        assert_eq!(function.gid()[10..12], [0xff, 0xff]);
        assert_eq!(function.mac()[0] & 3, 2, "locally administered, not multicast");
        assert!(seen.insert(ipv4.to_vec()) && seen.insert(function.ipv6().to_vec()));
        assert!(
            seen.insert(function.mac().to_vec()) && seen.insert(function.vhca_id().to_be_bytes().to_vec())
        );
        assert!(function.iface_index() > 0 && !function.has_real_interface());
    }
}

#[test]
fn both_sides_agree_about_everything_though_each_sees_its_own() {
    let both = machine(Profile::Bf3, View::Both);
    let dpu = machine(Profile::Bf3, View::Dpu);
    let host = machine(Profile::Bf3, View::Host);
    assert_eq!(both.functions()[..2], *dpu.functions());
    assert_eq!(both.functions()[2..], *host.functions());
    assert_eq!(dpu.hidden_functions(), host.functions());
    assert_eq!(dpu.functions()[0].card().topology_hash(), host.functions()[0].card().topology_hash());
}

#[test]
fn the_hash_tells_topologies_apart() {
    let mut hashes = HashSet::new();
    for &profile in Profile::ALL {
        hashes.insert(machine(profile, View::Both).functions()[0].card().topology_hash());
    }
    for text in [
        "[[card]]\nname = 'x'",
        "[[card]]\nmode = 'nic'",
        "[[card]]\n[card.limits.dma]\nmax_num_tasks = 7",
        "[[card]]\nwithout = ['sha']",
        "[[card]]\n[[card.bond]]\nmembers = ['03:00.0', '03:00.1']\nibdev = 'b'\niface = 'b'",
        "[[card]]\n[[card.function]]\nside = 'host'\npci = 'b1:00.0'",
        "[[card]]\n[[card.function]]\nside = 'host'\npci = 'b1:00.0'\nipv4 = 'none'",
    ] {
        let machine = Machine::builder().config_text(text).build().unwrap();
        assert!(hashes.insert(machine.functions()[0].card().topology_hash()), "{text}");
    }
    let same = Machine::builder().config_text("strict = true").build().unwrap();
    assert!(
        hashes.contains(&same.functions()[0].card().topology_hash()),
        "settings do not make another card"
    );
}

#[test]
fn a_plain_network_card_has_host_functions_only() {
    let machine = machine(Profile::Cx7, View::Both);
    assert_eq!(machine.functions().len(), 2);
    for function in machine.functions() {
        assert_eq!(function.side(), Side::Host);
        assert_eq!(function.card().mode(), Mode::Nic);
        assert!(function.supports(EngineKind::Rdma) && !function.supports(EngineKind::Dma));
        assert!(!function.can_export_pci());
    }
    let none = Machine::builder().profile(Profile::Cx7).view(View::Dpu).build().unwrap();
    assert!(none.functions().is_empty());
    assert_eq!(none.hidden_functions().len(), 2);
}

#[test]
fn sharing_across_pci_follows_profile_and_side() {
    for function in machine(Profile::All, View::Both).functions() {
        assert!(function.can_export_pci() && function.can_import_pci());
    }
    for function in machine(Profile::Bf2, View::Both).functions() {
        assert!(function.can_export_pci());
        assert_eq!(function.can_import_pci(), function.side() == Side::Dpu);
    }
}

#[test]
fn functions_are_found_by_all_their_names() {
    let machine = machine(Profile::All, View::Both);
    for function in machine.functions() {
        let pci = function.pci().to_string();
        for name in [&pci, &pci[5..], &pci.to_uppercase(), function.ibdev(), function.iface()] {
            assert_eq!(machine.find(name).unwrap().pci(), function.pci(), "{name}");
        }
    }
    let text = machine.find("0000:3b:00.0").unwrap_err().to_string();
    assert!(text.contains("0000:3b:00.0"), "{text}");
    for function in machine.functions() {
        assert!(text.contains(&function.to_string()), "{text}");
    }
    for odd in ["", "mlx5", "MLX5_0", "0001:03:00.0", "p0 ", "\0"] {
        assert!(machine.find(odd).is_err(), "{odd:?}");
    }
}

#[test]
fn a_hidden_function_is_said_to_be_hidden() {
    let machine = machine(Profile::All, View::Dpu);
    let text = machine.find("b1:00.0").unwrap_err().to_string();
    assert!(text.contains("not seen with side `dpu`") && text.contains("0000:03:00.0"), "{text}");
    let none = Machine::builder().profile(Profile::Cx7).view(View::Dpu).build().unwrap();
    assert!(none.find("mlx5_0").unwrap_err().to_string().contains("no device is visible"));
}

#[test]
fn planes_and_features_are_answered_per_function() {
    let machine = machine(Profile::Bf2, View::Both);
    let [card, .., host] = machine.functions() else { panic!() };
    assert!(card.has(Feature::ComchServer) && host.has(Feature::ComchClient));
    assert!(card.has(Feature::Sha512Partial) && !card.supports(EngineKind::AesGcm));
    assert_eq!(card.limits().sha.max_src_buf_size, 2 << 30);
    assert_eq!(card.active_rate(), 200_000_000_000);
}
