//! What `remit doctor` is told.

use remit_exec::process::{Launcher, offers};

use crate::support::launcher;

#[tokio::test]
async fn this_machine_offers_what_these_tests_need() {
    let offers = offers(&launcher()).await;
    for (name, offer) in offers.all() {
        assert!(offer.available || name == "control groups", "{name}: {}", offer.detail);
        assert!(!offer.detail.is_empty());
    }
    assert!(offers.landlock.detail.contains("interface"));
}

#[tokio::test]
async fn a_binary_without_the_stages_offers_nothing() {
    let offers = offers(&Launcher::new("/bin/true")).await;
    assert!(offers.all().iter().all(|(_, offer)| !offer.available));
    assert!(!offers.confinement.detail.is_empty());
}
