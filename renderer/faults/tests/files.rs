//! File operations under a plan; one test, since a process has one plan.

use faults::{files, set, struck, summary};
use std::fs;
use std::io::ErrorKind;

#[test]
fn what_fails_leaves_the_old_file_and_nothing_beside_it() {
    set("create:2,write:2,rename:2,write:5+").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings");
    let alone = || fs::read_dir(folder.path()).unwrap().count() == 1;
    files::write_whole(&path, b"old").unwrap();
    for kind in [ErrorKind::PermissionDenied, ErrorKind::StorageFull, ErrorKind::PermissionDenied] {
        assert_eq!(files::write_whole(&path, b"new").unwrap_err().kind(), kind);
        assert!(alone() && fs::read(&path).unwrap() == b"old");
    }
    files::write_whole(&path, b"new").unwrap();
    assert!(alone() && fs::read(&path).unwrap() == b"new");
    for _ in 0..2 {
        assert_eq!(files::write_whole(&path, b"newer").unwrap_err().kind(), ErrorKind::StorageFull);
        assert!(alone() && fs::read(&path).unwrap() == b"new");
    }
    assert_eq!(struck(), 5);
    let summary = summary().unwrap();
    assert!(summary.contains("struck=5") && summary.contains("create=7 write=6 rename=3"), "{summary}");
}
