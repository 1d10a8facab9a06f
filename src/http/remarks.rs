//! What whoever starts a server should know of how it can be reached.

use std::path::Path;

use super::Options;
use super::auth::is_open_to_all;
use super::guard::LOOPBACK;
use super::listen::Place;

/// Something to be told.
#[derive(Debug)]
pub enum Remark {
    /// It may be as it is meant.
    Fact(String),
    /// It is hardly meant.
    Risk(String),
}

/// What is to be told once, for a server that listens at `places` with the private key in the file `key`.
pub fn remarks(places: &[&Place], options: &Options, key: Option<&Path>) -> Vec<Remark> {
    let is_any = |is_so: fn(&Place) -> bool| places.iter().any(|place| is_so(place));
    let mut remarks = Vec::new();
    if options.allow_hosts.is_empty() && is_any(Place::is_everywhere) {
        let [v4, name, v6] = LOOPBACK;
        remarks.push(Remark::Fact(format!(
            "requests that name this server otherwise than {name}, {v4} or {v6} are refused: allow its name with --allow-host NAME"
        )));
    }
    // A proxy that is trusted is one that encrypts, as far as anybody can know here.
    let is_bare = is_any(|place| !place.is_secure && !place.is_local());
    if options.token_file.is_some() && options.trusted_proxies.is_empty() && is_bare {
        remarks.push(Remark::Risk(
            "tokens cross the network unencrypted: speak TLS with --tls-cert and --tls-key, or let a proxy do so and name it with --trusted-proxy"
                .to_owned(),
        ));
    }
    if let Some(key) = key.filter(|key| is_open_to_all(key)) {
        let key = key.display();
        let remark = format!("everybody on this machine can read the private key {key}: `chmod o-r` it");
        remarks.push(Remark::Risk(remark));
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(places: &[(&str, bool)], options: &Options, expected: &[&str]) {
        let places: Vec<_> = places
            .iter()
            .map(|(address, is_secure)| Place::network(address.parse().unwrap(), *is_secure))
            .collect();
        let remarks = remarks(&places.iter().collect::<Vec<_>>(), options, None);
        let is_all = remarks.len() == expected.len()
            && remarks
                .iter()
                .zip(expected)
                .all(|(Remark::Fact(told) | Remark::Risk(told), words)| told.contains(words));
        assert!(is_all, "{places:?}: {remarks:?}");
    }

    #[test]
    fn it_is_told_how_a_server_beyond_loopback_can_be_reached() {
        const NAME: &str =
            "otherwise than localhost, 127.0.0.1 or [::1] are refused: allow its name with --allow-host NAME";
        const BARE: &str = "unencrypted";
        let anonymous = Options { anonymous: true, ..Options::default() };
        check(&[("127.0.0.1:80", false)], &anonymous, &[]);
        check(&[("192.0.2.1:80", false)], &anonymous, &[]);
        check(&[("0.0.0.0:80", false)], &anonymous, &[NAME]);
        check(&[("127.0.0.1:80", false), ("[::]:81", false)], &anonymous, &[NAME]);
        let tokens = Options { token_file: Some("tokens".into()), ..Options::default() };
        check(&[("127.0.0.1:80", false)], &tokens, &[]);
        check(&[("192.0.2.1:80", false)], &tokens, &[BARE]);
        check(&[("192.0.2.1:80", true)], &tokens, &[]);
        check(&[("0.0.0.0:80", false)], &tokens, &[NAME, BARE]);
        let allow_hosts = vec!["skills.example".parse().unwrap()];
        let named = Options { allow_hosts, ..tokens };
        check(&[("0.0.0.0:80", false)], &named, &[BARE]);
        let proxied = Options { trusted_proxies: vec!["10.0.0.0/8".parse().unwrap()], ..named };
        check(&[("0.0.0.0:80", false)], &proxied, &[]);
    }
}
