//! The tests of the manifest compiler that go through its public surface.

mod corpora;
mod differences;
mod documentation;
mod fixtures;
mod limits;
mod syntax;
