use super::*;

#[test]
fn the_sentences_that_answer_are_taken_and_cited() {
    let first = "Landlock is a Linux security module that confines a process. Cats sleep for most of the day.";
    let second = "Bread is made of flour and water in most places. A Landlock ruleset restricts which files a process may open.";
    let documents = [Document { number: 1, text: first }, Document { number: 2, text: second }];
    let summary = write(&documents, "how does landlock confine a process", &["landlock"]);
    assert_eq!(
        summary.text,
        "Landlock is a Linux security module that confines a process. [1]\n\n\
         A Landlock ruleset restricts which files a process may open. [2]"
    );
    assert_eq!(summary.cited, [1, 2]);
}

#[test]
fn chinese_is_summarised_as_well() {
    let text = "沙箱机制限制进程可以访问的文件。今天的天气非常好我们去公园。内核从五点十三版开始支持这种沙箱机制。";
    let summary = write(&[Document { number: 1, text }], "沙箱机制", &["内核"]);
    assert_eq!(
        summary.text,
        "沙箱机制限制进程可以访问的文件。 [1] 内核从五点十三版开始支持这种沙箱机制。 [1]"
    );
}

#[test]
fn what_is_said_twice_is_taken_once() {
    let text = "Landlock confines a process on Linux systems.";
    let documents = [Document { number: 1, text }, Document { number: 2, text }];
    assert_eq!(write(&documents, "landlock process", &[]).cited, [1]);
}

#[test]
fn keywords_weigh_more_than_other_words() {
    let text = "The apple of the question is a common fruit here. The banana of the question is a common fruit here.";
    let documents = [Document { number: 1, text }];
    let candidates = write(&documents, "apple", &["banana"]);
    assert!(candidates.text.contains("banana"));
    let mut scored: Vec<Candidate<'_>> = sentences(text)
        .into_iter()
        .map(|sentence| Candidate {
            number: 1,
            place: 0,
            sentence,
            words: words(sentence),
            score: 0.0,
        })
        .collect();
    score(&mut scored, &terms("apple", &["banana"]));
    assert!(scored[1].score > scored[0].score);
}

#[test]
fn a_summary_has_its_most_sentences_and_no_more() {
    let pages: Vec<String> = (0..10)
        .map(|page| {
            (0..9)
                .map(|n| {
                    format!(
                        "Landlock fact{page}x{n} about thing{page}y{n} and matter{n}z{page} here. "
                    )
                })
                .collect()
        })
        .collect();
    let documents: Vec<Document<'_>> =
        pages.iter().enumerate().map(|(at, text)| Document { number: at + 1, text }).collect();
    let all = write(&documents, "landlock", &[]);
    assert_eq!(all.text.matches(" [").count(), SENTENCES);
    let one = write(&documents[..1], "landlock", &[]);
    assert_eq!(one.text.matches(" [").count(), OF_ONE_PAGE);
}

#[test]
fn nothing_is_made_of_nothing() {
    let documents = [Document { number: 1, text: "Cats sleep for most of the day." }];
    let summary = write(&documents, "landlock", &[]);
    assert_eq!((summary.text.as_str(), summary.cited.len()), ("", 0));
}
