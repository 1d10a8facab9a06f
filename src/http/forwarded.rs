//! For whom a proxy says that it asks: `X-Forwarded-For`, and `Forwarded` of RFC 7239. Both are read from the end, where
//! the last proxy has written.

use std::net::{IpAddr, SocketAddr};

use axum::http::header::{FORWARDED, HeaderMap, HeaderName, HeaderValue};

/// The header that most proxies write.
const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Whether a request says that it has been forwarded.
pub(super) fn is_forwarded(headers: &HeaderMap) -> bool {
    headers.contains_key(X_FORWARDED_FOR) || headers.contains_key(FORWARDED)
}

/// Those for whom it was forwarded as `X-Forwarded-For` has it, the last one first. `None` stands for what is no address.
pub(super) fn by_list(headers: &HeaderMap) -> Option<impl Iterator<Item = Option<IpAddr>>> {
    let lines = headers.get_all(X_FORWARDED_FOR);
    let hops = lines.iter().rev().flat_map(|line| line.as_bytes().rsplit(|byte| *byte == b','));
    let hops = hops.map(<[u8]>::trim_ascii).filter(|hop| !hop.is_empty());
    headers.contains_key(X_FORWARDED_FOR).then(|| hops.map(|hop| address(std::str::from_utf8(hop).ok()?)))
}

/// Those for whom it was forwarded as `Forwarded` has it, the last one first. `None` stands for what is no address, which
/// includes names that a proxy has made up, and for a line with a fault.
pub(super) fn by_elements(headers: &HeaderMap) -> Option<impl Iterator<Item = Option<IpAddr>>> {
    let lines = headers.get_all(FORWARDED);
    let hops =
        lines.iter().rev().flat_map(|line| elements(line).unwrap_or_else(|| vec![None]).into_iter().rev());
    headers.contains_key(FORWARDED).then_some(hops)
}

/// The address in `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1`, `[2001:db8::1]` or `[2001:db8::1]:4711`.
fn address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let address = match bare {
        Some(bare) => IpAddr::V6(bare.parse().ok()?),
        None => text.parse().or_else(|_| text.parse::<SocketAddr>().map(|address| address.ip())).ok()?,
    };
    Some(address.to_canonical())
}

/// What `for` says in each element of a line. A line with a fault has none: what stands behind the fault may be inside a
/// text that somebody else has begun.
fn elements(line: &HeaderValue) -> Option<Vec<Option<IpAddr>>> {
    let mut rest = line.to_str().ok()?;
    let (mut elements, mut hop, mut is_empty) = (Vec::new(), None, true);
    loop {
        rest = rest.trim_ascii_start();
        let (name, after) = token(rest);
        if !name.is_empty() {
            let (value, after) = value(after.strip_prefix('=')?)?;
            if name.eq_ignore_ascii_case("for") {
                // Said twice, it says nothing.
                if hop.is_some() {
                    return None;
                }
                hop = Some(address(&value));
            }
            is_empty = false;
            rest = after.trim_ascii_start();
        }
        match rest.as_bytes().first() {
            Some(b';') => {}
            end @ (Some(b',') | None) => {
                if !is_empty {
                    elements.push(hop.take().flatten());
                }
                is_empty = true;
                if end.is_none() {
                    return Some(elements);
                }
            }
            Some(_) => return None,
        }
        rest = rest.get(1..)?;
    }
}

/// The value that `text` begins with, in quotes or not, and what follows it.
fn value(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let (value, rest) = token(text);
        return (!value.is_empty()).then(|| (value.to_owned(), rest));
    };
    let mut value = String::new();
    let mut chars = quoted.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((value, quoted.get(at + 1..)?)),
            '\\' => value.push(chars.next()?.1),
            c => value.push(c),
        }
    }
    None
}

/// The name or the value without quotes that `text` begins with, and what follows it. Some proxies write a colon there,
/// though that of a port and of IPv6 asks for quotes.
fn token(text: &str) -> (&str, &str) {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~:[]".contains(c);
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn headers(name: HeaderName, lines: &[&str]) -> HeaderMap {
        lines.iter().map(|line| (name.clone(), HeaderValue::from_str(line).unwrap())).collect()
    }

    fn told(hops: Option<impl Iterator<Item = Option<IpAddr>>>) -> Vec<String> {
        let hops = hops.into_iter().flatten();
        hops.map(|hop| hop.map_or("?".to_owned(), |address| address.to_string())).collect()
    }

    #[track_caller]
    fn check_list(lines: &[&str], expected: &[&str]) {
        assert_eq!(told(by_list(&headers(X_FORWARDED_FOR, lines))), expected, "{lines:?}");
    }

    #[track_caller]
    fn check_elements(lines: &[&str], expected: &[&str]) {
        assert_eq!(told(by_elements(&headers(FORWARDED, lines))), expected, "{lines:?}");
    }

    #[test]
    fn a_list_is_read_from_its_end() {
        check_list(&[], &[]);
        check_list(&["192.0.2.1"], &["192.0.2.1"]);
        check_list(&["192.0.2.1, 198.51.100.2,203.0.113.3"], &["203.0.113.3", "198.51.100.2", "192.0.2.1"]);
        check_list(
            &["192.0.2.1", "198.51.100.2, 203.0.113.3"],
            &["203.0.113.3", "198.51.100.2", "192.0.2.1"],
        );
        check_list(
            &["192.0.2.1:80, [2001:db8::1]:80,[2001:DB8::2],2001:db8::3"],
            &["2001:db8::3", "2001:db8::2", "2001:db8::1", "192.0.2.1"],
        );
        check_list(&["::ffff:192.0.2.1"], &["192.0.2.1"]);
        check_list(&["", "192.0.2.1,, ,"], &["192.0.2.1"]);
        for text in [
            "x",
            "unknown",
            "192.0.2",
            "192.0.2.1:",
            "192.0.2.1:x",
            "[192.0.2.1]",
            "fe80::1%eth0",
            "192.0.2.1 x",
        ] {
            check_list(&[text], &["?"]);
        }
    }

    #[test]
    fn elements_are_read_from_their_end() {
        check_elements(&[], &[]);
        check_elements(&["for=192.0.2.1"], &["192.0.2.1"]);
        check_elements(&["For=\"[2001:db8:cafe::17]:4711\""], &["2001:db8:cafe::17"]);
        check_elements(&["for=192.0.2.60;proto=http;by=203.0.113.43"], &["192.0.2.60"]);
        check_elements(
            &["for=192.0.2.43, for=198.51.100.17 ; proto=\"a,b;\\\"c\""],
            &["198.51.100.17", "192.0.2.43"],
        );
        check_elements(
            &["for=192.0.2.43", "proto=http;FOR=\"198.51.100.17\""],
            &["198.51.100.17", "192.0.2.43"],
        );
        check_elements(&["for=192.0.2.1:80"], &["192.0.2.1"]);
        check_elements(&["for=unknown, for=_hidden,proto=http"], &["?", "?", "?"]);
        check_elements(&["", ",for=192.0.2.1,;,"], &["192.0.2.1"]);
        for text in [
            "for",
            "for=",
            "for=\"192.0.2.1",
            "for=192.0.2.1 x",
            "for=1;for=192.0.2.1",
            "for = 192.0.2.1",
            "f r=1",
        ] {
            check_elements(&[text], &["?"]);
        }
        // What a client has begun cannot hide what the proxy adds in a line of its own.
        check_elements(&["for=\"192.0.2.1", "for=198.51.100.2"], &["198.51.100.2", "?"]);
        check_elements(&["for=\"192.0.2.1, for=198.51.100.2"], &["?"]);
    }

    proptest! {
        #[test]
        fn any_lines_are_read(lines in prop::collection::vec("[ -~\u{80}-\u{ff}]{0,80}|(for=[0-9.:\\[\\]\"\\\\;, ]{0,20}){1,5}", 0..4)) {
            let values = || lines.iter().filter_map(|line| HeaderValue::from_bytes(line.as_bytes()).ok());
            let headers = |name: HeaderName| values().map(|value| (name.clone(), value)).collect::<HeaderMap>();
            let length: usize = lines.iter().map(String::len).sum();
            prop_assert!(by_list(&headers(X_FORWARDED_FOR)).into_iter().flatten().count() <= length);
            prop_assert!(by_elements(&headers(FORWARDED)).into_iter().flatten().count() <= length + lines.len());
        }

        #[test]
        fn what_is_written_is_read(addresses in prop::collection::vec(any::<std::net::IpAddr>(), 1..6)) {
            let list = addresses.iter().map(IpAddr::to_string).collect::<Vec<_>>().join(", ");
            let element = |address: &IpAddr| match address {
                IpAddr::V4(address) => format!("for={address};proto=https"),
                IpAddr::V6(address) => format!("proto=https;for=\"[{address}]:1\""),
            };
            let elements = addresses.iter().map(element).collect::<Vec<_>>().join(",");
            let expected: Vec<_> = addresses.iter().rev().map(|address| address.to_canonical().to_string()).collect();
            prop_assert_eq!(told(by_list(&headers(X_FORWARDED_FOR, &[&list]))), expected.clone());
            prop_assert_eq!(told(by_elements(&headers(FORWARDED, &[&elements]))), expected);
        }
    }
}
