//! Entries that are whole, damaged, made up, too many.

use std::{fs, path::Path};

use super::{
    Cache,
    store::{read, sweep, write},
};

fn cache(folder: &Path) -> Cache {
    Cache { folder: folder.join("cache"), version: "1".to_owned() }
}

#[test]
fn what_was_kept_comes_back_for_the_same_key_only() {
    let folder = tempfile::tempdir().unwrap();
    let cache = cache(folder.path());
    let mut key = cache.key();
    key.add("a");
    assert_eq!(cache.get::<Vec<String>>(&key), None);
    let content = vec!["x".to_owned(), "y".to_owned()];
    cache.put(&key, &content);
    assert_eq!(cache.get::<Vec<String>>(&key), Some(content));
    let mut longer = key.clone();
    longer.add("");
    assert_eq!(cache.get::<Vec<String>>(&longer), None, "where one thing ends counts");
    let other = Cache { version: "2".to_owned(), ..cache.clone() };
    let mut key = other.key();
    key.add("a");
    assert_eq!(other.get::<Vec<String>>(&key), None, "another version keeps its own");
}

#[test]
fn whatever_is_damaged_or_made_up_counts_as_nothing() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "entry", &vec!["x".repeat(100); 10]);
    let path = folder.path().join("entry");
    let whole = fs::read(&path).unwrap();
    for damage in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[damage] ^= 1;
        fs::write(&path, &bytes).unwrap();
        assert_eq!(read::<Vec<String>>(folder.path(), "entry"), None, "byte {damage}");
        fs::write(&path, &whole[..damage]).unwrap();
        assert_eq!(read::<Vec<String>>(folder.path(), "entry"), None, "cut at {damage}");
    }
    // Whole by its checksum, but of another shape: lengths that promise more than there is.
    write(folder.path(), "entry", &(u64::MAX, u64::MAX, 7_u8));
    assert_eq!(read::<Vec<String>>(folder.path(), "entry"), None);
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert_eq!(read::<Vec<String>>(folder.path(), "entry"), None);
}

#[test]
fn the_oldest_entries_go_when_there_are_too_many() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a", "b", "c"] {
        write(folder.path(), name, &"x".repeat(1_000));
        let time =
            std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(u64::from(name.as_bytes()[0]));
        fs::File::options().write(true).open(folder.path().join(name)).unwrap().set_modified(time).unwrap();
    }
    sweep(folder.path(), 2_500);
    let there = |name: &str| folder.path().join(name).exists();
    assert_eq!([there("a"), there("b"), there("c")], [false, true, true]);
}

#[test]
fn a_cache_in_the_scanned_tree_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let cache = cache(folder.path());
    assert!(cache.outside(folder.path()).is_none());
    assert!(cache.outside(&folder.path().join("tree")).is_some());
}
