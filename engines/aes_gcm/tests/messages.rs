//! Messages of any shape against a GCM of the tests' own: lists cut anywhere, memory of every kind, windows that must not
//! be left, messages that are not authentic.

mod common;

use common::{Bench, Chance, cut, fill, gcm::gcm, list, list_len};
use softdpu_aes_gcm::{Decrypt, Encrypt, Iv, Key, TagLen};
use softdpu_memory::{Access, Buf, Memory};
use softdpu_status::Code;

/// What a list of buffers lies on.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Ground {
    /// Nobody else's memory.
    Private,
    /// Memory that a peer may write.
    Shared,
    /// Private memory, through buffers that do not have it to themselves.
    Alias,
}

impl Ground {
    fn any(chance: &mut Chance) -> Ground {
        [Ground::Private, Ground::Private, Ground::Shared, Ground::Alias][chance.below(4)]
    }

    fn access(self) -> Access {
        match self {
            Ground::Shared => Access::LOCAL_READ_WRITE | Access::RDMA_WRITE,
            _ => Access::LOCAL_READ_WRITE,
        }
    }
}

/// A list on its own memory, every byte of which is known.
struct Field {
    memory: Memory,
    list: Option<Buf>,
    image: Vec<u8>,
    /// Where the bytes of the list lie, in order.
    places: Vec<usize>,
}

impl Field {
    fn new(bench: &Bench, chance: &mut Chance, ground: Ground, sizes: &[usize]) -> Field {
        let gap = 1 + chance.below(20);
        let image = chance.bytes(list_len(sizes, gap));
        let memory = bench.memory(image.len(), ground.access());
        memory.buf(..).unwrap().push_slice(&image).unwrap();
        let (list, starts) = list(&memory, sizes, gap, ground == Ground::Alias);
        let places = starts.iter().zip(sizes).flat_map(|(start, n)| *start..start + n).collect();
        Field { memory, list: Some(list), image, places }
    }

    /// A source with these bytes.
    fn source(bench: &Bench, chance: &mut Chance, ground: Ground, bytes: &[u8], most: usize) -> Field {
        let sizes = cut(chance, bytes.len(), most);
        // Windows hold at least a byte, data need not.
        let windows: Vec<usize> =
            sizes.iter().map(|n| n + chance.below(3).max(usize::from(*n == 0))).collect();
        let mut field = Field::new(bench, chance, ground, &windows);
        fill(field.list.as_mut().unwrap(), &sizes, bytes);
        let mut at = 0;
        field.places = sizes
            .iter()
            .zip(&windows)
            .flat_map(|(n, window)| {
                at += window;
                field.places[at - window..at - window + n].to_vec()
            })
            .collect();
        field.expect(0, bytes);
        field
    }

    /// A destination with room for `len` bytes and a few more; some elements hold data already.
    fn room(bench: &Bench, chance: &mut Chance, ground: Ground, len: usize, most: usize) -> Field {
        let slack = chance.below(40);
        let mut sizes = cut(chance, len + slack, most);
        let held: Vec<usize> = sizes.iter().map(|_| chance.below(2) * chance.below(9)).collect();
        sizes.iter_mut().zip(&held).for_each(|(size, held)| *size = (*size + held).max(1));
        let mut field = Field::new(bench, chance, ground, &sizes);
        let mut kept = Vec::new();
        let mut at = 0;
        for (mut element, (size, held)) in
            field.list.as_mut().unwrap().elements_mut().zip(sizes.iter().zip(&held))
        {
            let bytes = chance.bytes(*held);
            element.push_slice(&bytes).unwrap();
            bytes.iter().enumerate().for_each(|(i, b)| field.image[field.places[at + i]] = *b);
            kept.extend_from_slice(&field.places[at + held..at + size]);
            at += size;
        }
        field.places = kept;
        field
    }

    /// From now on these bytes stand in the list, from its byte `at` on.
    fn expect(&mut self, at: usize, bytes: &[u8]) {
        bytes.iter().enumerate().for_each(|(i, b)| self.image[self.places[at + i]] = *b);
    }

    /// Every byte of the memory, and the list comes back to be dropped.
    fn bytes(&self, list: Buf) -> Vec<u8> {
        drop(list);
        let mut all = self.memory.buf(..).unwrap();
        all.set_data(..).unwrap();
        all.to_vec()
    }
}

/// A message and how it is sealed.
struct Message {
    raw_key: Vec<u8>,
    iv: Vec<u8>,
    aad: Vec<u8>,
    plain: Vec<u8>,
    tag: TagLen,
}

impl Message {
    fn any(chance: &mut Chance, longest: usize) -> Message {
        let key_len = 16 + 16 * chance.below(2);
        let iv_len = [12, chance.below(13)][chance.below(2)];
        let aad_len = chance.below(3) * chance.below(70);
        let len = [chance.below(40), chance.below(300), chance.below(longest)][chance.below(3)];
        Message {
            raw_key: chance.bytes(key_len),
            iv: chance.bytes(iv_len),
            aad: chance.bytes(aad_len),
            plain: chance.bytes(len),
            tag: [TagLen::Bits96, TagLen::Bits128][chance.below(2)],
        }
    }

    fn key(&self) -> Key {
        Key::new(&self.raw_key).unwrap()
    }

    fn iv(&self) -> Iv {
        Iv::new(&self.iv).unwrap()
    }

    fn opened(&self) -> Vec<u8> {
        [&self.aad[..], &self.plain].concat()
    }

    fn sealed(&self) -> Vec<u8> {
        let (cipher, tag) = gcm(&self.raw_key, &self.iv, &self.aad, &self.plain, false);
        [&self.aad[..], &cipher, &tag[..self.tag.len()]].concat()
    }

    fn encrypt(&self, src: Buf, dst: Buf) -> Encrypt {
        Encrypt { src, dst, key: self.key(), iv: self.iv(), aad_len: self.aad.len() as u32, tag: self.tag }
    }

    fn decrypt(&self, src: Buf, dst: Buf) -> Decrypt {
        Decrypt { src, dst, key: self.key(), iv: self.iv(), aad_len: self.aad.len() as u32, tag: self.tag }
    }
}

fn both_ways(bench: &mut Bench, chance: &mut Chance, message: &Message, most: usize) {
    let (opened, sealed) = (message.opened(), message.sealed());
    for encrypt in [true, false] {
        let (from, to) = if encrypt { (&opened, &sealed) } else { (&sealed, &opened) };
        let grounds = (Ground::any(chance), Ground::any(chance));
        let mut source = Field::source(bench, chance, grounds.0, from, most);
        let mut room = Field::room(bench, chance, grounds.1, to.len(), most);
        let (src, dst) = (source.list.take().unwrap(), room.list.take().unwrap());
        let (src, dst, result) = if encrypt {
            let done = bench.run(message.encrypt(src, dst));
            (done.task.src, done.task.dst, done.result)
        } else {
            let done = bench.run(message.decrypt(src, dst));
            (done.task.src, done.task.dst, done.result)
        };
        let what = format!(
            "encrypt {encrypt}, {grounds:?}, iv {}, aad {}, text {}",
            message.iv.len(),
            message.aad.len(),
            message.plain.len()
        );
        assert_eq!(result.map_err(|e| e.code()), Ok(to.len() as u64), "{what}");
        room.expect(0, to);
        assert!(source.bytes(src) == source.image, "the source changed: {what}");
        assert!(room.bytes(dst) == room.image, "the destination's memory: {what}");
    }
}

#[test]
fn lists_cut_anywhere_on_any_memory() {
    let mut bench = Bench::new(softdpu_room::session::inline());
    let mut chance = Chance::new(1);
    for _ in 0..600 {
        let message = Message::any(&mut chance, 40_000);
        both_ways(&mut bench, &mut chance, &message, 12);
    }
}

/// Vectors of every length, none included.
#[test]
fn every_length_of_vector() {
    let mut bench = Bench::new(softdpu_room::session::inline());
    let mut chance = Chance::new(2);
    for len in 0..=Iv::MAX {
        for key_len in [16, 32] {
            let mut message = Message::any(&mut chance, 5000);
            message.iv = chance.bytes(len);
            message.raw_key = chance.bytes(key_len);
            both_ways(&mut bench, &mut chance, &message, 1);
            both_ways(&mut bench, &mut chance, &message, 5);
        }
    }
}

/// Messages that workers and progress carry out in steps.
#[test]
fn long_messages() {
    for board in [softdpu_board::threads(), softdpu_room::session::inline()] {
        let mut bench = Bench::new(board);
        let mut chance = Chance::new(3);
        for len in [(256 << 10) - 16, (256 << 10) + 1, (700 << 10) + 5, (2 << 20) - 200] {
            let mut message = Message::any(&mut chance, 10);
            message.plain = chance.bytes(len);
            message.aad.truncate(100);
            both_ways(&mut bench, &mut chance, &message, 1);
            both_ways(&mut bench, &mut chance, &message, 20);
        }
        // Additional data alone may be long, too.
        let mut message = Message::any(&mut chance, 100);
        message.aad = chance.bytes((512 << 10) + 3);
        both_ways(&mut bench, &mut chance, &message, 3);
    }
}

/// Changes one bit of a message (or its vector, or its key), tries to decrypt it: what is left, and where?
fn forged(bench: &mut Bench, chance: &mut Chance, message: &mut Message, most: usize) {
    let mut sealed = message.sealed();
    let place = chance.below(sealed.len() + 2);
    let bit = 1 << chance.below(8);
    match place.checked_sub(sealed.len()) {
        None => sealed[place] ^= bit,
        Some(0) if !message.iv.is_empty() => {
            let at = chance.below(message.iv.len());
            message.iv[at] ^= bit;
        }
        _ => {
            let at = chance.below(message.raw_key.len());
            message.raw_key[at] ^= bit;
        }
    }
    let grounds = (Ground::any(chance), Ground::any(chance));
    let mut source = Field::source(bench, chance, grounds.0, &sealed, most);
    let mut room = Field::room(bench, chance, grounds.1, message.opened().len(), most);
    let dst = room.list.take().unwrap();
    let before: Vec<usize> = dst.elements().map(|e| e.data_len()).collect();
    let done = bench.run(message.decrypt(source.list.take().unwrap(), dst));
    assert_eq!(
        done.result.map_err(|e| e.code()),
        Err(Code::IoFailed),
        "bit {bit:#x} of {place}, {grounds:?}"
    );
    let after: Vec<usize> = done.task.dst.elements().map(|e| e.data_len()).collect();
    assert_eq!(before, after, "the destination's data grew");
    let found = room.bytes(done.task.dst);
    if grounds.1 == Ground::Private {
        // The additional data may stand there; no plain text.
        let aad = message.aad.len();
        (0..aad).for_each(|i| room.image[room.places[i]] = found[room.places[i]]);
        room.expect(aad, &vec![0; message.plain.len()]);
    }
    assert!(found == room.image, "{grounds:?}, {} bytes of text", message.plain.len());
    assert!(source.bytes(done.task.src) == source.image, "the source changed");
}

#[test]
fn forged_messages_leave_nothing() {
    let mut bench = Bench::new(softdpu_room::session::inline());
    let mut chance = Chance::new(4);
    for _ in 0..400 {
        let mut message = Message::any(&mut chance, 20_000);
        let most = [1, 8][chance.below(2)];
        forged(&mut bench, &mut chance, &mut message, most);
    }
    // The context goes on.
    both_ways(&mut bench, &mut chance, &Message::any(&mut Chance::new(5), 100), 1);
}

#[test]
fn forged_long_messages_leave_nothing() {
    let mut bench = Bench::new(softdpu_board::threads());
    let mut chance = Chance::new(6);
    for _ in 0..8 {
        let mut message = Message::any(&mut chance, 10);
        let len = (600 << 10) + chance.below(1000);
        message.plain = chance.bytes(len);
        let most = [1, 8][chance.below(2)];
        forged(&mut bench, &mut chance, &mut message, most);
    }
}

/// Every bit of a short message matters.
#[test]
fn every_bit_is_authenticated() {
    let mut bench = Bench::new(softdpu_room::session::inline());
    let message = Message {
        plain: b"nine bits".to_vec(),
        aad: b"head".to_vec(),
        ..Message::any(&mut Chance::new(7), 1)
    };
    let sealed = message.sealed();
    let memory = bench.memory(4096, Access::LOCAL_READ_WRITE);
    for bit in 0..sealed.len() * 8 {
        let mut forged = sealed.clone();
        forged[bit / 8] ^= 1 << (bit % 8);
        let mut src = memory.buf(..1024).unwrap();
        src.push_slice(&forged).unwrap();
        let done = bench.run(message.decrypt(src, memory.buf(1024..2048).unwrap()));
        assert_eq!(done.result.map_err(|e| e.code()), Err(Code::IoFailed), "bit {bit}");
        assert_eq!(done.task.dst.data_len(), 0);
    }
}

/// Aliases that overlap: at the same place, and askew.
#[test]
fn source_and_destination_may_overlap() {
    let mut bench = Bench::new(softdpu_room::session::inline());
    let mut chance = Chance::new(8);
    for askew in [0isize, 1, 16, 100, -1, -64] {
        for len in [0, 1, 50, 20_000, 300_000] {
            let mut message = Message::any(&mut chance, 1);
            message.plain = chance.bytes(len);
            for encrypt in [true, false] {
                let (opened, sealed) = (message.opened(), message.sealed());
                let (from, to) = if encrypt { (opened, sealed) } else { (sealed, opened) };
                let memory = bench.memory(400_000, Access::LOCAL_READ_WRITE);
                let start = 1000usize;
                let mut src = memory.alias(start..start + from.len().max(1)).unwrap();
                src.push_slice(&from).unwrap();
                let at = start.checked_add_signed(askew).unwrap();
                let dst = memory.alias(at..at + to.len() + 7).unwrap();
                let (dst, result) = if encrypt {
                    let done = bench.run(message.encrypt(src, dst));
                    (done.task.dst, done.result)
                } else {
                    let done = bench.run(message.decrypt(src, dst));
                    (done.task.dst, done.result)
                };
                assert_eq!(result.map_err(|e| e.code()), Ok(to.len() as u64));
                assert!(dst.to_vec() == to, "{len} bytes, {askew} askew, encrypt {encrypt}");
            }
        }
    }
}

/// From one piece of private memory to memory of others, around the borders of the ways there are: the tag decides
/// before a byte is written.
#[test]
fn plain_text_is_not_seen_before_its_time() {
    let mut bench = Bench::new(softdpu_room::session::inline());
    let mut chance = Chance::new(9);
    let short = [0, 1, 64, 255, 256, 257, 2047, 2048, 2049, 4096, 6000, 70_001, 256 << 10];
    // In steps, which end with the text, short of its last block, or behind it.
    let long = [(256 << 10) + 4097, (512 << 10) - 7, (512 << 10) + 1];
    let lengths = short.into_iter().flat_map(|len| [(len, 1), (len, 4)]).chain(long.map(|len| (len, 3)));
    for (len, most) in lengths {
        for genuine in [true, false] {
            let mut message = Message::any(&mut chance, 10);
            let iv_len = [12, 5][chance.below(2)];
            message.iv = chance.bytes(iv_len);
            message.aad.truncate(200);
            message.plain = chance.bytes(len);
            let (opened, mut sealed) = (message.opened(), message.sealed());
            if !genuine {
                let at = chance.below(sealed.len());
                sealed[at] ^= 1 << chance.below(8);
            }
            let mut source = Field::source(&bench, &mut chance, Ground::Private, &sealed, 1);
            let mut room = Field::room(&bench, &mut chance, Ground::Shared, opened.len(), most);
            let done = bench.run(message.decrypt(source.list.take().unwrap(), room.list.take().unwrap()));
            let want = if genuine { Ok(opened.len() as u64) } else { Err(Code::IoFailed) };
            assert_eq!(done.result.map_err(|e| e.code()), want, "{len} bytes");
            if genuine {
                room.expect(0, &opened);
            }
            assert!(room.bytes(done.task.dst) == room.image, "{len} bytes, genuine: {genuine}");
        }
    }
}
