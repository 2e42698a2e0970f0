//! How much a whole asset may hold. Parts are counted before memory is taken for them, from
//! several threads, so that many small claims cannot do what one large one may not.

use super::error::{Error, Result};
use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers read out of all accessors, an accessor as often as it is used.
const NUMBERS: u64 = 1 << 30;
/// Triangles and vertices of all meshes.
const TRIANGLES: u64 = 64 << 20;
const VERTICES: u64 = 64 << 20;
/// Texels of all pictures.
const TEXELS: u64 = 1 << 29;

/// Something that there is only so much of.
struct Limit {
    what: &'static str,
    limit: u64,
    used: AtomicU64,
}

impl Limit {
    const fn new(what: &'static str, limit: u64) -> Self {
        Self { what, limit, used: AtomicU64::new(0) }
    }

    fn take(&self, count: u64) -> Result<()> {
        let add = |used: u64| Some(used.saturating_add(count));
        let before = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).unwrap_or_else(|used| used);
        let count = before.saturating_add(count);
        if count > self.limit { Err(Error::TooMany { what: self.what, count, limit: self.limit }) } else { Ok(()) }
    }
}

/// What is left of each limit.
pub(super) struct Limits {
    numbers: Limit,
    triangles: Limit,
    vertices: Limit,
    texels: Limit,
}

impl Limits {
    pub(super) const fn new() -> Self {
        Self {
            numbers: Limit::new("numbers in its accessors", NUMBERS),
            triangles: Limit::new("triangles in its meshes", TRIANGLES),
            vertices: Limit::new("vertices in its meshes", VERTICES),
            texels: Limit::new("texels in all pictures", TEXELS),
        }
    }

    pub(super) fn numbers(&self, rows: usize, width: usize) -> Result<()> {
        self.numbers.take((rows as u64).saturating_mul(width as u64))
    }

    pub(super) fn triangles(&self, count: usize) -> Result<()> {
        self.triangles.take(count as u64)
    }

    pub(super) fn vertices(&self, count: usize) -> Result<()> {
        self.vertices.take(count as u64)
    }

    pub(super) fn texels(&self, count: u64) -> Result<()> {
        self.texels.take(count)
    }
}

/// The bytes of an asset, and how much may still be made of them.
pub(super) struct Data {
    pub buffers: Vec<Vec<u8>>,
    pub limits: Limits,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_small_parts_reach_the_limit_too() {
        let limits = Limits::new();
        for _ in 0..64 {
            limits.triangles(1 << 20).unwrap();
        }
        let message = limits.triangles(1).unwrap_err().to_string();
        assert!(message.contains("67108865 triangles"), "{message}");
        assert!(limits.numbers(usize::MAX, 16).is_err());
    }
}
