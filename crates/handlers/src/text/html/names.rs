//! The names that elements, roles and classes of HTML have, sorted by what they mean for reading.

/// Lists the elements that stand on lines of their own.
#[rustfmt::skip]
pub(super) const BLOCKS: &[&str] = &[
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details",
    "dialog", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1",
    "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "html", "li", "main", "nav", "ol",
    "p", "pre", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr",
    "ul",
];

/// Lists the elements without content.
#[rustfmt::skip]
pub(super) const VOID: &[&str] = &[
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param",
    "source", "track", "wbr",
];

/// Lists the elements that end an open paragraph.
#[rustfmt::skip]
pub(super) const ENDS_PARAGRAPH: &[&str] = &[
    "address", "article", "aside", "blockquote", "details", "div", "dl", "fieldset", "figure",
    "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "main", "nav", "ol",
    "p", "pre", "section", "table", "ul",
];

/// Lists the elements that are never read.
#[rustfmt::skip]
pub(super) const NEVER: &[&str] = &[
    "script", "style", "noscript", "template", "svg", "math", "iframe", "object", "embed",
    "canvas", "head", "button", "input", "select", "textarea", "nav", "aside", "dialog",
    "audio", "video",
];

/// Lists the roles of what surrounds the content.
#[rustfmt::skip]
pub(super) const ROLES: &[&str] = &[
    "navigation", "banner", "contentinfo", "complementary", "search", "dialog", "alertdialog",
    "menu", "menubar", "toolbar", "tablist",
];

/// Lists words that name what surrounds the content, where they are a whole word of a class or id.
#[rustfmt::skip]
pub(super) const SURROUNDINGS: &[&str] = &[
    "ad", "ads", "advert", "advertisement", "banner", "breadcrumb", "breadcrumbs", "comments",
    "consent", "cookie", "cookies", "footer", "menu", "modal", "navbar", "navigation",
    "newsletter", "pagination", "popup", "promo", "related", "share", "sharing", "sidebar",
    "skip", "social", "sponsored", "subscribe", "toc",
];
