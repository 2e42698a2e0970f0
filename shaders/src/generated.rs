//! The table of shaders. Written by `build-shaders`; do not edit.

#[rustfmt::skip]
#[allow(unused_imports, reason = "which are used depends on the shaders")]
pub(crate) static SHADERS: &[crate::Shader] = {
    use crate::{Binding, BindingKind::*, Shader, ShaderInfo, SpecConstant};
    &[
        Shader {
            name: "test/combine.add",
            spirv: include_bytes!("../spv/test/combine.add.spv"),
            info: ShaderInfo {
                workgroup_size: [32, 2, 1],
                workgroup_size_ids: [None, None, None],
                bindings: &[Binding { binding: 0, kind: StorageBuffer, count: 1 }, Binding { binding: 1, kind: StorageBuffer, count: 1 }, Binding { binding: 2, kind: StorageBuffer, count: 1 }],
                push_constant_size: 4,
                shared_memory_size: 256,
                spec_constants: &[SpecConstant { id: 3, default: 64 }],
                capabilities: &["Shader", "StorageBuffer8BitAccess"],
                spirv_sha256: "93f70a9dcfd9ca5d1fa6a281b1a055cf0ac4485f24c197a7c490bb2d8acdaf39",
            },
        },
        Shader {
            name: "test/combine.sub",
            spirv: include_bytes!("../spv/test/combine.sub.spv"),
            info: ShaderInfo {
                workgroup_size: [32, 2, 1],
                workgroup_size_ids: [None, None, None],
                bindings: &[Binding { binding: 0, kind: StorageBuffer, count: 1 }, Binding { binding: 1, kind: StorageBuffer, count: 1 }, Binding { binding: 2, kind: StorageBuffer, count: 1 }],
                push_constant_size: 4,
                shared_memory_size: 256,
                spec_constants: &[SpecConstant { id: 3, default: 64 }],
                capabilities: &["Shader", "StorageBuffer8BitAccess"],
                spirv_sha256: "40ef1271d0cb5a61dee42490988f8db8a114f2459f21daec7e400d0f8d53b662",
            },
        },
        Shader {
            name: "test/fill",
            spirv: include_bytes!("../spv/test/fill.spv"),
            info: ShaderInfo {
                workgroup_size: [64, 1, 1],
                workgroup_size_ids: [Some(0), None, None],
                bindings: &[Binding { binding: 0, kind: StorageBuffer, count: 1 }],
                push_constant_size: 8,
                shared_memory_size: 0,
                spec_constants: &[SpecConstant { id: 0, default: 64 }],
                capabilities: &["Shader"],
                spirv_sha256: "9dc32ebe42c2e34cd1001c411d92387e50dccf8589f9c0770f24445eca2f56c9",
            },
        },
        Shader {
            name: "view/present",
            spirv: include_bytes!("../spv/view/present.spv"),
            info: ShaderInfo {
                workgroup_size: [16, 8, 1],
                workgroup_size_ids: [None, None, None],
                bindings: &[Binding { binding: 0, kind: StorageBuffer, count: 1 }, Binding { binding: 1, kind: StorageBuffer, count: 1 }, Binding { binding: 2, kind: StorageImage, count: 1 }],
                push_constant_size: 80,
                shared_memory_size: 0,
                spec_constants: &[],
                capabilities: &["Shader"],
                spirv_sha256: "3d85c41e90fabdce860bfcbbb8168828c775304e2df2c0aa356077f032e57ab3",
            },
        },
    ]
};
