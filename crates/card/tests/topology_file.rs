//! Topology files: what they can say, and how they are refused.

use softdpu_card::{EngineKind, Feature, FunctionKind, Machine, Mode, Profile, Side};

const EXAMPLE: &str = include_str!("../topology.example.toml");

fn machine(text: &str) -> Machine {
    Machine::builder().config_text(text).build().unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn refusal(text: &str) -> (Option<(usize, usize)>, String) {
    let error = Machine::builder().config_text(text).build().expect_err(text);
    (error.place(), error.cause().to_owned())
}

#[test]
fn the_example_means_what_its_comments_say() {
    let machine = machine(EXAMPLE);
    let settings = machine.settings();
    assert!(!settings.strict && !settings.trust_shm);
    assert_eq!(settings.memlock, Some(64 << 20));
    assert_eq!(settings.fabric_provider.as_deref(), Some("tcp;ofi_rxm"));
    let list: Vec<_> =
        machine.functions().iter().map(|f| format!("{} {} {f}", f.card().name(), f.kind())).collect();
    assert_eq!(
        list,
        [
            "card0 pf 0000:03:00.0 (dpu, mlx5_0, p0)",
            "card0 pf 0000:03:00.1 (dpu, mlx5_1, p1)",
            "card0 sf 0000:03:00.0 (dpu, mlx5_2, enp3s0f0s4)",
            "card0 pf 0000:b1:00.0 (host, mlx5_3, enp177s0f0np0)",
            "card0 pf 0000:b1:00.1 (host, mlx5_4, enp177s0f1np1)",
            "card0 vf 0000:b1:00.3 (host, mlx5_5, enp177s0f3)",
            "bonded pf 0000:04:00.0 (dpu, mlx5_bond_0, bond0)",
            "bonded pf 0000:b2:00.0 (host, mlx5_6, enp178s0f0np0)",
            "bonded pf 0000:b2:00.1 (host, mlx5_7, enp178s0f1np1)",
            "plain pf 0001:c1:00.0 (host, mlx5_20, lo)",
        ]
    );
    let first = &machine.functions()[0];
    assert_eq!(first.ipv4(), Some([192, 0, 2, 1]));
    assert_eq!(first.ipv6()[..4], [0x20, 1, 0x0d, 0xb8]);
    assert_eq!(first.mac(), [2, 0x53, 0x44, 0x50, 1, 1]);
    assert_eq!(first.active_rate(), 200_000_000_000);
    assert_eq!(first.limits().dma.max_buf_size, 1 << 20);
    assert!(!first.supports(EngineKind::AesGcm) && first.supports(EngineKind::ErasureCoding));
    let representors: Vec<_> = machine.functions()[..2]
        .iter()
        .map(|f| f.representors().iter().map(|r| format!("{} {}", r.iface(), r.pci())).collect::<Vec<_>>())
        .collect();
    assert_eq!(
        representors,
        [vec!["pf0hpf 0000:b1:00.0"], vec!["pf1hpf 0000:b1:00.1", "pf1vf0 0000:b1:00.3"]]
    );
}

#[test]
fn kinds_numbers_and_addresses_of_virtual_functions() {
    let machine = machine(EXAMPLE);
    let sf = &machine.functions()[2];
    assert_eq!((sf.kind(), sf.sf_index()), (FunctionKind::Sf, Some(4)));
    assert_eq!(machine.find("03:00.0").unwrap().kind(), FunctionKind::Pf, "the parent comes first");
    let vf = &machine.functions()[5];
    assert_eq!((vf.kind(), vf.sf_index(), vf.ipv4()), (FunctionKind::Vf, None, None));
    assert_eq!(vf.gid(), vf.ipv6(), "without IPv4 the identifier is the IPv6 address");
    assert_eq!(vf.limits().dma.max_buf_list_len, 1);
    assert_eq!(vf.limits().dma.max_num_tasks, 4096, "the card's limit stays");
    assert!(!vf.supports(EngineKind::EthRxq) && !vf.supports(EngineKind::EthTxq));
    assert!(!vf.supports(EngineKind::AesGcm), "the card lacks it");
}

#[test]
fn a_bond_stands_for_its_members() {
    let machine = machine(EXAMPLE);
    let bond = machine.find("mlx5_bond_0").unwrap();
    assert_eq!(bond.ipv4(), None);
    assert_eq!(bond.active_rate(), 400_000_000_000);
    assert_eq!(
        bond.bond_members().map(|pci| pci.to_string()).collect::<Vec<_>>(),
        ["0000:04:00.0", "0000:04:00.1"]
    );
    for name in ["04:00.1", "bond0", "p3", "mlx5_5x", "mlx5_4", "04:00.0"] {
        let found = machine.find(name);
        match name {
            "mlx5_5x" => assert!(found.is_err()),
            // The first card uses this name on the host; the member of the bond comes later.
            "mlx5_4" => assert_eq!(found.unwrap().side(), Side::Host),
            _ => assert_eq!(found.unwrap().ibdev(), "mlx5_bond_0", "{name}"),
        }
    }
    let shown: Vec<_> = bond.representors().iter().map(|r| r.iface().to_owned()).collect();
    assert_eq!(shown, ["pf0hpf", "pf1hpf"]);
}

#[test]
fn a_real_interface_brings_its_own_addresses() {
    let machine = machine(EXAMPLE);
    let function = machine.find("lo").unwrap();
    assert!(function.has_real_interface());
    assert!(function.iface_index() < 100_000);
    assert_eq!(function.ipv4().unwrap_or([127, 0, 0, 1]), [127, 0, 0, 1]);
    let (place, cause) =
        refusal("[[card]]\n[[card.function]]\nside='host'\npci='b1:00.0'\nreal_iface='nope0'");
    assert_eq!(place, Some((5, 12)));
    assert!(cause.contains("nope0") && cause.contains("lo"), "{cause}");
}

#[test]
fn in_nic_mode_there_are_no_representors_and_no_comch() {
    let machine = machine("[[card]]\nmode = 'nic'");
    for function in machine.functions() {
        assert_eq!(function.card().mode(), Mode::Nic);
        assert!(function.representors().is_empty());
        assert!(!function.has(Feature::ComchServer) && !function.has(Feature::ComchClient));
        assert_eq!(function.shows_representors(), function.side() == Side::Dpu);
    }
}

#[test]
fn the_callers_profile_beats_the_file() {
    let build = |text: &str, profile| Machine::builder().config_text(text).profile(profile).build();
    let machine = build("[[card]]\nprofile = 'bf3'\n[[card]]\n", Profile::Bf2).unwrap();
    assert!(machine.functions().iter().all(|function| function.card().profile() == Profile::Bf2));
    assert_eq!(machine.functions().len(), 8);
    let error = build("[[card]]\n[[card.function]]\nside='dpu'\npci='03:00.0'", Profile::Cx7).unwrap_err();
    assert!(error.to_string().contains("cx7"), "{error}");
}

#[test]
fn an_empty_file_is_the_default_machine() {
    assert_eq!(machine("").functions(), Machine::builder().build().unwrap().functions());
    assert!(machine("strict = true").settings().strict);
}

/// Text, place of the complaint, words it must contain.
#[test]
fn refusals_name_the_place_and_what_is_allowed() {
    let f = |rest: &str| format!("[[card]]\n[[card.function]]\nside='host'\npci='b1:00.0'\n{rest}");
    let rows: Vec<(String, (usize, usize), &[&str])> = vec![
        ("strikt = true".into(), (1, 1), &["strikt", "strict", "trust_shm", "card"]),
        ("strict = 1".into(), (1, 10), &["integer", "boolean"]),
        ("memlock = -1".into(), (1, 11), &["-1"]),
        ("a = [".into(), (1, 6), &[]),
        ("[fabric]\nprovider = 'a b'".into(), (2, 12), &["spaces"]),
        ("[fabric]\nkind = 'x'".into(), (2, 1), &["kind", "provider"]),
        ("[[card]]\nprofile = 'bf9'".into(), (2, 11), &["bf9", "all", "bf2", "bf3", "cx7"]),
        ("[[card]]\nmode = 'arm'".into(), (2, 8), &["arm", "dpu", "nic"]),
        ("[[card]]\nprofile='cx7'\nmode='dpu'".into(), (3, 6), &["cx7", "nic"]),
        ("[[card]]\nname = ''".into(), (2, 8), &["card name", "63"]),
        ("[[card]]\nname='a'\n[[card]]\nname='a'".into(), (3, 1), &["two cards", "`a`"]),
        ("[[card]]\nwithout=['dma', 'warp']".into(), (2, 17), &["warp", "dma", "ec_create"]),
        ("[[card]]\n[card.limits.dna]\nx=1".into(), (2, 14), &["dna", "dma", "sync_event"]),
        ("[[card]]\n[card.limits.dna]".into(), (2, 14), &["dna", "dma"]),
        ("[[card]]\n[card.limits.dma]\nsize=1".into(), (3, 1), &["size", "max_buf_size"]),
        ("[[card]]\n[card.limits.dma]\nmax_num_tasks=0".into(), (3, 15), &["max_num_tasks", "1..=1048576"]),
        ("[[card]]\n[card.limits.dma]\nmax_num_tasks='x'".into(), (3, 15), &["string"]),
        ("[[card]]\n[[card.function]]\npci='b1:00.0'".into(), (2, 1), &["missing", "side"]),
        ("[[card]]\n[[card.function]]\nside='host'".into(), (2, 1), &["missing", "pci"]),
        ("[[card]]\n[[card.function]]\nside='left'".into(), (3, 6), &["left", "dpu", "host"]),
        (
            "[[card]]\n[[card.function]]\nside='host'\npci='b1:0.0'".into(),
            (4, 5),
            &["b1:0.0", "DDDD:BB:DD.F"],
        ),
        (f("kind='qf'"), (5, 6), &["qf", "pf", "vf", "sf"]),
        (f("kind='sf'"), (2, 1), &["sf_index"]),
        (f("sf_index=3"), (5, 10), &["sf_index"]),
        (f("iface='a/b'"), (5, 7), &["a/b", "15"]),
        (f("iface='abcdefghijklmnop'"), (5, 7), &["15"]),
        (f("ibdev='..'"), (5, 7), &["RDMA device name"]),
        (f("ipv4='localhost'"), (5, 6), &["localhost", "none"]),
        (f("ipv6='1.2.3.4'"), (5, 6), &["IPv6"]),
        (f("mac='1'"), (5, 5), &["Ethernet"]),
        (f("rate_gbps=0"), (5, 11), &["1..=10000"]),
        (f("iface='x'\nreal_iface='lo'"), (5, 7), &["exclude"]),
        (f("represented_on='03:00.0'"), (5, 16), &["0000:03:00.0", "dpu"]),
        (f("[[card.function]]\nside='host'\npci='B1:00.0'"), (5, 1), &["same", "b1:00.0"]),
        (
            f("[[card.function]]\nside='host'\npci='c1:00.0'\nibdev='mlx5_0'"),
            (5, 1),
            &["RDMA device", "mlx5_0"],
        ),
        (f("[[card.function]]\nside='host'\npci='c1:00.0'\nkind='sf'\nsf_index=1"), (7, 5), &["parent"]),
        (f("[[card.function]]\nside='dpu'\npci='c1:00.0'\nrepresentor='x'"), (8, 13), &["host"]),
        ("[[card]]\n[[card.bond]]\nmembers=[]\nibdev='b'\niface='b'".into(), (3, 9), &["2", "0"]),
        (
            "[[card]]\n[[card.bond]]\nmembers=['03:00.0','03:00.0']\nibdev='b'\niface='b'".into(),
            (3, 20),
            &["already"],
        ),
        (
            "[[card]]\n[[card.bond]]\nmembers=['03:00.0','b1:00.0']\nibdev='b'\niface='b'".into(),
            (3, 20),
            &["side"],
        ),
        (
            "[[card]]\n[[card.bond]]\nmembers=['03:00.0','05:00.0']\nibdev='b'\niface='b'".into(),
            (3, 20),
            &["05:00.0"],
        ),
        ("[[card]]\n[[card.bond]]\nibdev='b'\niface='b'".into(), (2, 1), &["members"]),
    ];
    for (text, expected, words) in rows {
        let (place, cause) = refusal(&text);
        assert_eq!(place, Some(expected), "{cause}\n{text}");
        for word in words {
            assert!(cause.contains(word), "`{word}` is missing in: {cause}\n{text}");
        }
        assert!(!cause.contains('\n'), "one line: {cause}");
    }
}

#[test]
fn too_many_cards_and_functions_are_refused() {
    let cards = "[[card]]\n".repeat(65);
    assert!(refusal(&cards).1.contains("64"));
    assert_eq!(machine(&"[[card]]\n".repeat(64)).functions().len(), 256);
    let mut text = String::from("[[card]]\n");
    for number in 0..1025 {
        let (bus, device, function) = (number / 256, number / 8 % 32, number % 8);
        text += &format!("[[card.function]]\nside='host'\npci='{bus:02x}:{device:02x}.{function}'\n");
    }
    assert!(refusal(&text).1.contains("1024"));
}

/// A small generator, so that a failure repeats.
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % below
    }
}

/// Ends the test program when a reader does not come back; far above what any machine needs.
fn with_watchdog(work: impl FnOnce() + Send + 'static) {
    let (done, wait) = std::sync::mpsc::channel();
    let worker = std::thread::spawn(move || {
        work();
        let _ = done.send(());
    });
    if wait.recv_timeout(std::time::Duration::from_secs(300))
        == Err(std::sync::mpsc::RecvTimeoutError::Timeout)
    {
        eprintln!("watchdog: the reader hangs");
        std::process::abort();
    }
    if let Err(panic) = worker.join() {
        std::panic::resume_unwind(panic);
    }
}

#[test]
fn random_bytes_are_refused_or_accepted_but_never_panic() {
    with_watchdog(read_random_files);
}

fn read_random_files() {
    let folder = std::env::temp_dir().join(format!("softdpu-card-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("random.toml");
    let words: &[&[u8]] = &[
        b"[[card]]",
        b"[card.limits.dma]",
        b"max_buf_size",
        b"=",
        b"1",
        b"\n",
        b"'b1:00.0'",
        b"[",
        b"]",
        b"{",
        b"}",
        b"[[card.function]]",
        b"side='host'",
        b"pci",
        b"\"",
        b"\xff",
        b"\0",
        b"-9223372036854775808",
        b"1e999",
        b".",
        b"[[card.bond]]",
        b"members",
        b"\xc3\xa9",
        b"#",
        b"\\u0000",
        b"''''''",
        b"inf",
        b"1979-05-27",
    ];
    let mut random = Random(0x5eed_0001_0002_0003);
    let mut refused = 0;
    for round in 0..3000 {
        let mut bytes = Vec::new();
        match round % 3 {
            0 => bytes.extend((0..random.next(200)).map(|_| random.next(256) as u8)),
            1 => (0..random.next(60)).for_each(|_| bytes.extend(words[random.next(words.len())])),
            _ => {
                bytes.extend(EXAMPLE.as_bytes());
                for _ in 0..=random.next(4) {
                    let at = random.next(bytes.len());
                    match random.next(3) {
                        0 => bytes[at] = random.next(256) as u8,
                        1 => drop(bytes.drain(at..(at + random.next(40)).min(bytes.len()))),
                        _ => drop(bytes.splice(at..at, words[random.next(words.len())].iter().copied())),
                    }
                }
            }
        }
        std::fs::write(&path, &bytes).unwrap();
        if let Err(error) = Machine::builder().config_file(&path).build() {
            refused += 1;
            let text = error.to_string();
            assert!(text.contains("random.toml") && !error.cause().is_empty(), "{text}");
            assert!(!text.contains('\n'), "one line: {text}");
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(refused > 1000, "the mutations must matter: {refused}");
}

#[test]
fn deep_nesting_is_an_error_not_a_stack_overflow() {
    with_watchdog(|| {
        for open in ["[", "{a="] {
            let text = format!("a = {}", open.repeat(100_000));
            assert!(Machine::builder().config_text(text).build().is_err());
        }
    });
}

#[test]
fn ports_have_backends_and_wires() {
    use softdpu_card::{Backend, Plug};
    let machine = machine(EXAMPLE);
    let functions = machine.functions();
    let port = |number: u16, is_representor: bool| Plug { number, is_representor };
    assert_eq!(*functions[0].backend(), Backend::Tap("sd0".into()));
    assert_eq!(*functions[1].backend(), Backend::Loop);
    assert_eq!(functions[1].wired_to(), port(1, false), "written down: to itself");
    assert_eq!(functions[0].wired_to(), port(0, false), "nothing is left for it");
    assert_eq!(functions[3].wired_to(), port(3, true));
    assert_eq!(functions[0].representors()[0].wired_to(), port(3, false));
    assert_eq!(functions[5].backend().to_string(), "pcap:read=in.pcap,write=out.pcap");
    assert_eq!(
        functions[9].backend().to_string(),
        "packet:lo",
        "a real interface is reached by packet sockets"
    );
    // The host functions of a plain card are its ports.
    assert_eq!(functions[9].wired_to(), port(9, false));
}

#[test]
fn default_ports_are_wired_side_by_side() {
    use softdpu_card::Plug;
    let wires = |profile| {
        let machine = Machine::builder().profile(profile).build().unwrap();
        machine
            .functions()
            .iter()
            .map(|f| f.wired_to())
            .map(|p| (p.number, p.is_representor))
            .collect::<Vec<_>>()
    };
    assert_eq!(wires(Profile::All), [(1, false), (0, false), (2, true), (3, true)]);
    assert_eq!(wires(Profile::Cx7), [(1, false), (0, false)]);
    let all = Machine::builder().build().unwrap();
    let shown = &all.functions()[0].representors()[0];
    assert_eq!(shown.wired_to(), Plug { number: 2, is_representor: false });
}

#[test]
fn backends_and_wires_that_cannot_be_are_refused_at_their_place() {
    let with =
        |lines: &str| format!("[[card]]\n[[card.function]]\nside = \"dpu\"\npci = \"03:00.0\"\n{lines}\n");
    for (lines, cause) in [
        ("backend = \"wire\"", "unknown backend `wire`; allowed: loop, tap, packet, afxdp, pcap"),
        ("backend = \"packet\"", "needs the name of an interface"),
        ("interface = \"eth0\"", "`interface` needs a `backend`"),
        ("wire = \"p7\"", "`p7` is no port of this card; those that are: p0"),
    ] {
        let (place, text) = refusal(&with(lines));
        assert!(text.contains(cause), "{text}");
        assert_eq!(place.map(|(line, _)| line), Some(5), "{text}");
    }
    let twice = "[[card]]\n\
        [[card.function]]\nside = \"dpu\"\npci = \"03:00.0\"\nwire = \"p1\"\n\
        [[card.function]]\nside = \"dpu\"\npci = \"03:00.1\"\n\
        [[card.function]]\nside = \"dpu\"\npci = \"04:00.0\"\nwire = \"p1\"\n";
    assert!(refusal(twice).1.contains("`p1` is wired twice"), "{}", refusal(twice).1);
}

#[test]
fn steering_rules_are_read_and_checked() {
    let example = machine(EXAMPLE);
    let rules = example.functions()[1].steering();
    assert_eq!(rules.len(), 2);
    assert_eq!(rules[0].dst, Some(("192.0.2.0".parse().unwrap(), 24)));
    assert_eq!(
        (rules[0].protocol, rules[0].dst_port, rules[0].ether_type),
        (Some(17), Some(4791), Some(0x800))
    );
    assert_eq!((&rules[0].queues[..], rules[0].mark, rules[0].tag), (&[0, 1][..], 1234, 7));
    assert!(rules[1].queues.is_empty() && rules[1].dst.is_none());
    let with = |lines: &str| {
        format!(
            "[[card]]\n[[card.function]]\nside = \"dpu\"\npci = \"03:00.0\"\n[[card.function.steer]]\n{lines}\n"
        )
    };
    for (lines, cause) in [
        ("dst_port = 1", "needs either `queues` or `drop = true`"),
        ("drop = true\nqueues = [1]", "needs either"),
        ("queues = [0]\nsrc = \"10.0.0.0/33\"", "neither an IP address nor a prefix"),
        ("queues = [0]\nprotocol = \"gre\"", "unknown protocol `gre`; allowed: icmp, tcp"),
        ("queues = [0]\nvlan = 4096", "0 to 4095"),
        ("queues = [0]\ndst_mac = \"x\"", "not an Ethernet address"),
        ("queues = [0]\nport = 7", "unknown field `port`"),
    ] {
        let (place, text) = refusal(&with(lines));
        assert!(text.contains(cause) && place.is_some(), "{text}");
    }
}
