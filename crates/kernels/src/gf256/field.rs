//! Single elements of the field.

/// The polynomial that everything is reduced by: x^8 + x^4 + x^3 + x^2 + 1.
pub const POLYNOMIAL: u16 = 0x11d;

/// Powers of 2, which generate all elements but 0; twice in a row, so that sums of logarithms need no reduction.
const EXP: [u8; 510] = {
    let mut exp = [0; 510];
    let mut x = 1u16;
    let mut i = 0;
    while i < 255 {
        exp[i] = x as u8;
        exp[i + 255] = x as u8;
        x <<= 1;
        if x > 255 {
            x ^= POLYNOMIAL;
        }
        i += 1;
    }
    exp
};

/// The exponent of each element; nothing of meaning for 0.
const LOG: [u8; 256] = {
    let mut log = [0; 256];
    let mut i = 0;
    while i < 255 {
        log[EXP[i] as usize] = i as u8;
        i += 1;
    }
    log
};

/// The product of two elements.
#[inline]
pub const fn multiply(a: u8, b: u8) -> u8 {
    if a == 0 || b == 0 {
        return 0;
    }
    EXP[LOG[a as usize] as usize + LOG[b as usize] as usize]
}

/// The element whose product with `a` is 1; `None` for 0.
pub const fn inverse(a: u8) -> Option<u8> {
    if a == 0 { None } else { Some(EXP[255 - LOG[a as usize] as usize]) }
}

/// `a` times itself, `n` factors; 1 for none.
pub const fn power(a: u8, n: usize) -> u8 {
    if n == 0 {
        return 1;
    }
    if a == 0 {
        return 0;
    }
    EXP[(LOG[a as usize] as usize * (n % 255)) % 255]
}

/// "Times `c`" as an 8x8 bit matrix in the layout of the affine instructions: row `r` is byte `7 - r`.
pub(super) const fn bit_matrix(c: u8) -> u64 {
    let mut matrix = 0u64;
    let mut column = 0;
    while column < 8 {
        let product = multiply(c, 1 << column);
        let mut row = 0;
        while row < 8 {
            matrix |= ((product >> row & 1) as u64) << (8 * (7 - row) + column);
            row += 1;
        }
        column += 1;
    }
    matrix
}

/// Products of `c` with 0 to 15, then with 0x00, 0x10 to 0xf0.
pub(super) const fn nibbles(c: u8) -> [u8; 32] {
    let mut table = [0; 32];
    let mut n = 0;
    while n < 16 {
        table[n] = multiply(c, n as u8);
        table[n + 16] = multiply(c, (n as u8) << 4);
        n += 1;
    }
    table
}
