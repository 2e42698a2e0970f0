//! Numbers out of buffers, with every bound checked.

use super::error::{Error, Result};
use super::limits::Data;
use gltf::accessor::{Accessor, DataType, Dimensions, sparse::IndexType};
use gltf::buffer::View;

/// Most elements of one accessor.
const ELEMENT_LIMIT: u64 = 64 << 20;

/// Rows of numbers.
pub(super) struct Numbers {
    /// Numbers of a row.
    pub width: usize,
    /// All rows.
    pub values: Vec<f32>,
}

fn broken(accessor: &Accessor<'_>, reason: impl Into<String>) -> Error {
    Error::broken("accessor", accessor.index(), reason)
}

/// The bytes of a buffer view.
pub(super) fn view_bytes<'a>(buffers: &'a [Vec<u8>], view: &View<'_>) -> Option<&'a [u8]> {
    let buffer = buffers.get(view.buffer().index())?;
    buffer.get(view.offset()..view.offset().checked_add(view.length())?)
}

/// Rows of `size` bytes, `stride` apart; all of them are there.
struct Rows<'a> {
    bytes: &'a [u8],
    stride: usize,
    size: usize,
}

impl<'a> Rows<'a> {
    fn row(&self, i: usize) -> &'a [u8] {
        &self.bytes[i * self.stride..i * self.stride + self.size]
    }
}

/// `count` rows from `offset` of a view.
fn rows<'a>(buffers: &'a [Vec<u8>], view: &View<'_>, offset: usize, size: usize, count: usize) -> Option<Rows<'a>> {
    let stride = view.stride().unwrap_or(size);
    let bytes = view_bytes(buffers, view)?.get(offset..)?;
    let end = stride.checked_mul(count.checked_sub(1)?)?.checked_add(size)?;
    // A view may end with the last row, before its stride does.
    let bytes = bytes.get(..end)?;
    (stride >= size).then_some(Rows { bytes, stride, size })
}

/// One number of a row. Integers become 0..1 or -1..1 where they are normalized.
fn number(bytes: &[u8], kind: DataType, normalized: bool) -> f32 {
    let wide = |i: usize| bytes.get(i).copied().unwrap_or(0);
    let short = [wide(0), wide(1)];
    let long = [wide(0), wide(1), wide(2), wide(3)];
    let (value, most) = match kind {
        DataType::I8 => (f32::from(wide(0) as i8), 127.0),
        DataType::U8 => (f32::from(wide(0)), 255.0),
        DataType::I16 => (f32::from(i16::from_le_bytes(short)), 32767.0),
        DataType::U16 => (f32::from(u16::from_le_bytes(short)), 65535.0),
        DataType::U32 => (u32::from_le_bytes(long) as f32, u32::MAX as f32),
        DataType::F32 => return f32::from_le_bytes(long),
    };
    if normalized { (value / most).max(-1.0) } else { value }
}

/// Offsets of a row's components, and its bytes: columns of matrices begin at multiples of four.
fn components(accessor: &Accessor<'_>) -> (Vec<usize>, usize) {
    let size = accessor.data_type().size();
    let (columns, rows) = match accessor.dimensions() {
        Dimensions::Mat2 => (2, 2),
        Dimensions::Mat3 => (3, 3),
        Dimensions::Mat4 => (4, 4),
        other => (1, other.multiplicity()),
    };
    let column = if columns == 1 { rows * size } else { (rows * size).next_multiple_of(4) };
    let offsets = (0..columns).flat_map(|c| (0..rows).map(move |r| c * column + r * size)).collect();
    (offsets, columns * column)
}

/// Number of elements, at least one and within the limit.
pub(super) fn checked_count(accessor: &Accessor<'_>) -> Result<usize> {
    let count = accessor.count();
    if count == 0 {
        return Err(broken(accessor, "it has no elements"));
    }
    if count as u64 > ELEMENT_LIMIT {
        return Err(Error::TooMany { what: "elements in one accessor", count: count as u64, limit: ELEMENT_LIMIT });
    }
    Ok(count)
}

/// All numbers of an accessor, sparse ones put in their places.
pub(super) fn numbers(data: &Data, accessor: &Accessor<'_>) -> Result<Numbers> {
    gathered(data, accessor, None)
}

/// The numbers of some rows, in the order given, each below the accessor's count; without an
/// order all of them.
pub(super) fn gathered(data: &Data, accessor: &Accessor<'_>, order: Option<&[u32]>) -> Result<Numbers> {
    // Sparse accessors are put together as a whole first.
    let whole = accessor.sparse().is_some();
    let numbers = match order {
        Some(order) if whole => {
            let Numbers { width, values } = all(data, accessor, None)?;
            data.limits.numbers(order.len(), width)?;
            let row = |&i: &u32| &values[i as usize * width..(i as usize + 1) * width];
            Numbers { width, values: order.iter().flat_map(row).copied().collect() }
        }
        order => all(data, accessor, order)?,
    };
    if accessor.data_type() == DataType::F32 && numbers.values.iter().any(|v| !v.is_finite()) {
        return Err(broken(accessor, "it holds a number that is not finite"));
    }
    Ok(numbers)
}

fn all(data: &Data, accessor: &Accessor<'_>, order: Option<&[u32]>) -> Result<Numbers> {
    let buffers = &data.buffers;
    let count = checked_count(accessor)?;
    let (kind, normalized) = (accessor.data_type(), accessor.normalized());
    let (offsets, size) = components(accessor);
    let short = || broken(accessor, format!("its {count} elements reach past the end of its buffer"));
    let width = offsets.len();
    data.limits.numbers(order.map_or(count, <[u32]>::len), width)?;
    let mut values = match accessor.view() {
        Some(view) => {
            let rows = rows(buffers, &view, accessor.offset(), size, count).ok_or_else(short)?;
            let number = |row: &[u8], at: usize| number(&row[at..], kind, normalized);
            let mut values = Vec::with_capacity(width * order.map_or(count, <[u32]>::len));
            match order {
                None => (0..count).for_each(|i| values.extend(offsets.iter().map(|&at| number(rows.row(i), at)))),
                Some(order) => {
                    for &i in order {
                        values.extend(offsets.iter().map(|&at| number(rows.row(i as usize), at)));
                    }
                }
            }
            values
        }
        // Only sparse accessors have no view.
        None => vec![0.0; width * order.map_or(count, <[u32]>::len)],
    };
    if let Some(sparse) = accessor.sparse() {
        let places = sparse.indices();
        let index_size = match places.index_type() {
            IndexType::U8 => 1,
            IndexType::U16 => 2,
            IndexType::U32 => 4,
        };
        let changed = sparse.count();
        data.limits.numbers(changed, width)?;
        let at = rows(buffers, &places.view(), places.offset(), index_size, changed).ok_or_else(short)?;
        let with = sparse.values();
        let new = rows(buffers, &with.view(), with.offset(), size, changed).ok_or_else(short)?;
        for i in 0..changed {
            let place = integer(at.row(i)) as usize;
            let old = values
                .get_mut(place.saturating_mul(width)..place.saturating_mul(width).saturating_add(width))
                .ok_or_else(|| broken(accessor, format!("a sparse index is {place} of {count}")))?;
            for (value, &at) in old.iter_mut().zip(&offsets) {
                *value = number(&new.row(i)[at..], kind, normalized);
            }
        }
    }
    Ok(Numbers { width, values })
}

fn integer(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |sum, &b| sum << 8 | u32::from(b))
}

/// Indices, each below `limit`.
pub(super) fn indices(data: &Data, accessor: &Accessor<'_>, limit: usize) -> Result<Vec<u32>> {
    let count = checked_count(accessor)?;
    let size = accessor.data_type().size();
    let whole = matches!(accessor.data_type(), DataType::U8 | DataType::U16 | DataType::U32);
    let view = accessor.view().filter(|_| whole && accessor.dimensions() == Dimensions::Scalar);
    let view = view.ok_or_else(|| broken(accessor, "it cannot serve as indices"))?;
    data.limits.numbers(count, 1)?;
    let rows = rows(&data.buffers, &view, accessor.offset(), size, count)
        .ok_or_else(|| broken(accessor, format!("its {count} elements reach past the end of its buffer")))?;
    let check = |i: usize| {
        let index = integer(rows.row(i));
        if (index as usize) < limit {
            Ok(index)
        } else {
            Err(broken(accessor, format!("index {index} refers past the {limit} vertices")))
        }
    };
    (0..count).map(check).collect()
}

/// Rows of exactly `N` numbers.
pub(super) fn vectors<const N: usize>(data: &Data, accessor: &Accessor<'_>) -> Result<Vec<[f32; N]>> {
    vectors_of(data, accessor, None)
}

/// Some rows of exactly `N` numbers, in the order given; without an order all of them.
pub(super) fn vectors_of<const N: usize>(
    data: &Data,
    accessor: &Accessor<'_>,
    order: Option<&[u32]>,
) -> Result<Vec<[f32; N]>> {
    let Numbers { width, values } = gathered(data, accessor, order)?;
    if width != N {
        return Err(broken(accessor, format!("its elements have {width} numbers where {N} are needed")));
    }
    Ok(values.as_chunks::<N>().0.to_vec())
}
