//! One list that is source and destination, on memory of every kind, against a GCM of the tests' own.

mod common;

use common::{Bench, Chance, cut, gcm::gcm, list, list_len};
use softdpu_aes_gcm::{Config, DecryptInPlace, EncryptInPlace, Iv, Key, TagLen};
use softdpu_memory::{Access, Buf, Memory};
use softdpu_room::task::Next;
use softdpu_status::Code;

/// A list whose data is `bytes`, with room for `more` behind them, on memory whose other bytes are 0xa5.
fn placed(
    bench: &Bench,
    chance: &mut Chance,
    bytes: &[u8],
    more: usize,
    (most, kind): (usize, usize),
) -> (Memory, Buf, Vec<bool>) {
    let sizes: Vec<usize> = cut(chance, bytes.len() + more, most).iter().map(|n| (*n).max(1)).collect();
    let gap = 1 + chance.below(40);
    let access =
        Access::LOCAL_READ_WRITE | if kind == 1 { Access::RDMA_WRITE } else { Access::LOCAL_READ_WRITE };
    let memory = bench.memory(list_len(&sizes, gap), access);
    let len = memory.buf(..).unwrap().capacity();
    memory.buf(..).unwrap().push_slice(&vec![0xa5; len]).unwrap();
    let (mut buf, starts) = list(&memory, &sizes, gap, kind == 2);
    let mut left = bytes;
    for (mut element, size) in buf.elements_mut().zip(&sizes) {
        let n = left.len().min(*size);
        element.push_slice(&left[..n]).unwrap();
        left = &left[n..];
    }
    assert!(left.is_empty());
    let mut ours = vec![false; len];
    starts.iter().zip(&sizes).for_each(|(at, n)| ours[*at..at + n].fill(true));
    (memory, buf, ours)
}

/// Nothing around the windows changed.
fn untouched(memory: &Memory, buf: Buf, ours: &[bool]) -> bool {
    drop(buf);
    let mut all = memory.buf(..).unwrap();
    all.set_data(..).unwrap();
    all.to_vec().iter().zip(ours).all(|(byte, ours)| *ours || *byte == 0xa5)
}

fn there_and_back(bench: &mut Bench, chance: &mut Chance, len: usize, ground: (usize, usize)) {
    let key_len = [16, 32][chance.below(2)];
    let raw = chance.bytes(key_len);
    let iv_len = [12, 12, 12, 0, 7][chance.below(5)];
    let (raw_iv, aad_len) = (chance.bytes(iv_len), chance.below(len.min(300) + 1));
    let tag = [TagLen::Bits96, TagLen::Bits128][chance.below(2)];
    let (key, iv) = (Key::new(&raw).unwrap(), Iv::new(&raw_iv).unwrap());
    let message = chance.bytes(len);
    let (text, full) = gcm(&raw, &raw_iv, &message[..aad_len], &message[aad_len..], false);
    let sealed = [&message[..aad_len], &text, &full[..tag.len()]].concat();
    let what = format!("{len} bytes, {aad_len} of them additional, {tag:?}, ground {ground:?}");

    let more = tag.len() + chance.below(3);
    let (memory, buf, ours) = placed(bench, chance, &message, more, ground);
    let task = EncryptInPlace { buf, key: key.clone(), iv, aad_len: aad_len as u32, tag };
    let done = bench.run(task);
    assert_eq!(done.result.map_err(|e| e.code()), Ok(sealed.len() as u64), "{what}");
    assert!(done.task.buf.to_vec() == sealed, "{what}");
    let EncryptInPlace { buf, key, iv, aad_len, tag } = done.task;
    let done = bench.run(DecryptInPlace { buf, key: key.clone(), iv, aad_len, tag });
    assert_eq!(done.result.map_err(|e| e.code()), Ok(message.len() as u64), "{what}");
    assert!(done.task.buf.to_vec() == message, "{what}");
    assert!(untouched(&memory, done.task.buf, &ours), "{what}");

    // The same with one bit changed.
    let mut forged = sealed.clone();
    let at = chance.below(forged.len());
    forged[at] ^= 1 << chance.below(8);
    let (memory, buf, ours) = placed(bench, chance, &forged, 0, ground);
    let done = bench.run(DecryptInPlace { buf, key, iv, aad_len, tag });
    assert_eq!(done.result.map_err(|e| e.code()), Err(Code::IoFailed), "{what}");
    let left = done.task.buf.to_vec();
    assert_eq!(left.len(), forged.len(), "the data stays as long as it was: {what}");
    let text = aad_len as usize..message.len();
    assert!(text.len() < 16 || left[text.clone()] != message[text], "plain text was left: {what}");
    assert!(untouched(&memory, done.task.buf, &ours), "{what}");
}

/// Kinds of ground: private memory, memory that a peer may write, buffers that do not have theirs to themselves.
#[test]
fn any_list_on_any_memory() {
    let mut bench = Bench::new(softdpu_room::session::inline());
    let mut chance = Chance::new(21);
    for kind in 0..3 {
        for most in [1, 6] {
            for len in [1, 15, 16, 17, 64, 300, 2047, 2049, 5000, 70_000] {
                for _ in 0..3 {
                    there_and_back(&mut bench, &mut chance, len, (most, kind));
                }
            }
        }
    }
}

/// Those that workers carry out whole.
#[test]
fn long_messages() {
    for board in [softdpu_board::threads(), softdpu_room::session::inline()] {
        let mut bench = Bench::new(board);
        let mut chance = Chance::new(22);
        for (most, kind) in [(1, 0), (5, 0), (1, 1), (5, 2)] {
            there_and_back(&mut bench, &mut chance, (600 << 10) + 5, (most, kind));
        }
    }
}

#[test]
fn no_room_for_the_tag() {
    let mut bench = Bench::new(softdpu_room::session::inline());
    let mut chance = Chance::new(23);
    let key = Key::new(&[1; 32]).unwrap();
    for (kind, more, aad_len, ok) in
        [(0, 15, 0, false), (1, 15, 0, false), (0, 16, 100, true), (0, 16, 101, false)]
    {
        let (_memory, buf, _) = placed(&bench, &mut chance, &[7; 100], more, (1, kind));
        let task =
            EncryptInPlace { buf, key: key.clone(), iv: Iv::from([3; 12]), aad_len, tag: TagLen::Bits128 };
        match bench.context.submit(task) {
            Ok(flight) => assert!(ok && bench.pe.run(flight).result == Ok(116)),
            Err(refused) => {
                assert!(!ok && refused.error.code() == Code::InvalidValue);
                assert!(refused.back.buf.to_vec() == [7; 100]);
            }
        }
    }
    // Less than a tag.
    let (_memory, buf, _) = placed(&bench, &mut chance, &[7; 15], 0, (1, 0));
    let task = DecryptInPlace { buf, key, iv: Iv::from([3; 12]), aad_len: 0, tag: TagLen::Bits128 };
    assert_eq!(bench.context.submit(task).unwrap_err().error.code(), Code::InvalidValue);
}

/// Posted tasks reach the handlers of their kinds, in order.
#[test]
fn handlers_get_their_kind() {
    common::watchdog();
    let session = softdpu_room::session::Session::new(
        common::machine(softdpu_card::Profile::All),
        softdpu_room::session::inline(),
    );
    let device = session.first_with(softdpu_card::EngineKind::AesGcm).unwrap().open().unwrap();
    let mut pe = softdpu_room::pump::ProgressEngine::new(&session).unwrap();
    let (out, seen) = std::sync::mpsc::channel();
    let out2 = out.clone();
    let config = Config {
        on_encrypt_in_place: Some(Box::new(move |done, outbox| {
            out.send(("encrypt", done.result.unwrap())).unwrap();
            let EncryptInPlace { buf, key, iv, aad_len, tag } = done.task;
            outbox.post(DecryptInPlace { buf, key, iv, aad_len, tag }).unwrap();
            Next::Free
        })),
        on_decrypt_in_place: Some(Box::new(move |done, _| {
            assert_eq!(done.task.buf.to_vec(), b"secret");
            out2.send(("decrypt", done.result.unwrap())).unwrap();
            Next::Free
        })),
        ..Config::default()
    };
    let started = softdpu_room::typed::Context::<softdpu_aes_gcm::AesGcm>::start(&mut pe, &device, config);
    let mut context = started.unwrap().wait(&mut pe).unwrap();
    let memory = Memory::heap(64).access(Access::LOCAL_READ_WRITE).register(&[device.shared()]).unwrap();
    let mut buf = memory.buf(..).unwrap();
    buf.push_slice(b"secret").unwrap();
    let (key, iv) = (Key::new(&[1; 16]).unwrap(), Iv::from([3; 12]));
    context.post(EncryptInPlace { buf, key, iv, aad_len: 2, tag: TagLen::Bits96 }).unwrap();
    while context.in_flight() > 0 {
        pe.progress();
    }
    assert_eq!(seen.try_iter().collect::<Vec<_>>(), [("encrypt", 18), ("decrypt", 6)]);
}
