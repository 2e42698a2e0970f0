//! Tests that cross crates: the built program on the command line, its parity with the fixtures,
//! and its window on a virtual display. This library holds what those tests share.

#![forbid(unsafe_code)]

pub mod controls;
pub mod display;
pub mod faults;
pub mod fixture;
pub mod hand;
pub mod model;
pub mod program;
pub mod screen;
pub mod window;
