use super::*;

fn random(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    *seed >> 33
}

fn hex(state: &[impl Word], bytes: usize) -> String {
    state
        .iter()
        .flat_map(|w| w.widen().to_be_bytes()[8 - bytes..].to_vec())
        .map(|b| format!("{b:02x}"))
        .collect()
}

/// "abc", padded by hand; digests of FIPS 180-4's examples.
#[test]
fn the_standards_example_through_every_kernel() {
    fn check<A: Algorithm>(want: &str) {
        let mut block = vec![0u8; A::BLOCK];
        block[..4].copy_from_slice(b"abc\x80");
        block[A::BLOCK - 1] = 24;
        let mut ran = 0;
        for kernel in Kernel::ALL {
            for lanes in 1..=LANES {
                let mut all = Lanes::<A>::start();
                if !all.advance_with(kernel, &vec![&block[..]; lanes]) {
                    continue;
                }
                ran += 1;
                for lane in 0..lanes {
                    assert_eq!(
                        &hex(&all.get(lane), size_of::<A::Word>())[..2 * A::DIGEST],
                        want,
                        "{kernel:?} lane {lane}"
                    );
                }
            }
        }
        assert!(ran >= LANES);
    }
    check::<Sha1>("a9993e364706816aba3e25717850c26c9cd0d89d");
    check::<Sha256>("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    check::<Sha512>(
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
         2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
    );
}

/// Different messages of many blocks, from any state, at any address: all kernels agree, and lanes do not mix.
#[test]
fn kernels_agree() {
    fn check<A: Algorithm>(seed: &mut u64) {
        for round in 0..60 {
            let lanes = 1 + random(seed) as usize % LANES;
            let blocks = random(seed) as usize % 9;
            let bytes: Vec<u8> =
                (0..blocks * A::BLOCK + 64 + LANES * 131).map(|_| random(seed) as u8).collect();
            let data: Vec<&[u8]> = (0..lanes)
                .map(|l| {
                    let at = l * 131 + random(seed) as usize % 64;
                    &bytes[at..at + blocks * A::BLOCK]
                })
                .collect();
            let states: Vec<[A::Word; 8]> = (0..lanes)
                .map(|_| core::array::from_fn(|_| A::Word::narrow(random(seed) << 31 ^ random(seed))))
                .collect();
            let mut want = states.clone();
            for (state, data) in want.iter_mut().zip(&data) {
                A::blocks(state, data);
            }
            for kernel in Kernel::ALL {
                let mut all = Lanes::<A>::start();
                for (l, state) in states.iter().enumerate() {
                    all.set(l, state);
                }
                if all.advance_with(kernel, &data) {
                    let got: Vec<_> = (0..lanes).map(|l| all.get(l)).collect();
                    assert_eq!(got, want, "{kernel:?} round {round}: {lanes} lanes, {blocks} blocks");
                }
            }
            let mut all = Lanes::<A>::start();
            for (l, state) in states.iter().enumerate() {
                all.set(l, state);
            }
            all.advance(&data);
            assert!((0..lanes).all(|l| all.get(l) == want[l]), "as chosen, round {round}: {lanes} lanes");
        }
    }
    let mut seed = 7;
    check::<Sha1>(&mut seed);
    check::<Sha256>(&mut seed);
    check::<Sha512>(&mut seed);
}

#[test]
#[should_panic]
fn lengths_that_differ_are_refused() {
    Lanes::<Sha256>::start().advance(&[&[0; 64], &[0; 128]]);
}

#[test]
#[should_panic]
fn broken_blocks_are_refused() {
    Lanes::<Sha512>::start().advance(&[&[0; 64]]);
}

/// The ways of one message against the crate.
#[test]
fn one_message_agrees() {
    let mut seed = 3;
    for blocks in 0..20 {
        let bytes: Vec<u8> = (0..blocks * 128 + 1).map(|_| random(&mut seed) as u8).collect();
        let data = bytes[1..].as_chunks().0;
        let mut want: [u64; 8] = core::array::from_fn(|_| random(&mut seed) << 33 ^ random(&mut seed));
        let start = want;
        sha2::block_api::compress512(&mut want, data);
        let mut got = start;
        Sha512::blocks(&mut got, &bytes[1..]);
        assert_eq!(got, want);
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("bmi2") {
            let mut got = start;
            #[expect(unsafe_code, reason = "the processor has the features")]
            // SAFETY: as just asked.
            unsafe {
                scalar::sha512_avx2(&mut got, data);
            }
            assert_eq!(got, want);
        }
    }
}

/// Whole messages of every length around the borders of blocks, and the padding behind messages of one block by every
/// kernel, against padding by hand.
#[test]
fn padding_agrees() {
    fn check<A: Algorithm>(seed: &mut u64) {
        for len in 0..3 * A::BLOCK {
            let message: Vec<u8> = (0..len).map(|_| random(seed) as u8).collect();
            let mut padded = message.clone();
            padded.push(0x80);
            while padded.len() % A::BLOCK != A::BLOCK - A::LENGTH {
                padded.push(0);
            }
            padded.resize(padded.len() + A::LENGTH - 8, 0);
            padded.extend_from_slice(&(len as u64 * 8).to_be_bytes());
            let mut want = A::START;
            A::blocks(&mut want, &padded);
            let (mut digest, mut expected) = ([0; 64], [0; 64]);
            A::digest(&message, &mut digest[..A::DIGEST]);
            put::<A>(&want, &mut expected[..A::DIGEST]);
            assert_eq!(digest, expected, "{len} bytes");
            if len != A::BLOCK {
                continue;
            }
            for (kernel, lanes) in Kernel::ALL.into_iter().flat_map(|k| (1..=LANES).map(move |l| (k, l))) {
                let mut all = Lanes::<A>::start();
                if !all.advance_with(kernel, &vec![&message[..]; lanes]) {
                    continue;
                }
                assert!(all.advance_padding_with(kernel, lanes));
                assert!((0..lanes).all(|l| all.get(l) == want), "{kernel:?}, {lanes} lanes");
            }
        }
    }
    let mut seed = 5;
    check::<Sha1>(&mut seed);
    check::<Sha256>(&mut seed);
    check::<Sha512>(&mut seed);
}
