//! Archives that try to get out, to be too much, or are not what they seem.

use std::{
    io::Write,
    path::Path,
    time::{Duration, Instant},
};

use flate2::{Compression, write::GzEncoder};

use super::*;
use crate::run::{Environment, Limits, Watcher};

struct Patient;

impl Watcher for Patient {
    fn doing(&self, _: &str) {}
    fn enough(&self) -> bool {
        false
    }
}

/// One entry of a tar archive: its kind, its name, what it links to, and its content.
fn tar(entries: &[(u8, &str, &str, &[u8])]) -> Vec<u8> {
    let mut out = Vec::new();
    for (kind, name, link, content) in entries {
        let mut header = [0_u8; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[100..108].copy_from_slice(b"0000777\0");
        header[124..136].copy_from_slice(format!("{:011o}\0", content.len()).as_bytes());
        header[156] = *kind;
        header[157..157 + link.len()].copy_from_slice(link.as_bytes());
        header[257..263].copy_from_slice(b"ustar\0");
        header[148..156].copy_from_slice(b"        ");
        let sum: u64 = header.iter().map(|byte| u64::from(*byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        out.extend(header);
        out.extend(*content);
        out.resize(out.len().next_multiple_of(512), 0);
    }
    out.extend([0; 1024]);
    out
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::best());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

/// A zip archive of stored entries: a name, the mode that Unix would give it, and its content.
fn zip(entries: &[(&str, u32, &[u8])]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, mode, content) in entries {
        let mut crc = flate2::Crc::new();
        crc.update(content);
        let offset = u32::try_from(out.len()).unwrap();
        let size = u32::try_from(content.len()).unwrap().to_le_bytes();
        let long = u16::try_from(name.len()).unwrap().to_le_bytes();
        let about = [&[0; 8], &crc.sum().to_le_bytes()[..], &size, &size, &long, &[0, 0]].concat();
        out.extend([b"PK\x03\x04\x14\0", &about[..], name.as_bytes(), content].concat());
        directory.extend([b"PK\x01\x02\x14\x03\x14\0", &about[..], &[0; 6]].concat());
        directory.extend((mode << 16).to_le_bytes());
        directory.extend(offset.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let (begin, long) = (out.len() as u32, directory.len() as u32);
    let count = (entries.len() as u16).to_le_bytes();
    out.extend(directory);
    out.extend(
        [b"PK\x05\x06\0\0\0\0", &count[..], &count, &long.to_le_bytes(), &begin.to_le_bytes(), &[0, 0]]
            .concat(),
    );
    out
}

/// Unpacks within small limits; what is there afterwards, by name.
fn check(archive: &[u8]) -> Result<Vec<String>, String> {
    let folder = tempfile::tempdir().unwrap();
    let (file, into) = (folder.path().join("a"), folder.path().join("into"));
    fs::write(&file, archive).unwrap();
    fs::create_dir(&into).unwrap();
    let limits = Limits { time: Duration::from_secs(60), size: 1 << 20, files: 50, depth: 8 };
    let environment = Environment::new();
    let run = Run { limits, begin: Instant::now(), environment: &environment, watcher: &Patient };
    unpack(&run, &file, &into).map_err(|error| error.to_string())?;
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is beside it");
    let mut names = Vec::new();
    list(&into, &into, &mut names);
    names.sort();
    Ok(names)
}

fn list(root: &Path, folder: &Path, names: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let kind = entry.file_type().unwrap();
        assert!(!kind.is_symlink());
        if kind.is_dir() {
            list(root, &entry.path(), names);
        } else {
            names.push(entry.path().strip_prefix(root).unwrap().display().to_string());
        }
    }
}

#[test]
fn what_is_in_an_archive_of_each_kind_is_unpacked() {
    let plain =
        tar(&[(b'5', "package/", "", b""), (b'0', "package/a.ts", "", b"a"), (b'0', "./b/c.ts", "", b"c")]);
    let expected = Ok(vec!["b/c.ts".to_owned(), "package/a.ts".to_owned()]);
    assert_eq!(check(&plain), expected);
    assert_eq!(check(&gzip(&plain)), expected);
    assert_eq!(
        check(&zip(&[("package/", 0o040_755, b""), ("package/a.ts", 0, b"a"), ("b/c.ts", 0o100_644, b"c")])),
        expected
    );
}

#[test]
fn long_names_of_posix_and_gnu_are_read() {
    let long = format!("{}/x.ts", "d".repeat(120));
    let record = |length: usize| format!("{length} path={long}\n");
    let posix = record(record(record(0).len()).len());
    for (kind, text) in [(b'L', format!("{long}\0")), (b'x', posix)] {
        let archive =
            tar(&[(kind, "long", "", text.as_bytes()), (b'0', "short", "", b"x"), (b'0', "next", "", b"")]);
        assert_eq!(check(&archive), Ok(vec![long.clone(), "next".to_owned()]));
    }
}

#[test]
fn a_name_that_leads_out_ends_it() {
    for name in ["../x", "a/../../x", "/etc/x", "a\\..\\..\\x", "a/.."] {
        for archive in [tar(&[(b'0', name, "", b"x")]), zip(&[(name, 0, b"x")])] {
            assert!(check(&archive).unwrap_err().contains("leads out"), "{name}");
        }
    }
}

#[test]
fn links_and_devices_are_left_out_and_nothing_is_written_through_them() {
    let linked = tar(&[
        (b'2', "out", "/tmp", b""),
        (b'0', "out/x", "", b"x"),
        (b'1', "hard", "/etc/passwd", b""),
        (b'3', "dev", "", b""),
    ]);
    assert_eq!(check(&linked), Ok(vec!["out/x".to_owned()]));
    assert_eq!(check(&zip(&[("out", 0o120_777, b"/tmp"), ("out/x", 0, b"x")])), Ok(vec!["out/x".to_owned()]));
}

#[test]
fn a_bomb_is_cut_off_by_what_comes_out_of_it() {
    let zeros = vec![0; 64 << 20];
    let small = gzip(&tar(&[(b'0', "zeros", "", &zeros)]));
    assert!(small.len() < 1 << 20);
    assert!(check(&small).unwrap_err().contains("larger than 1 MiB"));
    let hidden = gzip(&tar(&[(b'2', "zeros", "", &zeros)]));
    assert!(check(&hidden).unwrap_err().contains("larger than 1 MiB"));
    let names: Vec<String> = (0..60).map(|number| format!("f{number}")).collect();
    let many: Vec<(u8, &str, &str, &[u8])> =
        names.iter().map(|name| (b'0', name.as_str(), "", &[][..])).collect();
    assert!(check(&tar(&many)).unwrap_err().contains("more than 50 files"));
    let deep = "d/".repeat(9);
    assert!(check(&tar(&[(b'5', &deep, "", b"")])).unwrap_err().contains("deeper"));
}

#[test]
fn what_is_damaged_or_no_archive_is_said_to_be() {
    let whole = zip(&[("a", 0, b"text")]);
    let mut wrong = whole.clone();
    *wrong.get_mut(34).unwrap() ^= 1;
    let cut = |bytes: &[u8], at: usize| bytes[..at].to_vec();
    for bytes in [
        Vec::new(),
        b"hello".to_vec(),
        vec![0; 4096],
        wrong,
        cut(&whole, whole.len() - 10),
        cut(&gzip(&tar(&[(b'0', "a", "", b"x")])), 30),
        cut(&tar(&[(b'0', "a", "", &[7; 2000])]), 900),
        tar(&[(b'0', "a", "", b""), (b'0', "a/b", "", b"")]),
    ] {
        assert!(check(&bytes).is_err(), "{} bytes", bytes.len());
    }
}
