//! Tokens of issuers: real keys, a real server that gives them out, and requests over HTTP.

mod forged;
mod keys;
mod people;
mod world;
