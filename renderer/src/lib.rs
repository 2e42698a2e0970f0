//! Scenes to HDR frames with depth, motion and object ids.

#![forbid(unsafe_code)]

mod batch;
mod camera;
mod error;
mod fly;
pub mod folder;
mod gbuffer;
pub mod gltf;
mod gpu_data;
mod jitter;
pub mod jpeg;
pub mod mesh;
mod mipmap;
mod motion_check;
pub mod panorama;
mod pass;
mod path;
mod picture;
mod resident;
pub mod scene;
mod surround;
mod transform;
mod view;

pub use camera::{Axes, Camera, MAX_PITCH};
pub use error::{Error, Result};
pub use fly::{FlyInput, FlySettings, fly};
pub use gbuffer::GBuffer;
pub use gpu_data::{MAX_INSTANCES, MAX_LAMPS, MAX_MATERIALS, MAX_PRIMITIVES};
pub use jitter::{JITTER_FRAMES, halton_jitter, radical_inverse};
pub use motion_check::{Compared, MotionCheck, check_motion};
pub use pass::{Band, Renderer};
pub use path::{CameraKey, CameraPath, KeyedPath, PATH_FORMAT, PathDocument, PathKey, Round};
pub use picture::Picture;
pub use scene::{Environment, Scene, Surroundings};
pub use transform::Rigid;
pub use view::{Effects, View};
