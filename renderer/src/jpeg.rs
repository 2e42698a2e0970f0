//! How much work a JPEG file may ask of its decoder.
//!
//! A header of a few bytes can claim a picture of hundreds of megabytes, and a progressive file can go over all of it again
//! with every scan of a dozen bytes. Decoders fill in what is missing, so a file that holds almost nothing would take as
//! long as a whole picture of that size, or a hundred of them.

/// Most pixels that a byte can stand for. Each block of 8x8 samples takes at least one bit of the first scan of its component,
/// since no code is shorter, and a component has at least one block for 128 pixels: sampling factors go up to 4, and some
/// component has the largest one across, some the largest one down.
const PIXELS_A_BYTE: u64 = 8 * 128;

/// Most pixels times scans: 16 scans of the largest picture that is taken. Encoders write about ten.
const MOST_WORK: u64 = 1 << 32;

/// The first bytes of a JPEG file.
const START: [u8; 3] = [0xff, 0xd8, 0xff];
/// The marker before a scan. Within the data of a scan 0xff is followed by other bytes, so there are no more scans than
/// markers; the pictures within descriptions that cameras add may bring a few more.
const SCAN: [u8; 2] = [0xff, 0xda];

/// Whether bytes begin as a JPEG file does.
#[must_use]
pub fn is_one(bytes: &[u8]) -> bool {
    bytes.starts_with(&START)
}

/// Refuses to decode a JPEG file of `width` x `height` pixels, as its header says, whose bytes cannot hold as many or that
/// goes over them too often.
///
/// # Errors
/// What is wrong with it, to be put after "it".
pub fn check(bytes: &[u8], width: u32, height: u32) -> Result<(), String> {
    let (length, pixels) = (bytes.len() as u64, u64::from(width) * u64::from(height));
    if pixels > length.saturating_mul(PIXELS_A_BYTE) {
        return Err(format!("is cut off: its {length} bytes cannot hold {width}x{height} pixels"));
    }
    let scans = bytes.windows(2).filter(|pair| **pair == SCAN).count() as u64;
    if pixels.saturating_mul(scans) > MOST_WORK {
        let most = MOST_WORK / pixels.max(1);
        return Err(format!(
            "has {scans} scans of {width}x{height} pixels, and at most {most} of that size are decoded"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::codecs::jpeg::JpegEncoder;

    fn encoded(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        // One grey: no picture takes fewer bytes.
        let picture = image::GrayImage::from_pixel(width, height, image::Luma([128]));
        JpegEncoder::new_with_quality(&mut bytes, 1).encode_image(&picture).expect("a picture");
        bytes
    }

    #[test]
    fn whole_pictures_are_decoded() {
        for (width, height) in [(1, 1), (33, 20), (1000, 7), (2048, 2048)] {
            let bytes = encoded(width, height);
            assert!(is_one(&bytes) && !is_one(b"\x89PNG"));
            assert_eq!(check(&bytes, width, height), Ok(()), "{width}x{height} in {} bytes", bytes.len());
        }
    }

    #[test]
    fn bytes_hold_only_so_many_pixels() {
        let bytes = encoded(64, 64);
        let most = bytes.len() as u32 * PIXELS_A_BYTE as u32;
        assert_eq!(check(&bytes, most, 1), Ok(()));
        for (width, height) in [(most + 1, 1), (16384, 16384), (u32::MAX, u32::MAX)] {
            assert!(check(&bytes, width, height).is_err_and(|text| text.contains("cut off")), "{width}x{height}");
        }
    }

    #[test]
    fn scans_are_counted() {
        let mut bytes = vec![0; 1 << 20];
        bytes.extend(SCAN.repeat(16));
        assert_eq!(check(&bytes, 16384, 16384), Ok(()));
        bytes.extend(SCAN);
        assert!(check(&bytes, 16384, 16384).is_err_and(|text| text.contains("17 scans")));
        // Small pictures may have as many as they like.
        bytes.extend(SCAN.repeat(1000));
        assert_eq!(check(&bytes, 1024, 1024), Ok(()));
    }
}
