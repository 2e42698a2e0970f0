//! Pictures on surfaces.

/// A picture, four bytes (RGBA) a texel, rows from the top.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    /// Width in texels, at least 1.
    pub width: u32,
    /// Height in texels, at least 1.
    pub height: u32,
    /// `4 * width * height` bytes.
    pub rgba: Vec<u8>,
}

/// Sizes of a picture and of its mipmaps: each side half of the one before, down to one texel.
pub(crate) fn level_sizes(width: u32, height: u32) -> impl Iterator<Item = [u32; 2]> {
    let next = |[w, h]: &[u32; 2]| (*w > 1 || *h > 1).then(|| [(w / 2).max(1), (h / 2).max(1)]);
    std::iter::successors(Some([width, height]), next)
}

impl Image {
    /// Number of texels.
    #[must_use]
    pub fn texels(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }

    /// Number of texels of the picture and all its mipmaps.
    #[must_use]
    pub fn texels_with_mipmaps(&self) -> u64 {
        level_sizes(self.width, self.height).map(|[w, h]| u64::from(w) * u64::from(h)).sum()
    }

    /// The picture at half the size: each texel the mean of four.
    #[must_use]
    pub fn halved(&self) -> Self {
        let (width, height) = ((self.width / 2).max(1), (self.height / 2).max(1));
        let at = |x: u32, y: u32, c: usize| {
            let (x, y) = (x.min(self.width - 1) as usize, y.min(self.height - 1) as usize);
            u32::from(self.rgba[4 * (y * self.width as usize + x) + c])
        };
        let mut rgba = Vec::with_capacity(4 * width as usize * height as usize);
        for y in 0..height {
            for x in 0..width {
                rgba.extend((0..4).map(|c| {
                    let sum = at(2 * x, 2 * y, c) + at(2 * x + 1, 2 * y, c);
                    let sum = sum + at(2 * x, 2 * y + 1, c) + at(2 * x + 1, 2 * y + 1, c);
                    ((sum + 2) / 4) as u8
                }));
            }
        }
        Self { width, height, rgba }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halving_averages() {
        let image = Image { width: 2, height: 2, rgba: [[0, 10, 20, 255], [4, 10, 20, 255]].concat().repeat(2) };
        assert_eq!(image.halved(), Image { width: 1, height: 1, rgba: vec![2, 10, 20, 255] });
        let thin = Image { width: 1, height: 4, rgba: [0, 100, 8, 4].repeat(4) };
        assert_eq!((thin.halved().width, thin.halved().height), (1, 2));
    }
}
