//! The examples of RFC 5545 §3.8.5.3. Times are those of New York, nine in the morning unless said.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use remit_organiser::Zone;
use remit_organiser::rule::{Budget, Expansion, Until, parse};

/// Expands a rule from a start such as `19970902T090000`, at most so many.
pub fn expand(start: &str, rule: &str, most: usize) -> Vec<DateTime> {
    let zone = Zone::named("America/New_York").unwrap();
    let start = DateTime::strptime("%Y%m%dT%H%M%S", start).unwrap();
    let rule = parse(rule).unwrap();
    let until = rule.until.map(|until| match until {
        Until::Utc(moment) => zone.local(moment),
        Until::Local(local) => local,
        Until::Date(date) => date.at(23, 59, 59, 0),
    });
    let mut budget = Budget::new(1_000_000);
    let mut walk = Expansion::new(&rule, start, until, DateTime::MIN);
    let mut list = Vec::new();
    while list.len() < most
        && let Some(local) = walk.next(&mut budget)
    {
        list.push(local);
    }
    list
}

/// Writes days as `1997-09: 2 3 4; 1997-10: …`.
fn days(list: &[DateTime]) -> String {
    let mut out = String::new();
    let mut month = String::new();
    for local in list {
        let this = local.strftime("%Y-%m").to_string();
        if this != month {
            if !month.is_empty() {
                out.push_str("; ");
            }
            out.push_str(&format!("{this}:"));
            month = this;
        }
        out.push_str(&format!(" {}", local.day()));
    }
    out
}

/// Start, rule, and the days it gives.
const CASES: &[(&str, &str, &str)] = &[
    ("19970902", "FREQ=DAILY;COUNT=10", "1997-09: 2 3 4 5 6 7 8 9 10 11"),
    ("19970902", "FREQ=DAILY;INTERVAL=10;COUNT=5", "1997-09: 2 12 22; 1997-10: 2 12"),
    ("19970902", "FREQ=WEEKLY;COUNT=10", "1997-09: 2 9 16 23 30; 1997-10: 7 14 21 28; 1997-11: 4"),
    (
        "19970902",
        "FREQ=WEEKLY;INTERVAL=2;WKST=SU;UNTIL=19971224T000000Z",
        "1997-09: 2 16 30; 1997-10: 14 28; 1997-11: 11 25; 1997-12: 9 23",
    ),
    (
        "19970902",
        "FREQ=WEEKLY;COUNT=10;WKST=SU;BYDAY=TU,TH",
        "1997-09: 2 4 9 11 16 18 23 25 30; 1997-10: 2",
    ),
    (
        "19970901",
        "FREQ=WEEKLY;INTERVAL=2;UNTIL=19971224T000000Z;WKST=SU;BYDAY=MO,WE,FR",
        "1997-09: 1 3 5 15 17 19 29; 1997-10: 1 3 13 15 17 27 29 31; \
             1997-11: 10 12 14 24 26 28; 1997-12: 8 10 12 22",
    ),
    (
        "19970902",
        "FREQ=WEEKLY;INTERVAL=2;COUNT=8;WKST=SU;BYDAY=TU,TH",
        "1997-09: 2 4 16 18 30; 1997-10: 2 14 16",
    ),
    (
        "19970905",
        "FREQ=MONTHLY;COUNT=10;BYDAY=1FR",
        "1997-09: 5; 1997-10: 3; 1997-11: 7; 1997-12: 5; 1998-01: 2; 1998-02: 6; 1998-03: 6; \
             1998-04: 3; 1998-05: 1; 1998-06: 5",
    ),
    (
        "19970905",
        "FREQ=MONTHLY;UNTIL=19971224T000000Z;BYDAY=1FR",
        "1997-09: 5; 1997-10: 3; 1997-11: 7; 1997-12: 5",
    ),
    (
        "19970907",
        "FREQ=MONTHLY;INTERVAL=2;COUNT=10;BYDAY=1SU,-1SU",
        "1997-09: 7 28; 1997-11: 2 30; 1998-01: 4 25; 1998-03: 1 29; 1998-05: 3 31",
    ),
    (
        "19970922",
        "FREQ=MONTHLY;COUNT=6;BYDAY=-2MO",
        "1997-09: 22; 1997-10: 20; 1997-11: 17; 1997-12: 22; 1998-01: 19; 1998-02: 16",
    ),
    (
        "19970928",
        "FREQ=MONTHLY;BYMONTHDAY=-3",
        "1997-09: 28; 1997-10: 29; 1997-11: 28; 1997-12: 29; 1998-01: 29; 1998-02: 26",
    ),
    (
        "19970902",
        "FREQ=MONTHLY;COUNT=10;BYMONTHDAY=2,15",
        "1997-09: 2 15; 1997-10: 2 15; 1997-11: 2 15; 1997-12: 2 15; 1998-01: 2 15",
    ),
    (
        "19970930",
        "FREQ=MONTHLY;COUNT=10;BYMONTHDAY=1,-1",
        "1997-09: 30; 1997-10: 1 31; 1997-11: 1 30; 1997-12: 1 31; 1998-01: 1 31; 1998-02: 1",
    ),
    (
        "19970910",
        "FREQ=MONTHLY;INTERVAL=18;COUNT=10;BYMONTHDAY=10,11,12,13,14,15",
        "1997-09: 10 11 12 13 14 15; 1999-03: 10 11 12 13",
    ),
    (
        "19970902",
        "FREQ=MONTHLY;INTERVAL=2;BYDAY=TU",
        "1997-09: 2 9 16 23 30; 1997-11: 4 11 18 25; 1998-01: 6 13 20 27; 1998-03: 3 10 17 24 31",
    ),
    (
        "19970610",
        "FREQ=YEARLY;COUNT=10;BYMONTH=6,7",
        "1997-06: 10; 1997-07: 10; 1998-06: 10; 1998-07: 10; 1999-06: 10; 1999-07: 10; \
             2000-06: 10; 2000-07: 10; 2001-06: 10; 2001-07: 10",
    ),
    (
        "19970310",
        "FREQ=YEARLY;INTERVAL=2;COUNT=10;BYMONTH=1,2,3",
        "1997-03: 10; 1999-01: 10; 1999-02: 10; 1999-03: 10; 2001-01: 10; 2001-02: 10; \
             2001-03: 10; 2003-01: 10; 2003-02: 10; 2003-03: 10",
    ),
    (
        "19970101",
        "FREQ=YEARLY;INTERVAL=3;COUNT=10;BYYEARDAY=1,100,200",
        "1997-01: 1; 1997-04: 10; 1997-07: 19; 2000-01: 1; 2000-04: 9; 2000-07: 18; \
             2003-01: 1; 2003-04: 10; 2003-07: 19; 2006-01: 1",
    ),
    ("19970519", "FREQ=YEARLY;BYDAY=20MO", "1997-05: 19; 1998-05: 18; 1999-05: 17"),
    ("19970512", "FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO", "1997-05: 12; 1998-05: 11; 1999-05: 17"),
    (
        "19970313",
        "FREQ=YEARLY;BYMONTH=3;BYDAY=TH",
        "1997-03: 13 20 27; 1998-03: 5 12 19 26; 1999-03: 4 11 18 25",
    ),
    (
        "19970605",
        "FREQ=YEARLY;BYDAY=TH;BYMONTH=6,7,8",
        "1997-06: 5 12 19 26; 1997-07: 3 10 17 24 31; 1997-08: 7 14 21 28; 1998-06: 4 11",
    ),
    // The RFC takes the start away with an EXDATE; here it counts.
    (
        "19970902",
        "FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13",
        "1997-09: 2; 1998-02: 13; 1998-03: 13; 1998-11: 13; 1999-08: 13; 2000-10: 13",
    ),
    (
        "19970913",
        "FREQ=MONTHLY;BYDAY=SA;BYMONTHDAY=7,8,9,10,11,12,13",
        "1997-09: 13; 1997-10: 11; 1997-11: 8; 1997-12: 13; 1998-01: 10; 1998-02: 7; \
             1998-03: 7; 1998-04: 11; 1998-05: 9; 1998-06: 13",
    ),
    (
        "19961105",
        "FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8",
        "1996-11: 5; 2000-11: 7; 2004-11: 2",
    ),
    (
        "19970904",
        "FREQ=MONTHLY;COUNT=3;BYDAY=TU,WE,TH;BYSETPOS=3",
        "1997-09: 4; 1997-10: 7; 1997-11: 6",
    ),
    (
        "19970929",
        "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2",
        "1997-09: 29; 1997-10: 30; 1997-11: 27; 1997-12: 30; 1998-01: 29; 1998-02: 26; 1998-03: 30",
    ),
    ("19970805", "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO", "1997-08: 5 10 19 24"),
    ("19970805", "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU", "1997-08: 5 17 19 31"),
    (
        "20070115",
        "FREQ=MONTHLY;BYMONTHDAY=15,30;COUNT=5",
        "2007-01: 15 30; 2007-02: 15; 2007-03: 15 30",
    ),
];

#[test]
fn days_are_those_of_the_rfc() {
    for (start, rule, expected) in CASES {
        let expected: String = expected.split_whitespace().collect::<Vec<_>>().join(" ");
        let most = expected.split([' ', ';']).filter(|word| word.parse::<u8>().is_ok()).count();
        let ends = rule.contains("COUNT") || rule.contains("UNTIL");
        let list = expand(&format!("{start}T090000"), rule, if ends { 1_000 } else { most });
        assert_eq!(days(&list), expected, "{rule} from {start}");
        assert!(list.iter().all(|local| local.hour() == 9 && local.minute() == 0));
    }
}

#[test]
fn long_ones_have_the_right_number() {
    assert_eq!(expand("19970902T090000", "FREQ=DAILY;UNTIL=19971224T000000Z", 999).len(), 113);
    assert_eq!(expand("19970902T090000", "FREQ=WEEKLY;UNTIL=19971224T000000Z", 999).len(), 17);
    let yearly = "FREQ=YEARLY;UNTIL=20000131T140000Z;BYMONTH=1;BYDAY=SU,MO,TU,WE,TH,FR,SA";
    let daily = "FREQ=DAILY;UNTIL=20000131T140000Z;BYMONTH=1";
    let list = expand("19980101T090000", yearly, 999);
    assert_eq!(list.len(), 93);
    assert_eq!(list, expand("19980101T090000", daily, 999));
}

fn times(list: &[DateTime]) -> Vec<String> {
    list.iter().map(|local| local.strftime("%d %H:%M").to_string()).collect()
}

#[test]
fn hours_and_minutes_are_those_of_the_rfc() {
    // Until 17:00 UTC is 13:00 in New York; the RFC's own list forgets the difference.
    let list = expand("19970902T090000", "FREQ=HOURLY;INTERVAL=3;UNTIL=19970902T170000Z", 99);
    assert_eq!(times(&list), ["02 09:00", "02 12:00"]);
    let list = expand("19970902T090000", "FREQ=MINUTELY;INTERVAL=15;COUNT=6", 99);
    assert_eq!(
        times(&list),
        ["02 09:00", "02 09:15", "02 09:30", "02 09:45", "02 10:00", "02 10:15"]
    );
    let list = expand("19970902T090000", "FREQ=MINUTELY;INTERVAL=90;COUNT=4", 99);
    assert_eq!(times(&list), ["02 09:00", "02 10:30", "02 12:00", "02 13:30"]);
    let daily = "FREQ=DAILY;BYHOUR=9,10,11,12,13,14,15,16;BYMINUTE=0,20,40";
    let minutely = "FREQ=MINUTELY;INTERVAL=20;BYHOUR=9,10,11,12,13,14,15,16";
    let list = expand("19970902T090000", daily, 72);
    assert_eq!(times(&list)[22..26], ["02 16:20", "02 16:40", "03 09:00", "03 09:20"]);
    assert_eq!(list, expand("19970902T090000", minutely, 72));
}

#[test]
fn a_rule_is_written_as_it_is_read() {
    for text in [
        "FREQ=DAILY",
        "FREQ=MONTHLY;INTERVAL=2;COUNT=10;BYDAY=1SU,-1SU",
        "FREQ=YEARLY;UNTIL=20000131T140000Z;BYMONTH=1,2;BYWEEKNO=-1,20;BYDAY=MO;WKST=SU",
        "FREQ=YEARLY;UNTIL=20000131;BYYEARDAY=-1,1;BYHOUR=9;BYMINUTE=0,30;BYSECOND=5;BYSETPOS=-1",
    ] {
        assert_eq!(parse(text).unwrap().to_string(), text);
        assert_eq!(parse(&format!("rrule:{}", text.to_lowercase())).unwrap().to_string(), text);
    }
    assert_eq!(TimeZone::UTC.iana_name(), Some("UTC"));
}
