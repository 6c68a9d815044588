mod formats;
mod laws;
mod types;

/// Another's base32, to judge ours by.
fn encode_base32(bytes: &[u8]) -> String {
    multibase::encode(multibase::Base::Base32Lower, bytes)
}
