//! The least that Word, Excel and PowerPoint files consist of: a few parts in an archive that is not compressed.
//!
//! Each has what the libraries that servers are written with want to find: a sheet with a head and two rows, a document with two paragraphs, and a
//! presentation with a master, a layout and one slide.

/// What stands in front of every part.
const XML: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"#;
const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006";
const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006";
const MAIN: &str = "application/vnd.openxmlformats-officedocument";

/// A part of an archive: its path and what stands in it.
type Part = (String, String);

/// A workbook with one sheet.
pub(super) fn workbook() -> Vec<u8> {
    let sheets = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let text = |at: &str, text: &str| format!(r#"<c r="{at}" t="inlineStr"><is><t>{text}</t></is></c>"#);
    let row = |number: u32, name: &str| {
        format!(
            r#"<row r="{number}">{}<c r="B{number}"><v>{number}</v></c></row>"#,
            text(&format!("A{number}"), name)
        )
    };
    let head = format!(r#"<row r="1">{}{}</row>"#, text("A1", "name"), text("B1", "value"));
    let rows = [head, row(2, "alpha"), row(3, "beta")].concat();
    package(
        "xl/workbook.xml",
        &[
            (
                "xl/workbook.xml",
                "spreadsheetml.sheet.main",
                format!(
                    r#"<workbook xmlns="{sheets}" xmlns:r="{OFFICE}/relationships"><sheets><sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>"#
                ),
                &["worksheets/sheet1.xml"],
            ),
            (
                "xl/worksheets/sheet1.xml",
                "spreadsheetml.worksheet",
                format!(r#"<worksheet xmlns="{sheets}"><sheetData>{rows}</sheetData></worksheet>"#),
                &[],
            ),
        ],
    )
}

/// A document with a heading and a paragraph.
pub(super) fn document() -> Vec<u8> {
    let words = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
    let paragraph = |text: &str| format!("<w:p><w:r><w:t>{text}</w:t></w:r></w:p>");
    let body = [paragraph("alpha"), paragraph("alpha beta")].concat();
    // The styles that libraries ask for by name.
    let named = |(kind, name): &(&str, &str)| {
        let id = name.replace(' ', "");
        format!(r#"<w:style w:type="{kind}" w:styleId="{id}"><w:name w:val="{name}"/></w:style>"#)
    };
    let styles: String = STYLES.iter().map(named).collect();
    package(
        "word/document.xml",
        &[
            (
                "word/document.xml",
                "wordprocessingml.document.main",
                format!(r#"<w:document xmlns:w="{words}"><w:body>{body}<w:sectPr/></w:body></w:document>"#),
                &["styles.xml"],
            ),
            (
                "word/styles.xml",
                "wordprocessingml.styles",
                format!(r#"<w:styles xmlns:w="{words}">{styles}</w:styles>"#),
                &[],
            ),
        ],
    )
}

const STYLES: &[(&str, &str)] = &[
    ("paragraph", "Normal"),
    ("paragraph", "Title"),
    ("paragraph", "heading 1"),
    ("paragraph", "heading 2"),
    ("paragraph", "heading 3"),
    ("paragraph", "List Bullet"),
    ("paragraph", "List Number"),
    ("table", "Table Grid"),
];

/// A presentation with one slide.
pub(super) fn presentation() -> Vec<u8> {
    let names = format!(
        r#"xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="{OFFICE}/relationships" xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main""#
    );
    let shape = concat!(
        r#"<p:sp><p:nvSpPr><p:cNvPr id="2" name="Title 1"/><p:cNvSpPr/><p:nvPr><p:ph type="title"/></p:nvPr></p:nvSpPr><p:spPr/>"#,
        r#"<p:txBody><a:bodyPr/><a:p><a:r><a:t>alpha</a:t></a:r></a:p></p:txBody></p:sp>"#
    );
    let tree = |shapes: &str| {
        format!(
            r#"<p:cSld><p:spTree><p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>{shapes}</p:spTree></p:cSld>"#
        )
    };
    let colours = concat!(
        r#"bg1="lt1" tx1="dk1" bg2="lt2" tx2="dk2" accent1="accent1" accent2="accent2" accent3="accent3" "#,
        r#"accent4="accent4" accent5="accent5" accent6="accent6" hlink="hlink" folHlink="folHlink""#
    );
    package(
        "ppt/presentation.xml",
        &[
            (
                "ppt/presentation.xml",
                "presentationml.presentation.main",
                format!(
                    r#"<p:presentation {names}><p:sldMasterIdLst><p:sldMasterId id="2147483648" r:id="rId1"/></p:sldMasterIdLst><p:sldIdLst><p:sldId id="256" r:id="rId2"/></p:sldIdLst><p:sldSz cx="9144000" cy="6858000"/><p:notesSz cx="6858000" cy="9144000"/></p:presentation>"#
                ),
                &["slideMasters/slideMaster1.xml", "slides/slide1.xml"],
            ),
            (
                "ppt/slideMasters/slideMaster1.xml",
                "presentationml.slideMaster",
                format!(
                    r#"<p:sldMaster {names}>{}<p:clrMap {colours}/><p:sldLayoutIdLst><p:sldLayoutId id="2147483649" r:id="rId1"/></p:sldLayoutIdLst></p:sldMaster>"#,
                    tree(shape)
                ),
                &["../slideLayouts/slideLayout1.xml"],
            ),
            (
                "ppt/slideLayouts/slideLayout1.xml",
                "presentationml.slideLayout",
                format!(r#"<p:sldLayout {names} type="titleOnly">{}</p:sldLayout>"#, tree(shape)),
                &["../slideMasters/slideMaster1.xml"],
            ),
            (
                "ppt/slides/slide1.xml",
                "presentationml.slide",
                format!(r#"<p:sld {names}>{}</p:sld>"#, tree(shape)),
                &["../slideLayouts/slideLayout1.xml"],
            ),
        ],
    )
}

/// An archive of parts: each with its path, its type, what stands in it, and the parts that it refers to as `rId1`, `rId2`.
fn package(first: &str, parts: &[(&str, &str, String, &[&str])]) -> Vec<u8> {
    let mut all: Vec<Part> = Vec::new();
    let types: String = parts
        .iter()
        .map(|(path, kind, ..)| format!(r#"<Override PartName="/{path}" ContentType="{MAIN}.{kind}+xml"/>"#))
        .collect();
    let usual = concat!(
        r#"<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>"#,
        r#"<Default Extension="xml" ContentType="application/xml"/>"#
    );
    all.push((
        "[Content_Types].xml".into(),
        format!(r#"{XML}<Types xmlns="{PACKAGE}/content-types">{usual}{types}</Types>"#),
    ));
    all.push(("_rels/.rels".into(), relations(&[(first, "officeDocument")])));
    for (path, _, text, refers) in parts {
        all.push(((*path).to_owned(), format!("{XML}{text}")));
        if !refers.is_empty() {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            let refers: Vec<(&str, &str)> = refers.iter().map(|target| (*target, kind_of(target))).collect();
            all.push((format!("{folder}/_rels/{name}.rels"), relations(&refers)));
        }
    }
    archive(&all)
}

/// `slideMaster` for `slideMasters/slideMaster1.xml`.
fn kind_of(target: &str) -> &str {
    let name = target.rsplit('/').next().unwrap_or(target).trim_end_matches(".xml");
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit());
    if name == "sheet" { "worksheet" } else { name }
}

fn relations(of: &[(&str, &str)]) -> String {
    let one = |(number, (target, kind)): (usize, &(&str, &str))| {
        let number = number + 1;
        format!(r#"<Relationship Id="rId{number}" Type="{OFFICE}/relationships/{kind}" Target="{target}"/>"#)
    };
    let all: String = of.iter().enumerate().map(one).collect();
    format!(r#"{XML}<Relationships xmlns="{PACKAGE}/relationships">{all}</Relationships>"#)
}

/// A ZIP archive whose files are stored as they are, all of them written at the beginning of 1980.
fn archive(parts: &[Part]) -> Vec<u8> {
    const FIRST_DAY: u16 = 0x21;
    const VERSION: u16 = 20;
    let (mut files, mut list) = (Vec::new(), Vec::new());
    let mut count: u16 = 0;
    for (path, text) in parts {
        let at = four(files.len());
        let mut about = Vec::new();
        // Flags, method, time, day.
        for number in [VERSION, 0, 0, 0, FIRST_DAY] {
            about.extend(number.to_le_bytes());
        }
        about.extend(crc32(text.as_bytes()).to_le_bytes());
        about.extend(four(text.len()));
        about.extend(four(text.len()));
        about.extend(u16::try_from(path.len()).unwrap_or_default().to_le_bytes());
        // No extra fields.
        about.extend([0; 2]);
        files.extend(b"PK\x03\x04");
        files.extend(&about);
        files.extend(path.as_bytes());
        files.extend(text.as_bytes());
        list.extend(b"PK\x01\x02");
        list.extend(VERSION.to_le_bytes());
        list.extend(&about);
        // No comment, the first disk, no attributes.
        list.extend([0; 10]);
        list.extend(at);
        list.extend(path.as_bytes());
        count += 1;
    }
    let (at, length) = (four(files.len()), four(list.len()));
    files.extend(list);
    files.extend(b"PK\x05\x06\0\0\0\0");
    files.extend(count.to_le_bytes());
    files.extend(count.to_le_bytes());
    files.extend(length);
    files.extend(at);
    files.extend([0; 2]);
    files
}

fn four(number: usize) -> [u8; 4] {
    u32::try_from(number).unwrap_or_default().to_le_bytes()
}

/// The check sum of ZIP.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |sum: u32, _| if sum & 1 == 1 { (sum >> 1) ^ 0xEDB8_8320 } else { sum >> 1 };
    !bytes.iter().fold(u32::MAX, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_sum_is_that_of_zip() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert_eq!(crc32(b""), 0);
    }

    #[test]
    fn an_archive_is_whole_for_others_and_its_parts_are_well_formed() {
        let folder = tempfile::tempdir().unwrap();
        let check = "import sys, zipfile, xml.dom.minidom as xml\n\
                     for name in sys.argv[1:]:\n    archive = zipfile.ZipFile(name)\n    assert archive.testzip() is None\n    \
                     [xml.parseString(archive.read(part)) for part in archive.namelist()]\n    print(len(archive.namelist()))";
        let files = [("a.xlsx", workbook()), ("a.docx", document()), ("a.pptx", presentation())];
        let mut command = std::process::Command::new("python3");
        command.args(["-c", check]).current_dir(folder.path());
        for (name, bytes) in files {
            std::fs::write(folder.path().join(name), bytes).unwrap();
            command.arg(name);
        }
        let output = command.output().unwrap();
        let told = String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(told, "5 5 10", "{}", String::from_utf8_lossy(&output.stderr));
    }
}
