//! Is every limit of the organiser, in one place.
//!
//! Lengths of text are in characters, as a JSON Schema counts them; sizes are in bytes.

/// Is how long a title may be.
pub const TITLE_CHARS: usize = 300;
/// Is how long notes may be.
pub const NOTES_CHARS: usize = 8_000;
/// Is how long a location may be.
pub const LOCATION_CHARS: usize = 500;
/// Is how long an id, a user's name or a UID may be.
pub const ID_CHARS: usize = 255;
/// Is how long the text of a recurrence rule may be.
pub const RULE_CHARS: usize = 1_000;
/// Is how often a rule with COUNT may repeat.
pub const RULE_COUNT: u32 = 10_000;
/// Is how many times of day one rule may name (hours × minutes × seconds).
pub const RULE_TIMES: usize = 1_440;
/// Is how many single dates an event may add to, or take from, its rule (each).
pub const SINGLE_DATES: usize = 500;
/// Is how many occurrences of an event may differ from the rest.
pub const OVERRIDES: usize = 500;
/// Is the longest that one occurrence may last, in seconds (a year and a day).
pub const DURATION_SECONDS: i64 = 367 * 86_400;
/// Is how many events a user may have of their own; each series is one.
pub const EVENTS: usize = 10_000;
/// Is how many invitations may wait for a user's answer.
pub const PENDING_INVITATIONS: usize = 500;
/// Is how many invitations an event may have.
pub const INVITATIONS: usize = 100;
/// Is how many people one call may share an event with.
pub const SHARE_PER_CALL: usize = 50;
/// Is how wide a range may be read at once, in days.
pub const RANGE_DAYS: i64 = 366;
/// Is how many occurrences a page holds when nothing is said.
pub const PAGE: usize = 100;
/// Is how many occurrences a page may hold.
pub const PAGE_MOST: usize = 500;
/// Is how many events are loaded for one answer.
pub const LOADED_EVENTS: usize = 2_000;
/// Is how many steps the expansion of one event may take.
pub const STEPS_PER_EVENT: u32 = 50_000;
/// Is how many steps the expansions of one answer may take together.
pub const STEPS_PER_ANSWER: u32 = 2_000_000;
/// Is how many contacts a user may have.
pub const CONTACTS: usize = 5_000;
/// Is how long a contact's name, and where they work, may be.
pub const NAME_CHARS: usize = 200;
/// Is how many addresses, and how many numbers, a contact may have.
pub const WAYS: usize = 20;
/// Is how long an address or a number may be.
pub const WAY_CHARS: usize = 254;
/// Is how long a search may be.
pub const SEARCH_CHARS: usize = 200;
/// Is how many facts a user's memory may hold.
pub const FACTS: usize = 200;
/// Is how long the key of a fact may be.
pub const FACT_KEY_CHARS: usize = 64;
/// Is how long a fact may be.
pub const FACT_CHARS: usize = 2_000;
/// Is how many bytes the keys and facts of a memory may have together.
pub const MEMORY_BYTES: usize = 64 * 1024;
/// Is how many operations one call may bring to the memory.
pub const MEMORY_OPERATIONS: usize = 50;
/// Is how many bytes an iCalendar file may have.
pub const IMPORT_BYTES: usize = 4 * 1024 * 1024;
/// Is how many events an iCalendar file may bring.
pub const IMPORT_EVENTS: usize = 2_000;
/// Is how many bytes one unfolded line of an iCalendar file may have.
pub const IMPORT_LINE_BYTES: usize = 64 * 1024;
/// Is how many things that were skipped an import lists one by one.
pub const IMPORT_SKIPS: usize = 200;
/// Is how many people an imported event may name.
pub const ATTENDEES: usize = 200;
/// Is how many steps may go into finding the end of a series; past them it is taken to have none.
pub const STEPS_FOR_END: u32 = 5_000;
/// Is how deep the parts of an iCalendar file may be nested.
pub const IMPORT_DEPTH: usize = 8;
