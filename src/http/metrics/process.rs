//! What the system knows of this process, where it tells.

/// What it has used.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Used {
    /// Memory that it holds.
    pub(super) resident_bytes: Option<u64>,
    /// Time on a processor, in seconds.
    pub(super) cpu_seconds: Option<f64>,
}

/// What this process has used until now.
#[cfg(target_os = "linux")]
pub(super) fn used() -> Used {
    let read = |file| std::fs::read_to_string(file).unwrap_or_default();
    Used {
        resident_bytes: resident_bytes(&read("/proc/self/status")),
        cpu_seconds: cpu_seconds(&read("/proc/self/stat")),
    }
}

/// What this process has used until now: unknown here.
#[cfg(not(target_os = "linux"))]
pub(super) fn used() -> Used {
    Used::default()
}

#[cfg(target_os = "linux")]
fn resident_bytes(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()? * 1024)
}

#[cfg(target_os = "linux")]
fn cpu_seconds(stat: &str) -> Option<f64> {
    /// Linux counts in these towards programs, whatever it counts in itself.
    const TICKS_A_SECOND: f64 = 100.0;
    /// What stands between the name and the time as a user.
    const FIELDS_BEFORE: usize = 11;
    // The name of the program stands in parentheses and may hold anything.
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut fields = fields.split(' ').skip(FIELDS_BEFORE);
    let (user, system) = (fields.next()?.parse::<u32>().ok()?, fields.next()?.parse::<u32>().ok()?);
    Some((f64::from(user) + f64::from(system)) / TICKS_A_SECOND)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_says_is_read() {
        assert_eq!(resident_bytes("Name:\tx\nVmRSS:\t    1234 kB\nVmData:\t1 kB\n"), Some(1234 * 1024));
        let stat = "7 (a) b) S 1 7 7 0 -1 4194560 2231 0 0 0 250 17 3 4 20 0 1 0 9 8 7\n";
        assert_eq!(cpu_seconds(stat), Some(2.67));
        assert_eq!((resident_bytes(""), cpu_seconds("")), (None, None));
    }

    #[test]
    fn this_process_has_used_something() {
        let used = used();
        assert!(used.resident_bytes.is_some_and(|bytes| bytes > 100_000), "{used:?}");
        assert!(used.cpu_seconds.is_some(), "{used:?}");
    }
}
