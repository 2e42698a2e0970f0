//! Input documents: regular files of a bounded size, so that no pipe, device or huge file stops the program.

use std::fs;
use std::io::{Error, Read as _, Result};
use std::path::Path;

use serde::de::DeserializeOwned;

/// Most bytes of a JSON document that this program writes and reads again.
pub const DOCUMENT: u64 = 64 << 20;

/// The bytes of a regular file of at most `most` bytes.
pub fn bytes(path: &Path, most: u64) -> Result<Vec<u8>> {
    // Looked at before it is opened: opening a pipe waits for its other end.
    let data = fs::metadata(path)?;
    if !data.is_file() {
        return Err(Error::other("it is not a regular file"));
    }
    if data.len() > most {
        return Err(Error::other(format!("it has {} bytes, and at most {most} are read", data.len())));
    }
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(Error::other(format!("it has grown, and at most {most} bytes are read")));
    }
    Ok(bytes)
}

/// The text of such a file.
pub fn text(path: &Path, most: u64) -> Result<String> {
    String::from_utf8(bytes(path, most)?).map_err(|_| Error::other("it is not text"))
}

/// A document of JSON. What the parser says may quote the document, and is shortened.
pub fn parse<T: DeserializeOwned>(text: &str) -> anyhow::Result<T> {
    serde_json::from_str(text).map_err(|error| anyhow::anyhow!(messages::shortened(&error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_of_acceptable_size() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("a");
        fs::write(&file, "four")?;
        assert_eq!(text(&file, 4)?, "four");
        assert!(text(&file, 3).is_err_and(|error| error.to_string().contains("at most 3")));
        fs::write(&file, [0xff])?;
        assert!(text(&file, 4).is_err_and(|error| error.to_string().contains("not text")));
        fs::File::create(&file)?.set_len(1 << 40)?;
        assert!(bytes(&file, DOCUMENT).is_err_and(|error| error.to_string().contains("at most")));
        for other in [folder.path(), Path::new("/dev/zero")] {
            assert!(bytes(other, DOCUMENT).is_err_and(|error| error.to_string().contains("regular")));
        }
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status()?.success());
        assert!(bytes(&pipe, DOCUMENT).is_err_and(|error| error.to_string().contains("regular")));
        Ok(())
    }
}
