#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| remit_fuzz::manifest(
    remit_model::Dialect::McpTools,
    data
));
