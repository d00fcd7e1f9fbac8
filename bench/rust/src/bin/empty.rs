//! Does nothing: what starting any Rust program costs.

fn main() {}
