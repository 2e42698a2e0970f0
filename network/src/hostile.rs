//! Operands from a fixed seed that bring out what an implementation gets wrong.

#[cfg(test)]
use crate::plan::{Format, Tensor};
#[cfg(test)]
use crate::reference::TensorData;

/// xorshift64*
pub(crate) struct Random(u64);

/// What fills operands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Filling {
    /// Moderate values, as in a real frame.
    Usual,
    /// Every code and every finite half, zeros of both signs, NaN codes.
    Wild,
    /// As `Wild`, with infinite halves.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests alone reach infinite sums"))]
    Infinite,
    /// Codes of nearly every exponent; without the largest, so that sums stay finite.
    Finite,
    /// Mostly zeros of both signs.
    Sparse,
    /// Zeros alone, so that seeds come through.
    Zero,
}

impl Random {
    /// A source of its own.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 32 bits.
    pub fn next(&mut self) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32
    }

    fn code(&mut self, filling: Filling) -> u8 {
        let r = self.next();
        match filling {
            Filling::Usual => (r as u8 & 0x80) | (24 + (r >> 8) % 44) as u8,
            Filling::Wild | Filling::Infinite => r as u8,
            Filling::Finite => r as u8 & 0xcf,
            Filling::Sparse => (r as u8 & 0x80) | if r.is_multiple_of(7) { (r >> 8) as u8 & 0x7f } else { 0 },
            Filling::Zero => 0,
        }
    }

    /// E4M3 codes.
    pub fn codes(&mut self, count: usize, filling: Filling) -> Vec<u8> {
        (0..count).map(|_| self.code(filling)).collect()
    }

    /// Codes of weights, which have no NaN on the device.
    pub fn weights(&mut self, count: usize, filling: Filling) -> Vec<u8> {
        (0..count).map(|_| self.code(filling)).map(|code| if code & 0x7f == 0x7f { 0 } else { code }).collect()
    }

    /// Halves.
    pub fn halves(&mut self, count: usize, filling: Filling) -> Vec<u16> {
        let mut half = || {
            let r = self.next();
            let (sign, bits) = (r as u16 & 0x8000, (r >> 16) as u16 & 0x7fff);
            match filling {
                Filling::Zero => sign,
                Filling::Sparse if !r.is_multiple_of(7) => sign,
                Filling::Usual | Filling::Sparse => sign | (0x2c00 + bits % 0x1800),
                Filling::Infinite if r.is_multiple_of(31) => sign | 0x7c00,
                Filling::Wild | Filling::Infinite | Filling::Finite => sign | (bits % 0x7c00),
            }
        };
        (0..count).map(|_| half()).collect()
    }

    /// Halves without NaN: the first 65536 in order, so that none is missing, then random ones.
    pub fn every_half(&mut self, count: usize) -> Vec<u16> {
        let mut half = |i: usize| {
            let h = if i < 65536 { i as u16 } else { self.next() as u16 };
            if h & 0x7fff > 0x7c00 { h & 0x83ff } else { h }
        };
        (0..count).map(&mut half).collect()
    }

    /// The contents of a tensor.
    #[cfg(test)]
    pub fn tensor(&mut self, tensor: &Tensor, filling: Filling) -> TensorData {
        match tensor.format {
            Format::E4m3 => TensorData::Codes(self.codes(tensor.elements(), filling)),
            Format::Half => TensorData::Halves(self.halves(tensor.elements(), filling)),
        }
    }
}

/// The bytes of halves.
pub(crate) fn bytes(halves: &[u16]) -> Vec<u8> {
    halves.iter().flat_map(|half| half.to_le_bytes()).collect()
}
