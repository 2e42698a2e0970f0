//! Whether frames of a size fit on a device, and which size would.

use gpu::Device;
use network::exec::Network;
use network::geometry::{Extent, Geometry, GeometryError};
use network::plan::Plan;

use super::neural::Neural;
use super::studio::Plain;

/// Bytes of a pixel in the widest picture that a shader sees whole.
const WIDEST_PIXEL: u64 = 8;
/// Share of the free memory that a frame may take, in percent.
const SHARE: u64 = 90;

/// Why a size is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FitError {
    /// The network has no field for it.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
    /// The device has not enough of something.
    #[error("frames of {size} do not fit on {device}: {what}{}", .fits.map(|f| format!("; {f} fits")).unwrap_or_default())]
    TooLarge {
        /// The size asked for.
        size: Extent,
        /// The device.
        device: String,
        /// What is too little, with both numbers.
        what: String,
        /// The largest size of about the same shape that fits.
        fits: Option<Extent>,
    },
}

/// Device memory that frames of a size take, by purpose, without the weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// Activations of the network.
    pub arena: u64,
    /// Scene images, histories, pictures.
    pub pictures: u64,
}

/// What frames of a geometry need.
pub fn need(geometry: &Geometry) -> Need {
    let arena = Network::predict(&Plan::new(geometry), false).arena;
    Need { arena, pictures: Neural::bytes(geometry) - arena + Plain::bytes(geometry) }
}

/// Free device memory: what the driver's budget leaves of the largest heap of the device's own.
pub fn free_memory(device: &Device) -> u64 {
    let heaps = device.memory_budget();
    heaps.iter().filter(|heap| heap.device_local).map(|heap| heap.budget.saturating_sub(heap.usage)).max().unwrap_or(0)
}

/// The geometry of frames of a size, if they fit. `held` bytes of this program's are given back before.
///
/// # Errors
/// [`FitError`], naming a size that fits where there is one.
pub fn check(device: &Device, size: Extent, held: u64) -> Result<Geometry, FitError> {
    let geometry = Geometry::new(size)?;
    let free = free_memory(device).saturating_add(held);
    let Some(what) = obstacle(device, &geometry, free) else { return Ok(geometry) };
    let fits = largest(size, |smaller| {
        Geometry::new(smaller).is_ok_and(|geometry| obstacle(device, &geometry, free).is_none())
    });
    Err(FitError::TooLarge { size, device: device.caps().name.clone(), what, fits })
}

/// What frames of a size would be like, for a person who thinks about them.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Forecast {
    /// `WIDTHxHEIGHT`.
    pub size: String,
    /// The padded field.
    pub field: String,
    /// The six levels, from the finest.
    pub levels: Vec<String>,
    /// Tokens of the ViT.
    pub tokens: usize,
    /// Work of a frame, in 10^9 floating-point operations.
    pub gflop: f64,
    /// Bytes of device memory that frames of this size take.
    pub memory: u64,
    /// Why the size is refused, naming one that fits where there is one.
    pub refusal: Option<String>,
}

/// What frames of a size would be like. `held` bytes of this program's would be given back before.
pub fn forecast(device: &Device, size: Extent, held: u64) -> Forecast {
    let refusal = check(device, size, held).err().map(|error| error.to_string());
    let Ok(geometry) = Geometry::new(size) else {
        let (field, levels) = (String::new(), Vec::new());
        return Forecast { size: size.to_string(), field, levels, tokens: 0, gflop: 0.0, memory: 0, refusal };
    };
    let Need { arena, pictures } = need(&geometry);
    Forecast {
        size: geometry.valid.to_string(),
        field: geometry.field.to_string(),
        levels: geometry.levels.iter().map(ToString::to_string).collect(),
        tokens: geometry.vit_tokens,
        gflop: Plan::new(&geometry).cost().flop() as f64 * 1e-9,
        memory: arena + pictures,
        refusal,
    }
}

/// The largest share of a view, in percent up to `most`, whose frames fit. At least the share of the smallest frame.
pub fn largest_percent(device: &Device, view: [u32; 2], most: f32, held: u64) -> f32 {
    let full = |side: u32| (side as f32 * most / 100.0).round().clamp(1.0, 16384.0) as u32;
    let size = Extent::new(full(view[0]), full(view[1]));
    match check(device, size, held) {
        Ok(_) => most,
        Err(FitError::TooLarge { fits: Some(fits), .. }) => 100.0 * fits.width as f32 / view[0].max(1) as f32,
        Err(_) => 100.0,
    }
}

/// What stands in the way of a geometry, if anything.
fn obstacle(device: &Device, geometry: &Geometry, free: u64) -> Option<String> {
    let limits = &device.caps().limits;
    let widest = geometry.valid.pixels() as u64 * WIDEST_PIXEL;
    if widest > limits.max_storage_buffer_range {
        let limit = limits.max_storage_buffer_range;
        return Some(format!("a picture has {widest} bytes, maxStorageBufferRange is {limit}"));
    }
    let Need { arena, pictures } = need(geometry);
    let most = limits.max_memory_allocation.min(limits.max_buffer_size);
    if arena > most {
        return Some(format!("the activations have {arena} bytes, one buffer may have {most}"));
    }
    let usable = free / 100 * SHARE;
    (arena + pictures > usable).then(|| format!("{} bytes are needed, {usable} are free", arena + pictures))
}

/// The largest size of about the same shape that is accepted, in steps of a 64th.
fn largest(size: Extent, accepts: impl Fn(Extent) -> bool) -> Option<Extent> {
    let scaled = |part: u32| {
        let side = |full: u32| (u64::from(full) * u64::from(part) / 64 / 2 * 2).max(2) as u32;
        Extent::new(side(size.width), side(size.height))
    };
    // Sizes grow with the part, and so does what they need, up to the steps of the padded field.
    let (mut low, mut high) = (0, 64);
    while low + 1 < high {
        let middle = (low + high) / 2;
        if accepts(scaled(middle)) { low = middle } else { high = middle }
    }
    (low > 0).then(|| scaled(low))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_size_keeps_the_shape() {
        let fits = largest(Extent::new(16384, 8192), |size| size.pixels() <= 1 << 22);
        let fits = fits.unwrap_or(Extent::new(0, 0));
        assert_eq!(fits.width, 2 * fits.height);
        assert!(fits.pixels() <= 1 << 22 && fits.pixels() > 3 << 20, "{fits}");
        assert_eq!(largest(Extent::new(100, 100), |_| false), None);
    }

    #[test]
    fn needs_grow_with_the_frame() -> Result<(), GeometryError> {
        let small = need(&Geometry::new(Extent::new(320, 180))?);
        let large = need(&Geometry::new(Extent::new(1920, 1080))?);
        assert!(large.arena > 4 * small.arena && large.pictures > 10 * small.pictures);
        Ok(())
    }
}
