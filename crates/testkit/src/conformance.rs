//! The suite that every store passes: what the port [`Store`] promises, as tests.
//!
//! A backend says how a [`Place`] is made and opened, and runs everything with one line in its tests:
//!
//! ```text
//! remit_testkit::store_conformance!(MyPlace::new());
//! ```

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a test stops at the first thing that is not as it should be, and says what it saw"
)]

pub mod calls;
pub mod chain;
pub mod crowds;
pub mod directory;
pub mod grants;
pub mod hands;
pub mod messages;
pub mod organiser;
pub mod queries;
pub mod recovery;
pub mod registry;
pub mod texts;
pub mod versions;

use std::sync::Arc;

use remit_engine::ports::{Pending, Store};

use crate::MemoryStore;

/// Is somewhere a record is kept, empty at first.
pub trait Place: Send + Sync {
    /// Opens the record that is kept there. What was opened before may still be open, as if another
    /// process had it, or may be gone.
    fn open(&self) -> Pending<'_, Arc<dyn Store>>;
}

/// Keeps a record in memory.
#[derive(Debug, Default)]
pub struct MemoryPlace(MemoryStore);

impl Place for MemoryPlace {
    fn open(&self) -> Pending<'_, Arc<dyn Store>> {
        let store: Arc<dyn Store> = Arc::new(self.0.reopen());
        Box::pin(std::future::ready(store))
    }
}

/// Makes a test of each case of the suite. The expression makes a new, empty [`Place`].
#[macro_export]
macro_rules! store_conformance {
    ($place:expr) => {
        $crate::store_conformance! { @each $place;
            calls::a_call_runs_and_ends_in_every_way,
            calls::a_key_is_recorded_once,
            calls::a_no_leaves_only_the_end_to_be_recorded,
            calls::a_refusal_is_recorded,
            calls::a_repetition_shows_how_far_the_call_has_come,
            calls::a_wish_to_stop_reaches_whoever_has_the_call,
            calls::a_yes_makes_the_call_run,
            calls::an_end_is_final,
            calls::keys_differ_by_user_agent_and_id,
            calls::progress_is_kept_until_the_end,
            calls::what_is_unknown_is_refused,
            calls::what_nobody_approved_cannot_have_succeeded,
            calls::what_was_recorded_is_there_when_opened_again,
            chain::a_refused_change_adds_nothing,
            chain::a_step_is_an_event_that_tells_it,
            chain::events_come_in_pages,
            chain::several_open_stores_add_to_one_chain,
            chain::threads_have_chains_of_their_own,
            chain::who_follows_hears_what_is_recorded,
            crowds::many_write_to_many_threads,
            crowds::many_write_to_one_thread,
            crowds::many_write_to_one_thread_through_two_stores,
            crowds::of_many_answers_one_counts,
            crowds::of_many_beginnings_one_is_fresh,
            crowds::of_many_ends_one_counts,
            grants::a_change_is_seen_by_every_open_store,
            grants::a_call_brings_its_grant_with_it,
            grants::a_grant_is_for_one_agent_scope_device_and_thread,
            grants::a_person_sees_all_they_granted,
            grants::a_renewal_is_no_new_grant,
            grants::an_answer_brings_its_grant_with_it,
            grants::giving_lifts_what_was_taken_back,
            grants::grants_keep_what_they_say,
            grants::revoking_takes_back_every_grant_of_a_scope,
            grants::what_was_never_given_can_be_taken_back,
            grants::what_was_taken_back_no_call_brings_again,
            messages::messages_keep_what_they_say,
            messages::messages_stay_in_order_and_in_their_thread,
            messages::the_steps_of_a_run_are_told,
            queries::a_query_finds_what_fits_it,
            queries::a_limit_cuts_off_the_oldest,
            recovery::calls_of_the_living_are_left_alone,
            recovery::calls_of_the_gone_are_ended,
            recovery::recovering_twice_ends_nothing_twice,
            texts::deep_input_survives,
            texts::large_input_survives,
            texts::numbers_survive,
            texts::odd_texts_survive,
            versions::many_publish_without_a_gap,
            versions::sources_count_by_themselves,
            versions::the_next_number_or_the_same_if_nothing_changed,
        }
    };
    (@each $place:expr; $($room:ident :: $case:ident),* $(,)?) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                let place = $place;
                $crate::conformance::$room::$case(&place).await;
            }
        )*
    };
}

#[cfg(test)]
mod tests {
    use super::MemoryPlace;

    crate::store_conformance!(MemoryPlace::default());

    #[test]
    fn every_case_is_in_the_list() {
        let list = include_str!("conformance.rs");
        let mut count = 0;
        for (room, source) in [
            ("calls", include_str!("conformance/calls.rs")),
            ("chain", include_str!("conformance/chain.rs")),
            ("crowds", include_str!("conformance/crowds.rs")),
            ("grants", include_str!("conformance/grants.rs")),
            ("messages", include_str!("conformance/messages.rs")),
            ("queries", include_str!("conformance/queries.rs")),
            ("recovery", include_str!("conformance/recovery.rs")),
            ("texts", include_str!("conformance/texts.rs")),
            ("versions", include_str!("conformance/versions.rs")),
        ] {
            for line in source.lines() {
                let case = line.strip_prefix("pub async fn ").and_then(|rest| rest.split_once('('));
                if let Some((case, _)) = case {
                    count += 1;
                    assert!(list.contains(&format!("{room}::{case},")), "{room}::{case}");
                }
            }
        }
        assert!(count > 40, "{count}");
    }
}
