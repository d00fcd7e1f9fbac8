//! Which glyphs a page shows, and where.

use std::sync::Arc;
use std::time::Instant;

use hayro_cmap::{BfString, load_embedded};
use hayro_font::kurbo::{Affine, Point, Vec2};
use hayro_font::{CMapResolverFn, Font, FontCache, FontGlyph, FontQuery, FontResolverFn};
use hayro_syntax::content::TypedIter;
use hayro_syntax::content::ops::TypedInstruction as Op;
use hayro_syntax::object::dict::keys::{MATRIX, RESOURCES, SUBTYPE};
use hayro_syntax::object::{Dict, Name, Number, Object, Stream};
use hayro_syntax::page::{Page, Resources};

use super::layout::{Layout, Placed};

/// Is how much work one document gets, in instructions and glyphs.
const WORK: u64 = 20_000_000;

/// Is how deep forms nest in forms.
const DEPTH: usize = 12;

/// Is how many states are kept.
const STATES: usize = 256;

/// Is how often the clock is looked at, in units of work.
const LOOK_EVERY: u64 = 1024;

/// Reads the pages of one document.
pub(super) struct Reader<'a> {
    fonts: FontCache<'a>,
    font_resolver: FontResolverFn,
    cmap_resolver: CMapResolverFn,
    deadline: Instant,
    work: u64,
    stopped: bool,
    glyphs: u64,
    unknown: u64,
}

#[derive(Clone)]
struct State<'a> {
    ctm: Affine,
    font: Option<Font<'a>>,
    size: f64,
    char_space: f64,
    word_space: f64,
    stretch: f64,
    leading: f64,
    rise: f64,
    line: Affine,
    text: Affine,
}

impl State<'_> {
    fn new() -> Self {
        Self {
            ctm: Affine::IDENTITY,
            font: None,
            size: 0.0,
            char_space: 0.0,
            word_space: 0.0,
            stretch: 1.0,
            leading: 0.0,
            rise: 0.0,
            line: Affine::IDENTITY,
            text: Affine::IDENTITY,
        }
    }

    fn next_line(&mut self, x: f64, y: f64) {
        self.line *= Affine::translate((x, y));
        self.text = self.line;
    }
}

impl<'a> Reader<'a> {
    /// Starts a document.
    pub(super) fn new(deadline: Instant) -> Self {
        Self {
            fonts: FontCache::new(),
            font_resolver: Arc::new(|query| {
                Some(match query {
                    FontQuery::Standard(font) => font.get_font_data(),
                    FontQuery::Fallback(query) => query.pick_standard_font().get_font_data(),
                })
            }),
            cmap_resolver: Arc::new(load_embedded),
            deadline,
            work: 0,
            stopped: false,
            glyphs: 0,
            unknown: 0,
        }
    }

    /// Tells whether the document has had all the work it gets.
    pub(super) fn exhausted(&self) -> bool {
        self.stopped
    }

    /// Tells whether most glyphs stand for no known character.
    pub(super) fn mostly_unknown(&self) -> bool {
        self.unknown > self.glyphs / 2
    }

    /// Reads one page.
    pub(super) fn page(&mut self, page: &Page<'a>, layout: &mut Layout) {
        self.run(page.typed_operations(), page.resources(), State::new(), 0, layout);
    }

    fn works(&mut self) -> bool {
        self.work += 1;
        if self.work >= WORK
            || (self.work.is_multiple_of(LOOK_EVERY) && Instant::now() >= self.deadline)
        {
            self.stopped = true;
        }
        !self.stopped
    }

    fn run(
        &mut self,
        mut operations: TypedIter<'_>,
        resources: &Resources<'a>,
        mut state: State<'a>,
        depth: usize,
        layout: &mut Layout,
    ) {
        let mut states: Vec<State<'a>> = Vec::new();
        while let Some(operation) = operations.next() {
            if !self.works() {
                return;
            }
            match operation {
                Op::SaveState(_) if states.len() < STATES => states.push(state.clone()),
                Op::RestoreState(_) => state = states.pop().unwrap_or(state),
                Op::Transform(t) => state.ctm *= affine([t.0, t.1, t.2, t.3, t.4, t.5]),
                Op::XObject(name) => {
                    if let Some(form) = resources.get_x_object(name.0) {
                        self.form(&form, resources, &state, depth, layout);
                    }
                }
                Op::ShowText(text) => self.show(text.0.as_bytes(), &mut state, layout),
                Op::ShowTexts(texts) => {
                    for piece in texts.0.iter::<Object<'_>>() {
                        match piece {
                            Object::Number(number) => back(&mut state, number.as_f64()),
                            Object::String(text) => self.show(text.as_bytes(), &mut state, layout),
                            _ => {}
                        }
                    }
                }
                Op::NextLineAndShowText(text) => {
                    state.next_line(0.0, -state.leading);
                    self.show(text.0.as_bytes(), &mut state, layout);
                }
                Op::ShowTextWithParameters(text) => {
                    state.word_space = text.0.as_f64();
                    state.char_space = text.1.as_f64();
                    state.next_line(0.0, -state.leading);
                    self.show(text.2.as_bytes(), &mut state, layout);
                }
                Op::TextFont(font) => {
                    state.size = font.1.as_f64();
                    state.font = resources.get_font(font.0).and_then(|dict| self.font(&dict));
                }
                other => text_state(&other, &mut state),
            }
        }
    }

    fn font(&self, dict: &Dict<'a>) -> Option<Font<'a>> {
        self.fonts.font(dict, &self.font_resolver, &self.cmap_resolver)
    }

    /// Reads what a form shows; an image shows no text.
    fn form(
        &mut self,
        form: &Stream<'a>,
        resources: &Resources<'a>,
        state: &State<'a>,
        depth: usize,
        layout: &mut Layout,
    ) {
        let dict = form.dict();
        let is_form = dict.get::<Name<'_>>(SUBTYPE).is_some_and(|kind| &*kind == b"Form");
        if !is_form || depth >= DEPTH {
            return;
        }
        let Ok(content) = form.decoded_data() else { return };
        let own = dict.get::<Dict<'a>>(RESOURCES).map(Resources::new);
        let mut inner = state.clone();
        if let Some(matrix) = dict.get::<[f64; 6]>(MATRIX) {
            inner.ctm *= Affine::new(matrix);
        }
        let resources = own.as_ref().unwrap_or(resources);
        self.run(TypedIter::new(&content), resources, inner, depth + 1, layout);
    }

    fn show(&mut self, bytes: &[u8], state: &mut State<'a>, layout: &mut Layout) {
        let Some(font) = state.font.clone() else { return };
        let mut at = 0;
        while at < bytes.len() && self.works() {
            let (code, length) = font.read_code(bytes, at);
            at += length.max(1);
            let glyph = match font.glyph(font.map_code(code), code) {
                FontGlyph::Outline(glyph) => glyph.as_unicode(),
                FontGlyph::Type3(glyph) => glyph.as_unicode(),
            };
            let advance = font.code_advance(code) / 1000.0 * state.size;
            // Only a single byte is a space; in other codes 32 is something else.
            let space = if code == 32 && length == 1 { state.word_space } else { 0.0 };
            let step = if font.is_horizontal() {
                Vec2::new((advance.x + state.char_space + space) * state.stretch, 0.0)
            } else {
                Vec2::new(0.0, advance.y - state.char_space - space)
            };
            let whole = state.ctm * state.text * Affine::translate((0.0, state.rise));
            let drawn = if font.is_horizontal() {
                Vec2::new(advance.x * state.stretch, 0.0)
            } else {
                Vec2::new(0.0, advance.y)
            };
            self.place(glyph.as_ref(), whole, drawn, state.size, layout);
            state.text *= Affine::translate(step);
        }
    }

    fn place(
        &mut self,
        glyph: Option<&BfString>,
        whole: Affine,
        drawn: Vec2,
        size: f64,
        layout: &mut Layout,
    ) {
        self.glyphs += 1;
        let mut one = [0; 4];
        let text = match glyph {
            Some(BfString::Char(c)) => &*c.encode_utf8(&mut one),
            Some(BfString::String(text)) => text,
            None => {
                self.unknown += 1;
                "\u{fffd}"
            }
        };
        let from = whole * Point::ZERO;
        let way = if drawn.x == 0.0 && drawn.y != 0.0 {
            Vec2::new(0.0, -1.0)
        } else {
            Vec2::new(1.0, 0.0)
        };
        let along = (whole * way.to_point()) - from;
        let up = (whole * Point::new(0.0, size)) - from;
        let length = along.hypot();
        if length > 0.0 {
            let (to, along) = (whole * drawn.to_point(), along / length);
            layout.add(&Placed { text, from, to, along, size: up.hypot() });
        }
    }
}

/// Follows the instructions that only change how text will be shown.
fn text_state(operation: &Op<'_, '_>, state: &mut State<'_>) {
    match operation {
        Op::BeginText(_) => {
            state.line = Affine::IDENTITY;
            state.text = Affine::IDENTITY;
        }
        Op::SetTextMatrix(t) => {
            state.line = affine([t.0, t.1, t.2, t.3, t.4, t.5]);
            state.text = state.line;
        }
        Op::NextLine(step) => state.next_line(step.0.as_f64(), step.1.as_f64()),
        Op::NextLineAndSetLeading(step) => {
            state.leading = -step.1.as_f64();
            state.next_line(step.0.as_f64(), step.1.as_f64());
        }
        Op::NextLineUsingLeading(_) => state.next_line(0.0, -state.leading),
        Op::CharacterSpacing(value) => state.char_space = value.0.as_f64(),
        Op::WordSpacing(value) => state.word_space = value.0.as_f64(),
        Op::HorizontalScaling(value) => state.stretch = value.0.as_f64() / 100.0,
        Op::TextLeading(value) => state.leading = value.0.as_f64(),
        Op::TextRise(value) => state.rise = value.0.as_f64(),
        _ => {}
    }
}

/// Moves back by thousandths of the font's size, as kerning does.
fn back(state: &mut State<'_>, thousandths: f64) {
    let step = -thousandths / 1000.0 * state.size;
    let horizontal = state.font.as_ref().is_none_or(Font::is_horizontal);
    let step = if horizontal { (step * state.stretch, 0.0) } else { (0.0, step) };
    state.text *= Affine::translate(step);
}

fn affine(numbers: [Number; 6]) -> Affine {
    Affine::new(numbers.map(|number| number.as_f64()))
}
