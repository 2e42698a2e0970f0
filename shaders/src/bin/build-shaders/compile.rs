//! One unit through glslang.

use glslang::error::GlslangError;
use glslang::include::{IncludeHandler, IncludeResult, IncludeType};
use glslang::{
    Compiler, CompilerOptions, ShaderInput, ShaderMessage, ShaderSource, ShaderStage, SourceLanguage, SpirvVersion,
    Target, VulkanVersion,
};
use shaders::manifest::sha256_hex;
use shaders::sources::Unit;
use shaders::spirv::{self, Reflection};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// A compiled unit with what it was made from.
pub struct Compiled {
    pub words: Vec<u32>,
    pub source_sha256: String,
    pub includes: BTreeMap<String, String>,
    pub interface: Reflection,
}

/// Resolves includes beside the including file first, then in `glsl/include`, and remembers
/// what was read.
struct Includes<'a> {
    glsl: &'a Path,
    source: &'a str,
    read: BTreeMap<String, String>,
    missing: Option<String>,
}

impl IncludeHandler for Includes<'_> {
    fn include(&mut self, kind: IncludeType, header: &str, includer: &str, _depth: usize) -> Option<IncludeResult> {
        let includer = if includer.is_empty() { self.source } else { includer };
        let folder = includer.rsplit_once('/').map_or("", |(folder, _)| folder);
        let beside = (kind == IncludeType::Local).then(|| format!("{folder}/{header}"));
        let candidates = beside.into_iter().chain([format!("include/{header}")]);
        for name in candidates {
            if let Ok(data) = fs::read_to_string(self.glsl.join(&name)) {
                self.read.insert(name.clone(), sha256_hex(data.as_bytes()));
                return Some(IncludeResult { name, data });
            }
        }
        self.missing = Some(header.to_owned());
        None
    }
}

/// Compiles one unit and reflects it.
pub fn compile(glsl: &Path, unit: &Unit) -> Result<Compiled, String> {
    let text = fs::read_to_string(glsl.join(&unit.source)).map_err(|e| format!("{}: {e}", unit.source))?;
    if text.contains('\0') {
        return Err(format!("{}: holds a zero byte", unit.source));
    }
    let compiler = Compiler::acquire().ok_or("glslang did not start")?;
    let source = ShaderSource::from(with_includes_enabled(&text).as_str());
    let options = CompilerOptions {
        source_language: SourceLanguage::GLSL,
        target: Target::Vulkan { version: VulkanVersion::Vulkan1_3, spirv_version: SpirvVersion::SPIRV1_6 },
        version_profile: None,
        messages: ShaderMessage::SPV_RULES | ShaderMessage::VULKAN_RULES,
    };
    let mut includes = Includes { glsl, source: &unit.source, read: BTreeMap::new(), missing: None };
    let result = parse(compiler, &source, &options, unit, &mut includes);
    let words = result.map_err(|error| match &includes.missing {
        Some(header) => format!("cannot include \"{header}\"\n{error}"),
        None => error,
    })?;
    if words.is_empty() {
        return Err(format!("{}: glslang gave no code", unit.source));
    }
    let interface = spirv::reflect(&words).map_err(|e| format!("shaders/glsl/{}: {e}", unit.source))?;
    Ok(Compiled { words, source_sha256: sha256_hex(text.as_bytes()), includes: includes.read, interface })
}

/// The source with the include extension switched on right after its `#version` line. (A
/// preamble is no place for it: glslang would see it in front of `#version`.)
fn with_includes_enabled(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 80);
    for (line, content) in (1..).zip(text.lines()) {
        out.push_str(content);
        out.push('\n');
        if content.starts_with("#version") {
            out.push_str("#extension GL_GOOGLE_include_directive : require\n");
            out.push_str(&format!("#line {}\n", line + 1));
        }
    }
    out
}

fn parse(
    compiler: &'static Compiler,
    source: &ShaderSource,
    options: &CompilerOptions,
    unit: &Unit,
    includes: &mut Includes<'_>,
) -> Result<Vec<u32>, String> {
    let no_defines: Option<&[(&str, Option<&str>)]> = None;
    let input = ShaderInput::new(source, ShaderStage::Compute, options, no_defines, Some(includes))
        .map_err(|e| message(&e, unit))?;
    // Definitions go into the preamble ourselves, so that their order is the declared one.
    let mut preamble = String::new();
    for define in &unit.defines {
        let (name, value) = define.split_once('=').unwrap_or((define, "1"));
        preamble.push_str(&format!("#define {name} {value}\n"));
    }
    let mut builder = glslang::Shader::new(compiler, input);
    builder.preamble(&preamble);
    let shader = builder.parse().map_err(|e| message(&e, unit))?;
    shader.compile().map_err(|e| message(&e, unit))
}

/// glslang's log with paths a terminal can follow, without its empty lines.
fn message(error: &GlslangError, unit: &Unit) -> String {
    let log = match error {
        GlslangError::PreprocessError(log)
        | GlslangError::ParseError(log)
        | GlslangError::MapIoError(log)
        | GlslangError::LinkError(log) => log.log.clone(),
        other => other.to_string(),
    };
    let mut out = String::new();
    for line in log.lines().filter(|line| !line.trim().is_empty()) {
        let located = line.strip_prefix("ERROR: ").or_else(|| line.strip_prefix("WARNING: "));
        match located.and_then(|rest| rest.split_once(':')) {
            Some(("0", rest)) => out.push_str(&format!("  shaders/glsl/{}:{rest}\n", unit.source)),
            Some((file, rest)) if file.ends_with(".glsl") => {
                out.push_str(&format!("  shaders/glsl/{file}:{rest}\n"));
            }
            _ => out.push_str(&format!("  {line}\n")),
        }
    }
    out
}
