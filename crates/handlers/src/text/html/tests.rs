use super::*;

fn page(html: &str) -> Readable {
    readable(html, &Url::parse("https://example.org/a/b.html").unwrap(), Style::Markdown)
}

#[test]
fn the_article_is_read_and_its_surroundings_are_not() {
    let html = r#"<!doctype html><html><head><title> A
        page </title><style>p{}</style><script>if (a < b) { "<p>no</p>" }</script></head>
        <body class="has-sidebar"><nav><a href=/>Home</a></nav><header>Site name</header>
        <div class="cookie-banner">We use cookies</div>
        <main><h1>Title</h1><p>First <b>bold</b> and <em>soft</em>, see
        <a href="../c?x=1#y">that</a>.<p>Second<br>line.
        <ul><li>one<li>two<ol><li>deep</ol></ul>
        <pre><code class="language-rust">fn main() {
    x();
}</code></pre><blockquote><p>Said so</p></blockquote>
        <table><tr><th>A<th>B<tr><td>1|2<td>3</table>
        <img src="i.png" alt="A picture"><img src=spacer.gif></main>
        <aside>Related</aside><footer>(c)</footer></body></html>"#;
    let page = page(html);
    assert_eq!(page.title, "A page");
    let expected = "# Title\n\nFirst **bold** and *soft*, see [that](https://example.org/c?x=1#y).\n\n\
        Second\nline.\n\n- one\n- two\n  1. deep\n\n```rust\nfn main() {\n    x();\n}\n```\n\n> Said so\n\n\
        | A | B |\n| --- | --- |\n| 1\\|2 | 3 |\n\n![A picture](https://example.org/a/i.png)";
    assert_eq!(page.text, expected);
    assert_eq!(page.links, [("that".to_owned(), "https://example.org/c?x=1#y".to_owned())]);
    assert!(!page.cut);
}

#[test]
fn without_an_article_the_paragraphs_decide() {
    let text =
        "This paragraph is long enough to count as a part of the content, with commas, too. ";
    let html = format!(
        "<body><div><div><a href=/1>One</a> <a href=/2>Two</a></div>\
         <div><p>{text}</p><p>{text}</p></div><div><a href=/3>Three</a></div></div>"
    );
    let read = page(&html).text;
    assert!(read.starts_with("This paragraph"), "{read}");
    assert!(!read.contains("Three"), "{read}");
}

#[test]
fn a_page_of_nothing_but_menus_is_still_read() {
    assert_eq!(
        page("<nav><a href=/x>Only this</a></nav>").text,
        "[Only this](https://example.org/x)"
    );
    assert_eq!(page("").text, "");
    assert_eq!(page("plain words").text, "plain words");
}

#[test]
fn links_that_run_something_are_not_links() {
    let read = page("<p><a href='javascript:alert(1)'>a</a> <a href='data:text/html,x'>b</a></p>");
    assert_eq!(read.text, "a b");
    assert!(read.links.is_empty());
}

#[test]
fn hidden_text_is_not_read() {
    let read = page(
        "<p>seen</p><p hidden>no</p><p style='display: none'>no</p><p aria-hidden=true>no</p>",
    );
    assert_eq!(read.text, "seen");
}

#[test]
fn deep_and_wide_pages_are_bounded() {
    let deep = format!("{}end", "<div>".repeat(100_000));
    assert_eq!(page(&deep).text, "end");
    let lists = format!("{}end", "<ul><li>".repeat(50_000));
    assert!(page(&lists).text.ends_with("end"));
    let quotes = format!("{}end", "<blockquote>".repeat(50_000));
    assert!(page(&quotes).text.ends_with("end"));
    let fits = "<b>x</b>".repeat((tree::NODES - 1) / 2);
    assert!(!page(&fits).cut);
    let wide = "<b>x</b>".repeat(tree::NODES / 2 + 1);
    assert!(page(&wide).cut);
}

#[test]
fn a_snippet_loses_its_marks() {
    assert_eq!(plain("the <span class=\"searchmatch\">R</span>ust &amp; more"), "the Rust & more");
}

#[test]
fn code_that_holds_a_fence_gets_a_longer_one() {
    assert_eq!(page("<pre>```\nx</pre>").text, "````\n```\nx\n````");
}

#[test]
fn without_marks_only_the_words_are_left() {
    let html = "<main><h2>A <b>b</b></h2><p><a href=/x>link</a> <code>c</code><img src=i alt=no></p>\
                <table><tr><td>1<td>2</table></main>";
    let address = Url::parse("https://example.org/").unwrap();
    let read = readable(html, &address, Style::Plain);
    assert_eq!(read.text, "A b\n\nlink c\n\n1\t2");
    assert_eq!(read.links.len(), 1);
}
