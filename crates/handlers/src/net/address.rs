//! What kind of address an address is.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Is who may be behind an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Anybody: an address of the public internet.
    Public,
    /// This machine or a network of its operator.
    Private,
    /// Nobody a tool should talk to: link-local, where clouds keep credentials, multicast, reserved.
    Never,
}

/// Lists services of clouds at addresses that look like others.
const METADATA_V4: &[Ipv4Addr] =
    &[Ipv4Addr::new(168, 63, 129, 16), Ipv4Addr::new(100, 100, 100, 200)];
const METADATA_V6: &[Ipv6Addr] = &[
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
];

/// Tells who may be behind an address.
pub(super) fn reach(address: IpAddr) -> Reach {
    match address {
        IpAddr::V4(address) => reach_v4(address),
        IpAddr::V6(address) => reach_v6(address),
    }
}

fn reach_v4(address: Ipv4Addr) -> Reach {
    if METADATA_V4.contains(&address) {
        return Reach::Never;
    }
    match address.octets() {
        [10, ..] | [127, ..] | [192, 168, ..] => Reach::Private,
        [172, b, ..] if b & 0xf0 == 16 => Reach::Private,
        // Addresses that a provider shares among customers.
        [100, b, ..] if b & 0xc0 == 64 => Reach::Private,
        [0, ..] | [169, 254, ..] => Reach::Never,
        [192, 0, 0 | 2, _] | [192, 88, 99, _] => Reach::Never,
        [198, 18 | 19, ..] | [198, 51, 100, _] | [203, 0, 113, _] => Reach::Never,
        // Multicast, reserved and broadcast.
        [224..=255, ..] => Reach::Never,
        _ => Reach::Public,
    }
}

fn reach_v6(address: Ipv6Addr) -> Reach {
    if METADATA_V6.contains(&address) {
        return Reach::Never;
    }
    let [a, b, c, d, e, f, g, h] = address.segments();
    let v4 = |high: u16, low: u16| {
        let [p, q] = high.to_be_bytes();
        let [r, s] = low.to_be_bytes();
        reach_v4(Ipv4Addr::new(p, q, r, s))
    };
    match (a, b) {
        (0, 0) if address == Ipv6Addr::LOCALHOST => Reach::Private,
        // IPv4 in the clothes of IPv6: mapped, compatible, translated.
        (0, 0) if [c, d, e] == [0, 0, 0] && (f == 0xffff || f == 0) => v4(g, h),
        (0, 0) if [c, d] == [0, 0] && e == 0xffff && f == 0 => v4(g, h),
        (0x64, 0xff9b) if [c, d, e, f] == [0, 0, 0, 0] => v4(g, h),
        (0x2002, high) => v4(high, c),
        (0xfc00..=0xfdff, _) => Reach::Private,
        // Tunnels and tests; documentation.
        (0x2001, 0..=0x1ff | 0xdb8) | (0x3fff, 0..=0xfff) => Reach::Never,
        (0x2000..=0x3fff, _) => Reach::Public,
        _ => Reach::Never,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(addresses: &[&str], reach: Reach) {
        for address in addresses {
            assert_eq!(super::reach(address.parse().unwrap()), reach, "{address}");
        }
    }

    #[test]
    fn public_addresses_are_public() {
        all(
            &[
                "1.1.1.1",
                "8.8.8.8",
                "9.255.255.255",
                "11.0.0.0",
                "100.63.255.255",
                "100.128.0.0",
                "126.255.255.255",
                "128.0.0.0",
                "169.253.0.1",
                "169.255.0.1",
                "172.15.255.255",
                "172.32.0.0",
                "192.0.1.1",
                "192.167.0.1",
                "192.169.0.1",
                "198.17.0.1",
                "198.20.0.1",
                "223.255.255.255",
                "2606:4700::1111",
                "2a00::1",
                "2001:200::1",
                "::ffff:8.8.8.8",
                "64:ff9b::808:808",
                "2002:808:808::1",
            ],
            Reach::Public,
        );
    }

    #[test]
    fn private_addresses_are_private_in_every_dress() {
        all(
            &[
                "10.0.0.0",
                "10.255.255.255",
                "127.0.0.1",
                "127.255.255.255",
                "172.16.0.0",
                "172.31.255.255",
                "192.168.0.0",
                "192.168.255.255",
                "100.64.0.0",
                "100.127.255.255",
                "::1",
                "fc00::",
                "fdff:ffff::1",
                "::ffff:127.0.0.1",
                "::ffff:10.0.0.1",
                "::ffff:0:127.0.0.1",
                "::127.0.0.1",
                "64:ff9b::7f00:1",
                "2002:7f00:1::",
                "2002:a00:1::1",
            ],
            Reach::Private,
        );
    }

    #[test]
    fn some_addresses_are_never_reached() {
        all(
            &[
                "0.0.0.0",
                "0.1.2.3",
                "169.254.169.254",
                "169.254.0.0",
                "192.0.0.192",
                "192.0.2.1",
                "198.18.0.1",
                "198.19.255.255",
                "198.51.100.1",
                "203.0.113.1",
                "192.88.99.1",
                "224.0.0.1",
                "239.255.255.250",
                "240.0.0.1",
                "255.255.255.255",
                "168.63.129.16",
                "100.100.100.200",
                "::",
                "fe80::1",
                "fec0::1",
                "ff02::1",
                "fd00:ec2::254",
                "fd20:ce::254",
                "::ffff:169.254.169.254",
                "64:ff9b::a9fe:a9fe",
                "64:ff9b:1::1",
                "2002:a9fe:a9fe::",
                "2001::1",
                "2001:db8::1",
                "3fff::1",
                "100::1",
                "4000::1",
                "5f00::1",
                "::ffff:0.0.0.0",
            ],
            Reach::Never,
        );
    }
}
