#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| remit_fuzz::yaml(data));
