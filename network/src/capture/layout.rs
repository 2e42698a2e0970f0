//! Which tensors a frame has, and their shapes.

use super::schema::Header;
use super::tensor::DType;
use crate::geometry::{Extent, Geometry};
use crate::plan::{Format, Plan, TensorId};

/// A tensor that a frame must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Name.
    pub name: String,
    /// Element type.
    pub dtype: DType,
    /// Rows, columns, channels.
    pub shape: [usize; 3],
}

/// The name under which a tensor of the plan is recorded.
pub fn tensor_name(plan: &Plan, id: TensorId) -> String {
    if id == plan.features {
        return "features".to_owned();
    }
    if id == plan.head {
        return "head".to_owned();
    }
    let tensor = plan.tensor(id);
    tensor.boundary.clone().unwrap_or_else(|| format!("plan.{}", tensor.label))
}

/// The tensors of a frame, in their order in `frame.json`.
pub fn expected(header: &Header, geometry: &Geometry, history_valid: bool) -> Vec<Expected> {
    let (valid, field) = (geometry.valid, geometry.field);
    let make = |name: &str, dtype, extent: Extent, channels| Expected {
        name: name.to_owned(),
        dtype,
        shape: [extent.height as usize, extent.width as usize, channels],
    };
    let mut all = Vec::new();
    if header.source.is_scene() {
        all.push(make("color", DType::F16, valid, 4));
        all.push(make("depth", DType::F32, valid, 1));
        all.push(make("motion", DType::F16, valid, 2));
        all.push(make("proxy", DType::F16, valid, 4));
    } else {
        all.push(make("image", DType::F32, valid, 4));
    }
    if history_valid {
        all.push(make("previous-history", DType::F16, valid, 4));
    }
    all.push(make("features", DType::F16, field, 16));
    all.push(make("head", DType::F16, field, 4));
    all.push(make("next-history", DType::F16, valid, 4));
    all.push(make("published", DType::F16, valid, 4));
    all.push(make("display-input", DType::U8, valid, 4));
    all.push(make("display", DType::U8, valid, 4));
    if header.boundaries() || header.all_tensors {
        let plan = Plan::new(geometry);
        for (i, tensor) in plan.tensors.iter().enumerate() {
            let id = TensorId(i as u32);
            if id == plan.features || id == plan.head || (tensor.boundary.is_none() && !header.all_tensors) {
                continue;
            }
            let dtype = match tensor.format {
                Format::E4m3 => DType::E4m3,
                Format::Half => DType::F16,
            };
            all.push(make(&tensor_name(&plan, id), dtype, tensor.extent, tensor.channels));
        }
    }
    all
}
