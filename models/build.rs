//! Prepares what the models look at.
//!
//! Most files of the room are included as they stand. Where only some functions of a file can be modelled, they are cut
//! out of it by name ([`CUTS`]); and for every model there are variants of the source with one line broken
//! ([`MUTANTS`]), which the model must catch. A cut or an edit that no longer fits its source stops the models from compiling, and says so.

use std::fmt::Write as _;
use std::{env, fs, path::PathBuf};

/// Output, type the functions belong to ("" for free functions), source, names.
const CUTS: &[(&str, &str, &str, &[&str])] = &[
    (
        "slot.rs",
        "Slot",
        "slot.rs",
        &[
            "launch",
            "enlarge",
            "shape",
            "begin_step",
            "end_step",
            "is_large",
            "is_queued",
            "is_ready",
            "finish",
            "is_flying_here",
            "status",
            "may_be_claimed",
        ],
    ),
    (
        "context.rs",
        "Core",
        "context.rs",
        &[
            "state",
            "is_running",
            "leave_running",
            "in_flight",
            "engine",
            "launch",
            "is_unnoticed",
            "nudge",
            "ring_if_asleep",
            "activate",
        ],
    ),
    ("active.rs", "", "context.rs", &["active"]),
    ("part_bytes.rs", "", "carry.rs", &["part_bytes"]),
    (
        "carry.rs",
        "Core",
        "carry.rs",
        &[
            "is_disowned",
            "carry_out",
            "carry_out_small",
            "open_large",
            "do_own_part",
            "do_part",
            "assist",
            "wants_worker",
        ],
    ),
    ("prepare.rs", "Core", "progress.rs", &["needs_progress", "may_idle", "prepare"]),
    ("settle.rs", "Pe", "progress.rs", &["settle", "settle_from", "settle_shared", "enter", "leave"]),
    (
        "ending.rs",
        "",
        "ending.rs",
        &["membership", "request_stop", "invite", "give_up", "bury", "lay_out", "inter", "land_alone"],
    ),
    ("bell.rs", "Bell", "board.rs", &["always", "is_asleep", "lie_down", "ring"]),
];

/// Name, source, what stands there, what to put in its place.
const MUTANTS: &[(&str, &str, &str, &str)] = &[
    (
        "flight_done_before_waker",
        "flight.rs",
        "let waker = self.waker.with(|w| unsafe { (*w).take() });\n                        self.state.store(DONE, Ordering::Release);",
        "self.state.store(DONE, Ordering::Release);\n                        let waker = self.waker.with(|w| unsafe { (*w).take() });",
    ),
    (
        "flight_done_unpublished",
        "flight.rs",
        "self.state.store(DONE, Ordering::Release)",
        "self.state.store(DONE, Ordering::Relaxed)",
    ),
    ("flight_no_wake", "flight.rs", "waker.wake();", "drop(waker);"),
    (
        "flight_orphan_unowned",
        "flight.rs",
        "                        self.state.store(ORPHAN, Ordering::Release);\n",
        "",
    ),
    (
        "lock_leave_unpublished",
        "lock.rs",
        "pub fn leave(&self) {\n        self.busy.store(0, Ordering::Release)",
        "pub fn leave(&self) {\n        self.busy.store(0, Ordering::Relaxed)",
    ),
    (
        "lock_give_unpublished",
        "lock.rs",
        "fetch_and(!TAKEN, Ordering::AcqRel)",
        "fetch_and(!TAKEN, Ordering::Relaxed)",
    ),
    (
        "biased_anybody_owns",
        "biased.rs",
        "self.owner.load(Ordering::Relaxed) == this_thread()",
        "self.owner.load(Ordering::Relaxed) != 0",
    ),
    ("biased_plain_given_back", "biased.rs", "(!line.plain).then(|| Give(self))", "Some(Give(self))"),
    (
        "parts_open_unpublished",
        "parts.rs",
        "u64::from(count), Ordering::Release)",
        "u64::from(count), Ordering::Relaxed)",
    ),
    ("parts_of_any_kind", "parts.rs", " || (w >> KIND) as u8 & 3 != kind", ""),
    (
        "parts_finish_unordered",
        "parts.rs",
        "fetch_sub(1, Ordering::AcqRel)",
        "fetch_sub(1, Ordering::Relaxed)",
    ),
    (
        "parts_claim_torn",
        "parts.rs",
        "self.word.compare_exchange_weak(w, w + (1 << NEXT), Ordering::AcqRel, Ordering::Acquire)",
        "Ok::<u64, u64>(self.word.swap(w + (1 << NEXT), Ordering::AcqRel))",
    ),
    (
        "parts_left_late",
        "parts.rs",
        "        self.left.store(u32::from(count), Ordering::Relaxed);\n        let generation",
        "        let generation",
    ),
    (
        "lane_push_unpublished",
        "lane.rs",
        "self.tail.store(tail.wrapping_add(1), Ordering::Release)",
        "self.tail.store(tail.wrapping_add(1), Ordering::Relaxed)",
    ),
    (
        "lane_retire_torn",
        "lane.rs",
        "let _ = self.large_head.0.compare_exchange(at, next, Ordering::AcqRel, Ordering::Relaxed);",
        "self.large_head.0.fetch_add(next.wrapping_sub(at), Ordering::AcqRel);",
    ),
    (
        "lane_no_sweep",
        "lane.rs",
        "!self.large.get(at).parts.exhausted()",
        "!self.large.get(at).parts.exhausted() || at < u32::MAX",
    ),
    (
        "ring_unpublished",
        "link/ring.rs",
        ".store(index, Ordering::Release)",
        ".store(index, Ordering::Relaxed)",
    ),
    ("ring_unseen", "link/ring.rs", ".load(Ordering::Acquire)", ".load(Ordering::Relaxed)"),
    (
        "ring_head_before_take",
        "link/ring.rs",
        "self.front = Some(Front { tag, len: len as usize });",
        "self.front = Some(Front { tag, len: len as usize });\n        self.place.publish(HEAD, self.head.wrapping_add(size as u64));",
    ),
    ("ring_told_late", "link/ring.rs", "self.head == self.tail || self", "self"),
    (
        "ring_too_full",
        "link/ring.rs",
        "if end.wrapping_sub(self.head) <= self.place.data as u64 {",
        "if end.wrapping_sub(self.head) <= 32 + self.place.data as u64 {",
    ),
    (
        "ring_padding_alone",
        "link/ring.rs",
        "self.tail = self.tail.wrapping_add(rest as u64);",
        "self.tail = self.tail.wrapping_add(rest as u64);\n            self.publish();",
    ),
    (
        "receives_posts_unpublished",
        "comch/rings.rs",
        "self.segment.word64(POSTED).store(posted, Release);",
        "self.segment.word64(POSTED).store(posted, Relaxed);",
    ),
    (
        "receives_posts_unseen",
        "comch/rings.rs",
        "self.segment.word64(POSTED).load(Acquire)",
        "self.segment.word64(POSTED).load(Relaxed)",
    ),
    (
        "receives_done_unpublished",
        "comch/rings.rs",
        "store(self.stamp(claims.done) | slot, Release)",
        "store(self.stamp(claims.done) | slot, Relaxed)",
    ),
    (
        "receives_done_unseen",
        "comch/rings.rs",
        "let word = self.segment.word64(at + 8).load(Acquire);",
        "let word = self.segment.word64(at + 8).load(Relaxed);",
    ),
    (
        "receives_rounds_alike",
        "comch/rings.rs",
        "(index >> (self.mask + 1).trailing_zeros()).wrapping_add(1) << 40",
        "(index >> 63).wrapping_add(1) << 40",
    ),
    (
        "quiesce_not_looking",
        "memory/quiesce.rs",
        "lent.load(Ordering::Acquire) & LENT != 0",
        "lent.load(Ordering::Acquire) < 7",
    ),
    (
        "quiesce_looking_first",
        "memory/quiesce.rs",
        "active.fetch_add(1, Ordering::Relaxed);\n    fence_after_step();\n    if is_lent(lent) {",
        "let early = is_lent(lent);\n    active.fetch_add(1, Ordering::Relaxed);\n    fence_after_step();\n    if early {",
    ),
    (
        "quiesce_leave_unpublished",
        "memory/quiesce.rs",
        "active.fetch_sub(1, Ordering::Release);",
        "active.fetch_sub(1, Ordering::Relaxed);",
    ),
    (
        "quiesce_leave_unseen",
        "memory/quiesce.rs",
        "active.load(Ordering::Acquire) == 0",
        "active.load(Ordering::Relaxed) == 0",
    ),
    (
        "quiesce_alone_not_looking",
        "memory/quiesce.rs",
        "lent.load(Ordering::Acquire) == fast ||",
        "lent.load(Ordering::Acquire) < 7 ||",
    ),
    (
        "quiesce_alone_looking_first",
        "memory/quiesce.rs",
        "active.store(active.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);\n    light_barrier();\n    lent.load(Ordering::Acquire) == fast ||",
        "let early = lent.load(Ordering::Acquire);\n    active.store(active.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);\n    light_barrier();\n    early == fast ||",
    ),
    (
        "quiesce_alone_always_fast",
        "memory/quiesce.rs",
        "lent.load(Ordering::Acquire) == fast ||",
        "is_lent(lent) || lent.load(Ordering::Acquire) == fast ||",
    ),
    (
        "quiesce_alone_leave_unpublished",
        "memory/quiesce.rs",
        "active.store(active.load(Ordering::Relaxed).wrapping_sub(1), Ordering::Release);",
        "active.store(active.load(Ordering::Relaxed).wrapping_sub(1), Ordering::Relaxed);",
    ),
    (
        "seat_looking_first",
        "memory/seat.rs",
        "self.places[at].store(what, Ordering::Relaxed);\n        light_barrier();\n        let open = is_open();",
        "let open = is_open();\n        self.places[at].store(what, Ordering::Relaxed);\n        light_barrier();",
    ),
    (
        "seat_leave_unpublished",
        "memory/seat.rs",
        "self.places[at].store(core::ptr::null_mut(), Ordering::Release);",
        "self.places[at].store(core::ptr::null_mut(), Ordering::Relaxed);",
    ),
    (
        "seat_leave_unseen",
        "memory/seat.rs",
        "core::ptr::eq(place.load(Ordering::Acquire), what)",
        "core::ptr::eq(place.load(Ordering::Relaxed), what)",
    ),
];

fn main() {
    println!("cargo::rustc-cfg=loom");
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    for (output, ty, source, names) in CUTS {
        let text = read(source);
        let body: String = names
            .iter()
            .map(|name| {
                cut(&text, name).unwrap_or_else(|| complain(&format!("{source} has no function `{name}`")))
            })
            .collect();
        let whole = if ty.is_empty() { body } else { format!("impl {ty} {{\n{body}}}\n") };
        fs::write(out.join(format!("cut_{output}")), whole).expect("the output folder takes files");
    }
    let mut list = String::new();
    for (name, source, from, to) in MUTANTS {
        let text = read(source);
        let text = match places(&text, from)[..] {
            [(start, end)] => without_inner(&format!("{}{to}{}", &text[..start], &text[end..])),
            ref many => complain(&format!("mutant {name}: its line stands {} times in {source}", many.len())),
        };
        writeln!(list, "pub(crate) mod {name} {{\n{text}\n}}").expect("strings take text");
    }
    fs::write(out.join("mutants.rs"), list).expect("the output folder takes files");
}

/// A file of the room, or of the crate that stands before the slash.
fn read(name: &str) -> String {
    let (folder, name) = name.split_once('/').unwrap_or(("room", name));
    let crates = if folder == "comch" { "engines" } else { "crates" };
    let path = format!("../{crates}/{folder}/src/{name}");
    println!("cargo::rerun-if-changed={path}");
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    // The two ends of a ring have files of their own.
    if name == "ring.rs" && folder == "link" { whole_ring(&text) } else { text }
}

/// The ring with its ends in one text.
fn whole_ring(text: &str) -> String {
    let ends = ["mod receiver;", "mod sender;", "#[path = \"ring/", "pub use receiver::", "pub use sender::"];
    let is_whole = |line: &&str| !ends.iter().any(|start| line.starts_with(start));
    let mut whole = text.lines().filter(is_whole).fold(String::new(), |s, l| s + l + "\n");
    for end in ["sender", "receiver"] {
        let part = read(&format!("link/ring/{end}.rs"));
        whole.extend(
            part.lines()
                .filter(|l| !l.starts_with("use ") && !l.starts_with("//!"))
                .map(|l| l.replace("pub(super) ", "") + "\n"),
        );
    }
    whole
}

/// Inner documentation and attributes cannot stand in an included text.
fn without_inner(text: &str) -> String {
    text.lines()
        .filter(|l| !l.starts_with("//!") && !l.starts_with("#!["))
        .fold(String::new(), |s, l| s + l + "\n")
}

/// Where `what` stands, however it is broken into lines.
fn places(text: &str, what: &str) -> Vec<(usize, usize)> {
    let (text, what) = (squeezed(text), squeezed(what));
    text.windows(what.len())
        .filter(|w| w.iter().zip(&what).all(|(a, b)| a.1 == b.1))
        .map(|w| (w[0].0, w[w.len() - 1].0 + 1))
        .collect()
}

/// The characters of a text with their places, without white space and without a comma before a closing bracket.
fn squeezed(text: &str) -> Vec<(usize, char)> {
    let mut all: Vec<(usize, char)> = Vec::new();
    for (at, c) in text.char_indices().filter(|(_, c)| !c.is_whitespace()) {
        if matches!(c, ')' | ']' | '}') && all.last().is_some_and(|last| last.1 == ',') {
            all.pop();
        }
        all.push((at, c));
    }
    all
}

fn complain(what: &str) -> String {
    format!("compile_error!({:?});\n", format!("{what}; bring models/build.rs up to date"))
}

/// The text of a function, visible in the crate, without its attributes and documentation.
fn cut(text: &str, name: &str) -> Option<String> {
    let head = [format!("fn {name}("), format!("fn {name}<")];
    let lines: Vec<&str> = text.lines().collect();
    let start = lines
        .iter()
        .position(|l| !l.trim_start().starts_with("//") && head.iter().any(|h| l.contains(h.as_str())))?;
    let mut depth = 0i32;
    let mut body = String::new();
    for (i, line) in lines[start..].iter().enumerate() {
        if i == 0 && !line.contains("pub") {
            body.push_str("pub(crate) ");
        }
        body.push_str(line);
        body.push('\n');
        depth += line.matches('{').count() as i32 - line.matches('}').count() as i32;
        if depth == 0 && line.trim_end().ends_with('}') {
            return Some(body);
        }
    }
    None
}
