//! Index functions against the vectors; conversions there and back.

use super::*;

fn vectors() -> serde_json::Value {
    serde_json::from_str(include_str!("../../../tests/vectors/weights_index.json")).unwrap()
}

fn number(value: &serde_json::Value) -> usize {
    value.as_u64().unwrap() as usize
}

#[test]
fn indices_match_the_vectors() {
    let v = vectors();
    for case in v["fp8"].as_array().unwrap() {
        let byte = fp8_byte(number(&case["k"]), number(&case["n"]), number(&case["N"]));
        assert_eq!(byte, number(&case["byte"]), "{case}");
    }
    for case in v["f16"].as_array().unwrap() {
        let half = half_index(number(&case["k"]), number(&case["n"]), number(&case["N"]));
        assert_eq!(half, number(&case["half"]), "{case}");
    }
    for case in v["prior"].as_array().unwrap() {
        let query = physical_token(number(&case["queryNatural"]));
        assert_eq!(prior_index(query, number(&case["keyPhysical"])), number(&case["half"]), "{case}");
    }
    for c in 0..32 {
        assert_eq!(row_of_channel(c), number(&v["slotOfChannel"][c]));
        assert_eq!(channel_of_row(c), number(&v["channelOfSlot"][c]));
        assert_eq!(row_of_channel(c + 96), row_of_channel(c) + 96);
        assert_eq!(channel_of_row(row_of_channel(c + 480)), c + 480);
    }
    for t in 0..64 {
        assert_eq!(physical_token(t), number(&v["tiled"][t]));
        assert_eq!(number(&v["untiled"][physical_token(t)]), t);
    }
}

/// Bytes without a pattern that an index error could hide behind.
fn scrambled(len: usize) -> Vec<u8> {
    (0..len as u64).map(|i| (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8).collect()
}

#[test]
fn fp8_matrices_round_trip() {
    // Under Miri the small ones are enough: the large ones are more of the same, and take a quarter of an hour.
    let small = if cfg!(miri) { 3 } else { usize::MAX };
    for (k, n) in [(32, 16), (32, 96), (128, 32), (64, 256), (256, 64), (512, 1536)].into_iter().take(small) {
        let packed = scrambled(k * n);
        let natural = unpack_fp8(&packed, k, n);
        assert_eq!(pack_fp8(&natural, k, n), packed, "{k} x {n}");
        assert_eq!(natural[2 * n], packed[fp8_byte(4, 0, n)], "channel 2 sits in row 4");
    }
}

#[test]
fn fp8_index_is_a_bijection() {
    let small = if cfg!(miri) { 3 } else { usize::MAX };
    for n in [32, 64, 96, 128, 192, 768, 1536].into_iter().take(small) {
        let mut seen = vec![false; 64 * n];
        for r in 0..64 {
            for column in 0..n {
                assert!(!std::mem::replace(&mut seen[fp8_byte(r, column, n)], true));
            }
        }
        assert!(seen.iter().all(|&s| s));
    }
}

#[test]
fn half_matrices_round_trip() {
    for (k, n) in [(16, 32), (32, 4), (32, 16)] {
        let natural: Vec<f16> =
            scrambled(2 * k * n).chunks_exact(2).map(|b| f16::from_le_bytes([b[0], b[1]])).collect();
        let packed = pack_half_matrix(&natural, k, n);
        assert_eq!(packed.len(), 1024);
        let again = unpack_half_matrix(&packed, k, n);
        assert!(again.iter().zip(&natural).all(|(a, b)| a.to_bits() == b.to_bits()));
    }
}

#[test]
fn priors_round_trip() {
    let packed = scrambled(3 * 8192);
    let natural = unpack_prior(&packed, 3);
    assert_eq!(natural.len(), 3 * PRIOR_HALVES);
    assert_eq!(pack_prior(&natural, 3), packed);
    // Natural query 4 is physical query 16: the second row of tiles begins at half 1024.
    assert_eq!(natural[4 * 64].to_le_bytes(), packed[2048..2050]);
}
