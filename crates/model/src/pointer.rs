//! JSON pointers (RFC 6901).

/// Adds a key to a pointer, escaped.
pub fn push_key(pointer: &mut String, key: &str) {
    pointer.push('/');
    for c in key.chars() {
        match c {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            c => pointer.push(c),
        }
    }
}

/// Adds an array index to a pointer.
pub fn push_index(pointer: &mut String, index: usize) {
    pointer.push('/');
    pointer.push_str(itoa::Buffer::new().format(index));
}

/// Gives the pointer to a key below `pointer`.
#[must_use]
pub fn join(pointer: &str, key: &str) -> String {
    let mut joined = pointer.to_owned();
    push_key(&mut joined, key);
    joined
}

/// Gives the pointer to an element below `pointer`.
#[must_use]
pub fn index(pointer: &str, index: usize) -> String {
    let mut joined = pointer.to_owned();
    push_index(&mut joined, index);
    joined
}

#[cfg(test)]
mod tests {
    #[test]
    fn slashes_and_tildes_are_escaped() {
        assert_eq!(super::join("/a", "b/c~d"), "/a/b~1c~0d");
        assert_eq!(super::index("/a", 10), "/a/10");
    }
}
