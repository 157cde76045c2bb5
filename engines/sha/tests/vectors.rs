//! Public test vectors: the examples that accompany FIPS 180-4 (one block, two blocks, a million times "a"), and the
//! digests of the empty message (CAVP, SHA test vectors for byte-oriented messages, length 0).

mod common;

use common::{Dice, Place, Rig, hex};
use softdpu_sha::{Algorithm, Config, Finish, Hash, HashState, Update};

const TWO_BLOCKS: &str = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
const TWO_LONG_BLOCKS: &str = "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn\
    hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu";

/// Algorithm, message, how often, digest.
const VECTORS: [(Algorithm, &str, usize, &str); 12] = [
    (Algorithm::Sha1, "", 1, "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
    (Algorithm::Sha1, "abc", 1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
    (Algorithm::Sha1, TWO_BLOCKS, 1, "84983e441c3bd26ebaae4aa1f95129e5e54670f1"),
    (Algorithm::Sha1, "a", 1_000_000, "34aa973cd4c4daa4f61eeb2bdbad27316534016f"),
    (Algorithm::Sha256, "", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    (Algorithm::Sha256, "abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (Algorithm::Sha256, TWO_BLOCKS, 1, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"),
    (Algorithm::Sha256, "a", 1_000_000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
    (
        Algorithm::Sha512,
        "",
        1,
        "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce\
         47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e",
    ),
    (
        Algorithm::Sha512,
        "abc",
        1,
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
         2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
    ),
    (
        Algorithm::Sha512,
        TWO_LONG_BLOCKS,
        1,
        "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018\
         501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909",
    ),
    (
        Algorithm::Sha512,
        "a",
        1_000_000,
        "e718483d0ce769644e2e42c7bc15b4638e1f98b13b2044285632a803afa973eb\
         de0ff244877ea60a4cb0432ce577c31beb009c5c2c49aa2e4eadb217ad8cc09b",
    ),
];

#[test]
fn one_at_a_time() {
    for board in [softdpu_board::inline(), softdpu_board::threads()] {
        let mut rig = Rig::on(softdpu_card::Machine::builder().build().unwrap(), board, Config::default());
        for (algorithm, text, times, want) in VECTORS {
            let message = text.repeat(times);
            let (place, dst) = Place::new(&rig, algorithm.digest_len(), &mut Dice(1));
            let src = rig.full(message.as_bytes());
            let done = rig.run(Hash { algorithm, src, dst });
            assert_eq!(done.result.unwrap(), algorithm.digest_len() as u64);
            assert_eq!(hex(&done.task.dst.to_vec()[common::BEFORE..]), want, "{algorithm} {text}");
            assert_eq!(done.task.src.to_vec(), message.as_bytes());
            let digest = done.task.dst.to_vec().split_off(common::BEFORE);
            place.check(done.task.dst, &digest);
        }
    }
}

#[test]
fn all_at_once() {
    let mut rig = Rig::new();
    let tasks = VECTORS.iter().cycle().take(60).map(|&(algorithm, text, times, _)| Hash {
        algorithm,
        src: rig.full(text.repeat(times).as_bytes()),
        dst: rig.memory(64).buf(..).unwrap(),
    });
    let tasks = tasks.collect();
    let done = rig.run_all(tasks);
    for (done, (algorithm, text, _, want)) in done.into_iter().zip(VECTORS.iter().cycle()) {
        assert_eq!(done.result.unwrap(), algorithm.digest_len() as u64);
        assert_eq!(hex(&done.task.dst.to_vec()), *want, "{algorithm} {text}");
    }
}

#[test]
fn in_pieces() {
    let mut rig = Rig::new();
    for (algorithm, text, times, want) in VECTORS {
        let message = text.repeat(times).into_bytes();
        let mut hash = HashState::new(algorithm);
        let mut rest = &message[..];
        for blocks in [1, 2, 5000, 1] {
            let n = blocks * algorithm.block_len();
            if rest.len() > n {
                let (piece, behind) = rest.split_at(n);
                rest = behind;
                let src = rig.full(piece);
                let done = rig.run(Update { hash, src });
                hash = done.task.hash;
                assert_eq!(done.result.unwrap(), hash.hashed());
            }
        }
        assert_eq!(hash.hashed(), (message.len() - rest.len()) as u64);
        let (src, dst) = (rig.full(rest), rig.memory(64).buf(..).unwrap());
        let done = rig.run(Finish { hash, src, dst });
        assert_eq!(done.result.unwrap(), algorithm.digest_len() as u64);
        assert_eq!(hex(&done.task.dst.to_vec()), want, "{algorithm} {text}");
        assert!(done.task.hash.is_finished() && done.task.hash.hashed() == message.len() as u64);
    }
}
