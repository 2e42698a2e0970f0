//! Reading pictures of floating-point channels.

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use exr::prelude::{FlatSamples, ReadChannels as _, ReadLayers as _};

use super::{FileFormat, ImportError, Rows};
use crate::geometry::Extent;
use crate::model::files::{file_length, read_exactly};
use crate::numerics::half;

/// Bytes of an EXR header that are looked at before anything is decoded: it names the size.
const MOST_EXR: u64 = 2 << 30;
/// Most channels of an EXR file: all are decoded.
const MOST_CHANNELS: usize = 64;

/// Channels of one picture, rows from the top.
pub(super) struct Layer {
    channels: Vec<Channel>,
}

/// One channel's elements as they are stored.
enum Channel {
    Halves(Vec<u16>),
    Floats(Vec<f32>),
}

impl Layer {
    pub fn read(
        path: &Path,
        format: FileFormat,
        names: &[String],
        rows: Rows,
        extent: Extent,
    ) -> Result<Self, ImportError> {
        let mut layer = match format {
            FileFormat::Exr => exr_layer(path, names, extent)?,
            FileFormat::F16 | FileFormat::F32 => raw_layer(path, format, names.len(), extent)?,
        };
        // EXR files say where their rows are; only raw ones need to be told.
        if rows == Rows::BottomFirst && format != FileFormat::Exr {
            layer.channels.iter_mut().for_each(|channel| channel.flip(extent.width as usize));
        }
        Ok(layer)
    }

    /// Element of a channel as f32.
    pub fn value(&self, pixel: usize, channel: usize) -> f32 {
        match &self.channels[channel] {
            Channel::Halves(values) => half::to_f32(values[pixel]),
            Channel::Floats(values) => values[pixel],
        }
    }

    /// Element of a channel as half bits, rounded where it is no half.
    pub fn half(&self, pixel: usize, channel: usize) -> u16 {
        match &self.channels[channel] {
            Channel::Halves(values) => values[pixel],
            Channel::Floats(values) => half::from_f32(values[pixel]),
        }
    }
}

impl Channel {
    fn flip(&mut self, width: usize) {
        fn rows<T: Copy>(values: &mut Vec<T>, width: usize) {
            *values = values.chunks(width).rev().flatten().copied().collect();
        }
        match self {
            Self::Halves(values) => rows(values, width),
            Self::Floats(values) => rows(values, width),
        }
    }
}

fn read_error(path: &Path) -> impl Fn(std::io::Error) -> ImportError {
    move |source| ImportError::Read { path: path.to_owned(), source }
}

fn raw_layer(path: &Path, format: FileFormat, count: usize, extent: Extent) -> Result<Layer, ImportError> {
    let bytes_each = if format == FileFormat::F16 { 2 } else { 4 };
    let expected = (extent.pixels() * count * bytes_each) as u64;
    let found = file_length(path).map_err(read_error(path))?;
    if found != expected {
        let problem = format!("{found} bytes; {count} channels of {extent} take {expected}");
        return Err(ImportError::Invalid { path: path.to_owned(), problem });
    }
    let bytes = read_exactly(path, expected).map_err(read_error(path))?;
    let channel = |c: usize| {
        let at = |i: usize| (i * count + c) * bytes_each;
        let pixels = 0..extent.pixels();
        if format == FileFormat::F16 {
            Channel::Halves(pixels.map(|i| u16::from_le_bytes([bytes[at(i)], bytes[at(i) + 1]])).collect())
        } else {
            let float = |i: usize| {
                let b = &bytes[at(i)..at(i) + 4];
                f32::from_le_bytes([b[0], b[1], b[2], b[3]])
            };
            Channel::Floats(pixels.map(float).collect())
        }
    };
    Ok(Layer { channels: (0..count).map(channel).collect() })
}

fn exr_layer(path: &Path, names: &[String], extent: Extent) -> Result<Layer, ImportError> {
    let invalid = |problem: String| ImportError::Invalid { path: path.to_owned(), problem };
    let length = file_length(path).map_err(read_error(path))?;
    if length > MOST_EXR {
        return Err(invalid(format!("{length} bytes, at most {MOST_EXR} are accepted")));
    }
    let bytes = read_exactly(path, length).map_err(read_error(path))?;
    // The decoder is not ours: a panic of it is a broken file.
    let decoded = catch_unwind(AssertUnwindSafe(|| decode_exr(&bytes, names, extent)));
    decoded.unwrap_or_else(|_| Err("it cannot be decoded".to_owned())).map_err(invalid)
}

fn decode_exr(bytes: &[u8], names: &[String], extent: Extent) -> Result<Layer, String> {
    // The header first: a small file may name a huge picture, or very many channels of a large one.
    let meta = exr::meta::MetaData::read_from_buffered(Cursor::new(bytes), false)
        .map_err(|error| messages::shortened(&error))?;
    let [header] = meta.headers.as_slice() else {
        return Err(format!("{} parts; one is expected", meta.headers.len()));
    };
    let size = header.layer_size;
    if (size.0, size.1) != (extent.width as usize, extent.height as usize) {
        return Err(format!("{}x{} pixels instead of {extent}", size.0, size.1));
    }
    let count = header.channels.list.len();
    if count > MOST_CHANNELS {
        return Err(format!("{count} channels, at most {MOST_CHANNELS} are accepted"));
    }
    let image = exr::prelude::read()
        .no_deep_data()
        .largest_resolution_level()
        .all_channels()
        .first_valid_layer()
        .all_attributes()
        .from_buffered(Cursor::new(bytes))
        .map_err(|error| messages::shortened(&error))?;
    let all = &image.layer_data.channel_data.list;
    let channel = |name: &String| {
        let found = all.iter().find(|channel| channel.name.to_string() == *name).ok_or_else(|| {
            let there = messages::listed(all.iter().map(|channel| channel.name.to_string()));
            format!("no channel {}; it has {there}", messages::shortened(name))
        })?;
        let channel = match &found.sample_data {
            FlatSamples::F16(values) => Channel::Halves(values.iter().map(|value| value.to_bits()).collect()),
            FlatSamples::F32(values) => Channel::Floats(values.clone()),
            FlatSamples::U32(_) => return Err(format!("channel {} holds integers", messages::shortened(name))),
        };
        if found.sample_data.len() != extent.pixels() {
            return Err(format!("channel {} is subsampled", messages::shortened(name)));
        }
        Ok(channel)
    };
    Ok(Layer { channels: names.iter().map(channel).collect::<Result<_, _>>()? })
}
