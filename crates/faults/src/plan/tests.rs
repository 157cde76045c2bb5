//! What a plan may say, and what is said to one that may not.

use super::*;

fn refused(text: &str, place: (usize, usize), words: &[&str]) {
    let error = Plan::parse(text).expect_err(text);
    let line = error.to_string();
    assert!(!line.contains('\n'), "one line: {line}");
    assert_eq!(error.place(), Some(place), "{line}");
    for word in words {
        assert!(error.cause().contains(word), "`{word}` is missing: {line}");
    }
}

#[test]
fn the_least_there_is() {
    let plan = Plan::parse("[[fault]]\nengine = \"dma\"\ntask = 3\nerror = \"IO_FAILED\"\n").unwrap();
    assert_eq!(plan.faults.len(), 1);
    let fault = &plan.faults[0];
    assert_eq!((fault.index, fault.line, fault.engine.as_str()), (1, 1, "dma"));
    assert_eq!((fault.which, fault.effect), (Which::Number(3), Effect::Error(Code::IoFailed)));
    assert_eq!((fault.count, fault.context, fault.op.as_deref()), (u64::MAX, None, None));
}

#[test]
fn what_was_read_is_written_as_it_was() {
    let effects = [
        "error = \"DOCA_ERROR_TIME_OUT\"",
        "delay_us = 250",
        "drop = true",
        "queue_full = 2",
        "receive_not_ready = 9",
        "disconnect = true",
        "link_down_us = 1000",
        "alloc = \"NO_MEMORY\"",
    ];
    let selectors = ["", "task = 7\n", "every = 2\n", "probability = 0.25\n"];
    for effect in effects {
        for selector in selectors {
            let rests = [
                "",
                "op = \"send\"\ncontext = 2\ncount = 5\n",
                "peer = 4711\naddress = [0x1000, 8192]\n",
                "peer = \"10.0.0.2\"\nmap = 2\n",
                "peer = \"a 'server'\"\nmap = 1\naddress = [0, 64]\n",
            ];
            for rest in rests.iter().take(if effect.starts_with("alloc") { 2 } else { 5 }) {
                let text =
                    format!("memlock = 65536\n[[fault]]\nengine = \"rdma\"\n{selector}{rest}{effect}\n");
                let mut plan = Plan::parse(&text).expect(&text);
                let mut again = Plan::parse(&plan.to_toml()).expect("its own words");
                plan.faults.iter_mut().chain(&mut again.faults).for_each(|f| f.line = 0);
                assert_eq!(plan, again, "{text}");
            }
        }
    }
}

#[test]
fn the_place_of_what_is_wrong() {
    let dma = "[[fault]]\nengine = \"dma\"\n";
    refused("[[fault]]\ntask = 1\ndrop = true\n", (1, 1), &["engine"]);
    refused("[[fault]]\nengine = \"gpu\"\ndrop = true\n", (2, 10), &["gpu", "dma", "rdma"]);
    refused(&format!("{dma}task = 0\ndrop = true\n"), (3, 8), &["task", "from 1"]);
    refused(&format!("{dma}task = 1\nevery = 2\ndrop = true\n"), (4, 9), &["task", "every"]);
    refused(&format!("{dma}probability = 1.5\ndrop = true\n"), (3, 15), &["1.5", "at most 1"]);
    refused(&format!("{dma}probability = nan\ndrop = true\n"), (3, 15), &["probability"]);
    refused(&format!("{dma}task = 1\n"), (1, 1), &["no effect", "error", "alloc"]);
    refused(&format!("{dma}drop = true\ndelay_us = 1\n"), (4, 12), &["drop", "delay_us", "two faults"]);
    refused(&format!("{dma}drop = false\n"), (3, 8), &["left out"]);
    refused(&format!("{dma}error = \"BAD_LUCK\"\n"), (3, 9), &["BAD_LUCK", "IO_FAILED"]);
    refused(&format!("{dma}op = \"a\\\"b\"\ndrop = true\n"), (3, 6), &["op", "kind of task"]);
    refused(&format!("{dma}count = 0\ndrop = true\n"), (3, 9), &["at least 1"]);
    refused(&format!("{dma}taks = 1\ndrop = true\n"), (3, 1), &["taks"]);
    refused(&format!("{dma}task = \"one\"\ndrop = true\n"), (3, 8), &["string"]);
    let drop = "drop = true\n";
    refused(&format!("{dma}peer = 0\n{drop}"), (3, 8), &["peer", "at least 1"]);
    refused(&format!("{dma}peer = true\n{drop}"), (3, 8), &["peer", "program", "address"]);
    refused(&format!("{dma}peer = \"\"\n{drop}"), (3, 8), &["peer", "15 bytes"]);
    refused(&format!("{dma}peer = \"/bin/server\"\n{drop}"), (3, 8), &["/bin/server", "folders"]);
    refused(&format!("{dma}peer = \"a_name_of_16_byte\"\n{drop}"), (3, 8), &["15 bytes"]);
    refused(&format!("{dma}map = 0\n{drop}"), (3, 7), &["map", "from 1"]);
    refused(&format!("{dma}address = [16, 16]\n{drop}"), (3, 11), &["[0x10, 0x10]", "empty"]);
    refused(&format!("{dma}address = [16]\n{drop}"), (3, 11), &["2"]);
    refused(&format!("{dma}address = 16\n{drop}"), (3, 11), &["integer"]);
    for (key, engine) in [
        ("peer = 1", "eth"),
        ("peer = 1", "sync_event"),
        ("map = 1", "sync_event"),
        ("map = 1", "comch_client"),
        ("address = [0, 1]", "sync_event"),
    ] {
        let at = key.find(" = ").unwrap() + 4;
        refused(&format!("[[fault]]\nengine = \"{engine}\"\n{key}\n{drop}"), (3, at), &[engine, "have no"]);
    }
    refused(&format!("{dma}map = 1\nalloc = \"NO_MEMORY\"\n"), (3, 7), &["alloc", "submitted"]);
    refused("[[fault]\n", (1, 9), &[]);
    refused("[fault]\nengine = \"dma\"\n", (1, 1), &["sequence"]);
}

/// Whatever the bytes, the answer is a plan or one line; plans are written so that they read back.
#[test]
fn nothing_upsets_the_reader() {
    let good = "memlock = 4096\n[[fault]]\nengine = \"*\"\nop = \"memcpy\"\nprobability = 0.5\ndelay_us = 3\n\
                [[fault]]\nengine = \"rdma\"\npeer = 12\nmap = 3\naddress = [4096, 0x2000]\ndrop = true\n\
                [[fault]]\nengine = \"ec\"\nevery = 3\ncount = 2\nalloc = \"NO_MEMORY\"\n";
    let mut seen = [0, 0];
    for seed in 0..20_000u64 {
        let mut bytes = good.as_bytes().to_vec();
        for step in 0..1 + crate::mix(&[seed, 0]) % 4 {
            let draw = crate::mix(&[seed, 1, step]);
            let at = (draw >> 8) as usize % bytes.len();
            let byte =
                b"\"=[]\n 019truekfals\xc3\xff-.".get((draw >> 40) as usize % 22).copied().unwrap_or(b'#');
            match draw % 3 {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => drop(bytes.remove(at)),
            }
        }
        match Plan::parse(&String::from_utf8_lossy(&bytes)) {
            Ok(mut plan) => {
                seen[0] += 1;
                let mut again = Plan::parse(&plan.to_toml()).expect("its own words");
                plan.faults.iter_mut().chain(&mut again.faults).for_each(|f| f.line = 0);
                assert_eq!(plan, again);
            }
            Err(error) => {
                seen[1] += 1;
                assert!(!error.to_string().contains('\n') && !error.cause().is_empty());
            }
        }
    }
    assert!(seen.iter().all(|&n| n > 500), "plans and refusals, both: {seen:?}");
}
