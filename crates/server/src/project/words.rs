//! The words of cards, in the languages there are.

use serde::{Deserialize, Serialize};

use super::hints::{Label, Shows};
use super::output::Status;

/// Is a language.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Locale {
    /// English.
    #[default]
    En,
    /// Chinese.
    Zh,
}

impl Locale {
    /// Reads a language tag such as `zh-CN`; what is not Chinese gets English.
    #[must_use]
    pub fn parse(tag: &str) -> Self {
        let language = tag.trim().split(['-', '_']).next().unwrap_or_default();
        if language.eq_ignore_ascii_case("zh") { Self::Zh } else { Self::En }
    }

    /// Gives the tag that a card carries.
    #[must_use]
    pub fn tag(self) -> &'static str {
        self.pick("en", "zh-CN")
    }

    /// Chooses between the two.
    pub(crate) fn pick<T>(self, en: T, zh: T) -> T {
        match self {
            Self::En => en,
            Self::Zh => zh,
        }
    }
}

/// Gives what stands above a card.
pub(super) fn heading(action: Shows, status: Status, locale: Locale) -> &'static str {
    let (done, failed) = match action {
        Shows::CalendarRead => (("Calendar", "日历"), ("Calendar not read", "无法读取日历")),
        Shows::CalendarCreate => {
            (("Event created", "日程已创建"), ("Event not created", "日程未创建"))
        }
        Shows::CalendarUpdate => {
            (("Event updated", "日程已更新"), ("Event not updated", "日程未更新"))
        }
        Shows::CalendarDelete => {
            (("Event deleted", "日程已删除"), ("Event not deleted", "日程未删除"))
        }
        Shows::CalendarShare => {
            (("Event shared", "日程已共享"), ("Event not shared", "日程未共享"))
        }
        Shows::CalendarAcceptInvite => {
            (("Invitation accepted", "已接受邀请"), ("Invitation not accepted", "未能接受邀请"))
        }
        Shows::CalendarRejectInvite => {
            (("Invitation declined", "已拒绝邀请"), ("Invitation not declined", "未能拒绝邀请"))
        }
        Shows::ContactsRead => (("Contacts", "联系人"), ("Contacts not read", "无法读取联系人")),
        Shows::MemoryUpdate => {
            (("Memory updated", "记忆已更新"), ("Memory not updated", "记忆未更新"))
        }
        Shows::SystemForm => {
            let form = ("Update a capability manifest", "更新能力清单");
            (form, form)
        }
        Shows::SystemPreview => (
            ("What would change", "变更预览"),
            ("The manifest cannot be used yet", "清单暂时无法使用"),
        ),
        Shows::SystemPublish => {
            (("Manifest published", "清单已发布"), ("Manifest not published", "清单未发布"))
        }
        Shows::SystemAgents => {
            (("Your agents", "您的智能体"), ("Agents not read", "无法读取智能体"))
        }
        Shows::SystemVersions => (("Versions", "版本"), ("Versions not read", "无法读取版本")),
    };
    let (en, zh) = if status == Status::Failure { failed } else { done };
    locale.pick(en, zh)
}

/// Gives what stands before a fact.
pub(super) fn label(label: Label, locale: Locale) -> &'static str {
    let (en, zh) = match label {
        Label::When => ("When", "时间"),
        Label::Where => ("Where", "地点"),
        Label::Repeats => ("Repeats", "重复"),
        Label::Notes => ("Notes", "备注"),
        Label::Owner => ("From", "发起人"),
        Label::Invitation => ("Answer", "答复"),
        Label::Permission => ("May", "权限"),
        Label::Outcome => ("Now", "结果"),
        Label::Scope => ("Applies to", "范围"),
        Label::Withdrawn => ("Invitations withdrawn", "已撤回的邀请"),
        Label::Warning => ("Please check", "请注意"),
        Label::Email => ("Mail", "邮箱"),
        Label::Phone => ("Phone", "电话"),
        Label::Organisation => ("Organisation", "单位"),
        Label::User => ("User", "用户"),
        Label::Facts => ("Facts remembered", "已记住的条目"),
        Label::Message => ("Reason", "原因"),
        Label::Code => ("Code", "代码"),
        Label::Id => ("Id", "标识"),
        Label::Version => ("Version", "版本"),
        Label::Hash => ("Hash", "哈希"),
        Label::Size => ("Bytes", "字节数"),
        Label::Published => ("Published", "发布时间"),
        Label::Kind => ("Kind", "类别"),
        Label::Change => ("Change", "变更"),
        Label::Place => ("Where", "位置"),
        Label::Advice => ("What to do", "建议"),
    };
    locale.pick(en, zh)
}

/// Gives the translation of a word of a result, if there is one.
pub(super) fn word(word: &str, locale: Locale) -> Option<&'static str> {
    let (en, zh) = match word {
        "pending" => ("waiting for an answer", "待答复"),
        "accepted" => ("accepted", "已接受"),
        "rejected" => ("declined", "已拒绝"),
        "view" => ("view", "查看"),
        "edit" => ("edit", "编辑"),
        "invited" => ("invited", "已邀请"),
        "updated" => ("changed", "已更改"),
        "unchanged" => ("unchanged", "未变"),
        "withdrawn" => ("withdrawn", "已撤回"),
        "absent" => ("was not there", "原本不存在"),
        "created" => ("remembered", "已记住"),
        "replaced" => ("replaced", "已替换"),
        "appended" => ("added to", "已补充"),
        "removed" => ("forgotten", "已删除"),
        "this" => ("this occurrence", "仅此次"),
        "following" => ("this and all following", "此次及以后"),
        "all" => ("the whole event", "全部"),
        "breaking" => ("breaking", "不兼容变更"),
        "consent" => ("users must see it first", "需要用户重新确认"),
        "breaking_consent" => {
            ("breaking, and users must see it first", "不兼容变更，且需要用户重新确认")
        }
        "non_breaking" => ("compatible", "兼容变更"),
        "error" => ("error", "错误"),
        "warning" => ("warning", "警告"),
        "note" => ("note", "提示"),
        "nothing_published" => ("nothing published yet", "尚未发布"),
        "UNKNOWN_ACTION" => ("UNKNOWN_ACTION", "没有此操作（UNKNOWN_ACTION）"),
        "INVALID_ACTION_INPUT" => ("INVALID_ACTION_INPUT", "输入有误（INVALID_ACTION_INPUT）"),
        "NOT_FOUND" => ("NOT_FOUND", "未找到（NOT_FOUND）"),
        "FORBIDDEN" => ("FORBIDDEN", "无权执行（FORBIDDEN）"),
        "CONFLICT" => ("CONFLICT", "内容已被更改（CONFLICT）"),
        "LIMIT_EXCEEDED" => ("LIMIT_EXCEEDED", "超出上限（LIMIT_EXCEEDED）"),
        _ => return None,
    };
    Some(locale.pick(en, zh))
}

/// Says where something stands in a text.
pub(super) fn place(
    line: Option<u32>,
    column: Option<u32>,
    pointer: &str,
    locale: Locale,
) -> String {
    let pointer = if pointer.is_empty() { locale.pick("the whole", "整体") } else { pointer };
    match (line, column, locale) {
        (Some(line), Some(column), Locale::En) => {
            format!("line {line}, column {column}, {pointer}")
        }
        (Some(line), Some(column), Locale::Zh) => {
            format!("第 {line} 行，第 {column} 列，{pointer}")
        }
        _ => pointer.to_owned(),
    }
}

/// Says that there is nothing.
pub(super) fn nothing(locale: Locale) -> &'static str {
    locale.pick("Nothing found", "没有内容")
}

/// Says that only a part was done.
pub(super) fn partly(locale: Locale) -> &'static str {
    locale.pick("Only a part was done", "仅完成了一部分")
}

/// Says how many more there are.
pub(super) fn more(count: usize, locale: Locale) -> String {
    match locale {
        Locale::En => format!("and at least {count} more"),
        Locale::Zh => format!("另有至少 {count} 项"),
    }
}

/// Says how often something happens: `FREQ=WEEKLY;INTERVAL=2` is every 2 weeks.
pub(super) fn rule(rule: &str, locale: Locale) -> String {
    let parts = rule.split(';').filter_map(|part| part.split_once('='));
    let (mut unit, mut every, mut rest) = (None, 1_u32, Vec::new());
    for (name, value) in parts {
        match name {
            "FREQ" => unit = unit_of(value),
            "INTERVAL" => every = value.parse().unwrap_or(1),
            _ => rest.push(format!("{name}={value}")),
        }
    }
    let Some((one, many, zh)) = unit else { return rule.to_owned() };
    let said = match (locale, every) {
        (Locale::En, 1) => format!("every {one}"),
        (Locale::En, _) => format!("every {every} {many}"),
        (Locale::Zh, 1) => format!("每{zh}"),
        (Locale::Zh, _) => format!("每 {every} {zh}"),
    };
    if rest.is_empty() { said } else { format!("{said} ({})", rest.join(", ")) }
}

fn unit_of(frequency: &str) -> Option<(&'static str, &'static str, &'static str)> {
    Some(match frequency {
        "YEARLY" => ("year", "years", "年"),
        "MONTHLY" => ("month", "months", "月"),
        "WEEKLY" => ("week", "weeks", "周"),
        "DAILY" => ("day", "days", "天"),
        "HOURLY" => ("hour", "hours", "小时"),
        "MINUTELY" => ("minute", "minutes", "分钟"),
        "SECONDLY" => ("second", "seconds", "秒"),
        _ => return None,
    })
}
