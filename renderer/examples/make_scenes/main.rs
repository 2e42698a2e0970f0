//! Makes the models of the scenes that come with the program.
//!
//!     cargo run --release -p renderer --example make_scenes -- assets/scenes [NAME...]
//!
//! Everything in them is made here: shapes, pictures, motion. The same program writes the same files.

#![allow(missing_docs, reason = "a program of its own")]

mod courtyard;
mod fair;
mod figure;
mod glb;
mod materials;
mod noise;
mod park;
mod shape;
mod texture;

use std::error::Error;
use std::path::PathBuf;

/// Makes a scene's model.
type Make = fn() -> glb::Glb;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("give the folder of the scenes, such as assets/scenes")?);
    let names: Vec<String> = arguments.collect();
    let scenes: [(&str, Make); 4] =
        [("courtyard", courtyard::make), ("fair", fair::make), ("materials", materials::make), ("park", park::make)];
    for (name, make) in scenes {
        if names.is_empty() || names.iter().any(|wanted| wanted == name) {
            let folder = folder.join(name);
            std::fs::create_dir_all(&folder)?;
            make().write(&folder.join("model.glb"))?;
        }
    }
    Ok(())
}
