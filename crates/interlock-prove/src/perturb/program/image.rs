//! A program file as the kernel and the loader see it: whether something can be loaded in front of its C library.

use std::{fs::File, path::Path};

use object::{
    Endianness, ReadCache, ReadRef,
    elf::{FileHeader32, FileHeader64, PT_NOTE},
    read::elf::{FileHeader, ProgramHeader},
};

/// What kind of program a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Image {
    /// It finds its C library, glibc, when it starts.
    Dynamic,
    /// The same, with musl: what was built for glibc does not fit in there.
    Musl,
    /// It brings its C library along.
    Static,
    /// Go, which asks the kernel itself, with or without a C library.
    Go,
    /// No program of this system, or none that can be read.
    Other,
}

impl Image {
    /// Reads the headers of a file; nothing else of it is read.
    pub(super) fn of(file: &Path) -> Self {
        let Ok(file) = File::open(file) else { return Self::Other };
        let data = ReadCache::new(file);
        told::<FileHeader64<Endianness>, _>(&data)
            .or_else(|_| told::<FileHeader32<Endianness>, _>(&data))
            .unwrap_or(Self::Other)
    }
}

fn told<'data, Header, Data>(data: Data) -> object::read::Result<Image>
where
    Header: FileHeader<Endian = Endianness>,
    Data: ReadRef<'data>,
{
    let header = Header::parse(data)?;
    let endian = header.endian()?;
    let mut image = Image::Static;
    for segment in header.program_headers(endian, data)? {
        if let Some(loader) = segment.interpreter(endian, data)? {
            let is_musl = loader.windows(b"ld-musl".len()).any(|part| part == b"ld-musl");
            image = if is_musl { Image::Musl } else { Image::Dynamic };
        }
        if segment.p_type(endian) != PT_NOTE {
            continue;
        }
        // The linker of Go leaves a note with its name in every program, also in a stripped one.
        let Ok(Some(mut notes)) = segment.notes(endian, data) else { continue };
        while let Ok(Some(note)) = notes.next() {
            if note.name() == b"Go" {
                return Ok(Image::Go);
            }
        }
    }
    Ok(image)
}

#[cfg(test)]
mod tests {
    use std::{fs, process::Command};

    use super::*;

    const EMPTY: &str = "int main(void) { return 0; }\n";

    /// As the linker of Go writes it: the length of the name, that of the content, a type, the name, the content.
    const NOTE: &str = "__attribute__((section(\".note.go.buildid\"), aligned(4), used)) static const struct {\n\
        unsigned name, content, type; char go[4], id[4];\n} note = {4, 4, 4, \"Go\", \"abc\"};\n";

    fn compiled(source: &str, flags: &[&str]) -> Image {
        let folder = tempfile::tempdir().unwrap();
        let (source_file, program) = (folder.path().join("x.c"), folder.path().join("x"));
        fs::write(&source_file, source).unwrap();
        let done = Command::new("cc").args(flags).arg("-o").arg(&program).arg(&source_file).status().unwrap();
        assert!(done.success());
        Image::of(&program)
    }

    #[test]
    fn programs_are_told_apart_by_their_headers() {
        assert_eq!(compiled(EMPTY, &[]), Image::Dynamic);
        assert_eq!(compiled(EMPTY, &["-static"]), Image::Static);
        assert_eq!(compiled(EMPTY, &["-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1"]), Image::Musl);
        assert_eq!(compiled(&format!("{NOTE}{EMPTY}"), &[]), Image::Go);
        assert_eq!(compiled(&format!("{NOTE}{EMPTY}"), &["-static", "-s"]), Image::Go);
    }

    #[test]
    fn a_damaged_file_is_no_program_and_does_no_harm() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x");
        let whole = fs::read("/bin/sh").unwrap();
        fs::write(&file, &whole[..whole.len().min(4096)]).unwrap();
        let head = fs::read(&file).unwrap();
        for at in 0..head.len().min(512) {
            let mut damaged = head.clone();
            damaged[at] ^= 0xff;
            fs::write(&file, &damaged).unwrap();
            // Whatever it is taken for, the reader comes back.
            Image::of(&file);
        }
        fs::write(&file, b"\x7fELF").unwrap();
        assert_eq!(Image::of(&file), Image::Other);
        assert_eq!(Image::of(&folder.path().join("none")), Image::Other);
    }
}
