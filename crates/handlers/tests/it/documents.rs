//! PDF, DOCX and XLSX turned into text.

use std::fs;

use tempfile::TempDir;

use crate::office::{docx, xlsx};
use crate::pdf::{self, HELVETICA};
use crate::worker::{Answer, read};

pub fn read_bytes(name: &str, bytes: &[u8]) -> Answer {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join(name);
    fs::write(&path, bytes).unwrap();
    read(directory.path(), &path)
}

fn content(answer: &Answer) -> &str {
    answer.result()["content"].as_str().unwrap()
}

#[test]
fn a_pdf_is_read_whatever_its_name_is() {
    let bytes = pdf::simple(&["Hello from a document.", "Second line."]);
    for name in ["a.pdf", "a.txt", "a"] {
        let answer = read_bytes(name, &bytes);
        assert_eq!(content(&answer), "Hello from a document.\nSecond line.");
        assert_eq!(answer.result()["type"], "pdf");
        assert_eq!(answer.result()["pages"], 1);
    }
}

#[test]
fn words_and_lines_come_from_where_glyphs_stand() {
    let content_of = |text: &str| {
        let bytes = pdf::pages(HELVETICA, &[&format!("BT /F1 10 Tf 72 700 Td {text} ET")]).bytes();
        content(&read_bytes("a.pdf", &bytes)).to_owned()
    };
    assert_eq!(content_of("[(Kern) -20 (ed)] TJ"), "Kerned");
    assert_eq!(content_of("[(two) -400 (words)] TJ"), "two words");
    assert_eq!(content_of("(left) Tj 200 0 Td (right) Tj"), "left\tright");
    assert_eq!(content_of("(one) Tj 0 -12 Td (two) Tj 0 -40 Td (three) Tj"), "one\ntwo\n\nthree");
    assert_eq!(content_of("(caf\\351 \\223q\\224) Tj"), "café “q”");
    assert_eq!(content_of("0 1 -1 0 300 300 Tm (up) Tj"), "up");
    assert_eq!(content_of("3 Tr (ocr layer) Tj"), "ocr layer");
}

#[test]
fn pages_and_forms_are_read_in_order() {
    let resources = format!("{HELVETICA} /XObject << /X1 8 0 R >>");
    let mut pdf = pdf::pages(
        &resources,
        &["BT /F1 12 Tf 72 700 Td (first page) Tj ET", "q 1 0 0 1 10 10 cm /X1 Do Q"],
    );
    let form = b"BT /F1 12 Tf 10 10 Td (in a form) Tj ET";
    assert_eq!(pdf.stream("/Type /XObject /Subtype /Form /BBox [0 0 200 200]", form), 8);
    let answer = read_bytes("a.pdf", &pdf.bytes());
    assert_eq!(content(&answer), "[page 1]\n\nfirst page\n\n[page 2]\n\nin a form");
    assert_eq!(answer.result()["pages"], 2);
}

#[test]
fn chinese_is_read_by_the_maps_of_its_fonts() {
    let font = "/Font << /F1 << /Type /Font /Subtype /Type0 /BaseFont /STSong-Light /Encoding /UniGB-UCS2-H \
        /DescendantFonts [<< /Type /Font /Subtype /CIDFontType0 /BaseFont /STSong-Light \
        /CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) /Supplement 4 >> >>] >> >>";
    let bytes = pdf::pages(font, &["BT /F1 12 Tf 72 700 Td <4E2D65876587672C> Tj ET"]).bytes();
    assert_eq!(content(&read_bytes("a.pdf", &bytes)), "中文文本");

    let font = "/Font << /F1 << /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /Identity-H /ToUnicode 6 0 R \
        /DescendantFonts [<< /Type /Font /Subtype /CIDFontType2 /BaseFont /X \
        /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>] >> >>";
    let mut pdf = pdf::pages(font, &["BT /F1 12 Tf 72 700 Td <00010002> Tj ET"]);
    let map = b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap\n\
        1 begincodespacerange <0000> <ffff> endcodespacerange\n\
        2 beginbfchar <0001> <7535> <0002> <8DEF> endbfchar\nendcmap end end";
    assert_eq!(pdf.stream("", map), 6);
    assert_eq!(content(&read_bytes("a.pdf", &pdf.bytes())), "电路");
}

#[test]
fn a_pdf_without_text_says_so() {
    let bytes = pdf::pages("", &["0 0 100 100 re f"]).bytes();
    let answer = read_bytes("scan.pdf", &bytes);
    assert_eq!(content(&answer), "");
    assert!(answer.partial() && answer.message().contains("no text"), "{}", answer.value);
}

#[test]
fn a_pdf_with_a_password_says_so() {
    let mut pdf = pdf::pages(HELVETICA, &["BT /F1 12 Tf (x) Tj ET"]);
    let encrypt = format!(
        "<< /Filter /Standard /V 2 /R 3 /Length 128 /P -44 /O <{}> /U <{}> >>",
        "41".repeat(32),
        "42".repeat(32)
    );
    let number = pdf.add(encrypt);
    pdf.trailer = format!("/Encrypt {number} 0 R /ID [<00112233> <00112233>]");
    assert_eq!(read_bytes("a.pdf", &pdf.bytes()).code(), "ENCRYPTED");
}

#[test]
fn a_docx_keeps_headings_lists_tables_and_notes() {
    let body = r#"
        <w:p><w:pPr><w:pStyle w:val="1"/></w:pPr><w:r><w:t>标题</w:t></w:r></w:p>
        <w:p><w:r><w:t xml:space="preserve">One </w:t></w:r><w:r><w:t>paragraph &amp; more</w:t><w:tab/><w:t>x</w:t><w:br/><w:t>y</w:t></w:r></w:p>
        <w:p><w:pPr><w:numPr><w:ilvl w:val="0"/></w:numPr></w:pPr><w:r><w:t>item</w:t></w:r></w:p>
        <w:p><w:del><w:r><w:delText>deleted</w:delText></w:r></w:del><w:ins><w:r><w:t>inserted</w:t></w:r></w:ins><w:r><w:instrText>PAGE</w:instrText></w:r></w:p>
        <w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p><w:p><w:r><w:t>c</w:t></w:r></w:p></w:tc></w:tr></w:tbl>
        <w:p><mc:AlternateContent><mc:Choice><w:r><w:t>once</w:t></w:r></mc:Choice><mc:Fallback><w:r><w:t>twice</w:t></w:r></mc:Fallback></mc:AlternateContent></w:p>"#;
    let styles = r#"<w:styles xmlns:w="x"><w:style w:styleId="1"><w:name w:val="heading 1"/></w:style></w:styles>"#;
    let notes = r#"<w:footnotes xmlns:w="x"><w:footnote><w:p><w:r><w:t>a note</w:t></w:r></w:p></w:footnote></w:footnotes>"#;
    let bytes = docx(body, &[("word/styles.xml", styles), ("word/footnotes.xml", notes)]);
    let answer = read_bytes("a.docx", &bytes);
    assert_eq!(answer.result()["type"], "docx");
    assert_eq!(
        content(&answer),
        "# 标题\n\nOne paragraph & more\tx\ny\n\n- item\ninserted\n\n| a | b c |\n\nonce\n\n\n\n## footnotes\n\na note"
    );
}

#[test]
fn an_xlsx_shows_what_its_cells_show() {
    let rows = r#"
        <row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="inlineStr"><is><t>inline</t></is></c></row>
        <row r="2"><c r="A2"><v>0.30000000000000004</v></c><c r="B2" t="b"><v>1</v></c><c r="C2" t="e"><v>#DIV/0!</v></c></row>
        <row r="4"><c r="B4" s="1"><v>45000</v></c><c r="C4" s="2"><v>45000.5</v></c><c r="D4" t="str"><f>A1</f><v>made</v></c></row>
        <row r="5"><c><v>1</v></c><c/><c><v>3</v></c></row>"#;
    let strings = r#"<sst xmlns="x"><si><r><t>shared </t></r><r><t>text</t></r><rPh><t>aside</t></rPh></si></sst>"#;
    let styles = r#"<styleSheet xmlns="x"><numFmts><numFmt numFmtId="164" formatCode="yyyy\-mm\-dd hh:mm"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/></cellXfs></styleSheet>"#;
    let parts = [("xl/sharedStrings.xml", strings), ("xl/styles.xml", styles)];
    let answer = read_bytes("a.xlsx", &xlsx("", &[("Sheet &lt;1&gt;", rows), ("空", "")], &parts));
    assert_eq!(answer.result()["type"], "xlsx");
    assert_eq!(answer.result()["sheets"], 2);
    assert_eq!(
        content(&answer),
        "## Sheet <1>\n\nshared text\t\tinline\n0.3\tTRUE\t#DIV/0!\n\t2023-03-15\t2023-03-15 12:00:00\tmade\n1\t\t3\n\n\n## 空"
    );
    let since = r#"<workbookPr date1904="1"/>"#;
    let rows = r#"<row><c s="1"><v>0</v></c></row>"#;
    let answer = read_bytes("b.xlsx", &xlsx(since, &[("S", rows)], &parts));
    assert_eq!(content(&answer), "## S\n\n1904-01-01");
}

#[test]
fn other_archives_are_bytes_and_old_documents_are_errors() {
    let zip = crate::office::archive(&[("a.txt", b"x")]);
    assert_eq!(read_bytes("a.zip", &zip).result()["type"], "binary");
    let slides = crate::office::archive(&[("_rels/.rels", b"<Relationships/>")]);
    assert_eq!(read_bytes("a.pptx", &slides).result()["type"], "binary");
    let old = [b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".as_slice(), &[0; 100]].concat();
    assert_eq!(read_bytes("a.doc", &old).code(), "UNSUPPORTED_FORMAT");
}
