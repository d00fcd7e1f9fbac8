//! All phrases, in Chinese and English: those that are understood, and those that are said.

use crate::project::Locale;

/// Yes, if a preview was shown. Only these, and only whole: nothing else publishes.
pub(super) const CONFIRM: &[&str] = &[
    "confirm",
    "confirmed",
    "i confirm",
    "yes",
    "yes please",
    "yes, confirm",
    "yes, publish",
    "yes, publish it",
    "ok",
    "okay",
    "publish",
    "publish it",
    "apply",
    "apply it",
    "go ahead",
    "do it",
    "确认",
    "我确认",
    "确定",
    "是",
    "是的",
    "好",
    "好的",
    "可以",
    "发布",
    "确认发布",
    "应用",
    "同意",
];

/// To leave off.
pub(super) const CANCEL: &[&str] = &[
    "cancel",
    "cancel it",
    "cancel that",
    "stop",
    "abort",
    "no",
    "no thanks",
    "never mind",
    "nevermind",
    "forget it",
    "discard",
    "quit",
    "取消",
    "取消吧",
    "不",
    "不要",
    "不用了",
    "算了",
    "停止",
    "放弃",
    "否",
];

/// To be told what can be said.
pub(super) const HELP: &[&str] = &[
    "help",
    "?",
    "hi",
    "hello",
    "what can you do",
    "how does this work",
    "帮助",
    "你好",
    "您好",
    "你能做什么",
    "怎么用",
    "使用帮助",
];

/// Words around a request that change nothing, longest first.
pub(super) const POLITE: &[&str] = &["please", "thanks", "thank you", "请", "谢谢", "麻烦"];

/// What is done to a manifest.
pub(super) const CHANGES: &[&str] = &[
    "update", "change", "replace", "publish", "edit", "modify", "revise", "submit", "upload",
    "set", "new", "更新", "修改", "更改", "变更", "替换", "发布", "提交", "上传", "编辑", "改",
    "换",
];

/// What a manifest is called.
pub(super) const MANIFESTS: &[&str] =
    &["manifest", "manifests", "capability", "capabilities", "清单", "声明", "能力", "权限"];

/// What asks to see something.
pub(super) const SHOWS: &[&str] = &[
    "show",
    "list",
    "see",
    "view",
    "which",
    "what",
    "查看",
    "显示",
    "列出",
    "看看",
    "看一下",
    "有哪些",
    "哪些",
    "什么",
    "列表",
];

/// What versions are called.
pub(super) const VERSIONS: &[&str] = &["version", "versions", "history", "版本", "历史"];

/// What agents are called.
pub(super) const AGENTS: &[&str] =
    &["agent", "agents", "bot", "bots", "智能体", "机器人", "代理", "助手"];

/// Is something that the system agent says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    /// What can be said.
    Help,
    /// It did not understand; what can be said.
    NotUnderstood,
    /// Which agent is meant. It is the same for a name that there is not and for somebody else's.
    Which,
    /// Which of several agents is meant.
    WhichOfThese,
    /// Here is the list of agents.
    Agents,
    /// There are no agents.
    NoAgents,
    /// Here is the list of versions.
    Versions,
    /// Here is the form.
    Form,
    /// A manifest came, but nobody knows for which agent.
    ForWhich,
    /// The manifest is not good.
    Refused,
    /// Here is what would change.
    Preview,
    /// Here is what would change, and nobody needs to look at it again.
    Same,
    /// Somebody else published: look again.
    Stale,
    /// It is published.
    Published,
    /// It is published, and its users have to look.
    PublishedToReview,
    /// It was left off.
    Cancelled,
    /// There is nothing to leave off.
    NothingToCancel,
    /// There is nothing to confirm.
    NothingToConfirm,
    /// Another preview than the last was confirmed.
    OldPreview,
    /// What was sent holds a token.
    HoldsToken,
    /// The registry cannot be used right now.
    Unavailable,
}

/// Gives the sentence.
pub(super) fn sentence(says: Says, lang: Locale) -> &'static str {
    let (en, zh) = match says {
        Says::Help => (
            "I look after your agents' capability manifests. You can say: “update DemoBot's capability manifest”, “list my agents”, “show the versions of DemoBot”, “cancel”, “help”.",
            "我负责管理您的智能体的能力清单。您可以说：“更新 DemoBot 的能力清单”、“列出我的智能体”、“查看 DemoBot 的版本”、“取消”、“帮助”。",
        ),
        Says::NotUnderstood => (
            "I did not understand that. You can say: “update DemoBot's capability manifest”, “list my agents”, “show the versions of DemoBot”, “cancel”, “help”.",
            "我没有听懂。您可以说：“更新 DemoBot 的能力清单”、“列出我的智能体”、“查看 DemoBot 的版本”、“取消”、“帮助”。",
        ),
        Says::Which => (
            "I did not find the name of one of your agents in that. Say its name or its id; “list my agents” shows them.",
            "没有找到您名下的这个智能体。请说出它的名称或标识；“列出我的智能体”可以查看全部。",
        ),
        Says::WhichOfThese => (
            "That could be more than one of your agents. Say it again with the id of the one you mean.",
            "您有不止一个符合的智能体。请用要操作的那一个的标识再说一次。",
        ),
        Says::Agents => ("These are your agents.", "这些是您的智能体。"),
        Says::NoAgents => (
            "You have no agents yet. Register one first: POST /agents.",
            "您还没有智能体。请先注册一个：POST /agents。",
        ),
        Says::Versions => ("These are the latest versions.", "这些是最近的版本。"),
        Says::Form => (
            "Paste the manifest into the form, or send it as a message. Nothing is published before you have seen what changes and confirmed it.",
            "请把清单粘贴到表单中，或直接作为消息发送。在您看过变更并确认之前，不会发布任何内容。",
        ),
        Says::ForWhich => (
            "For which agent is this? Say “update DemoBot's capability manifest” with its name first, then send the manifest.",
            "这是哪个智能体的清单？请先说“更新 DemoBot 的能力清单”（换成它的名称），再发送清单。",
        ),
        Says::Refused => (
            "The manifest cannot be used yet; the card says why and where. Send a corrected one, or say “cancel”.",
            "清单暂时无法使用；卡片列出了原因和位置。请发送修改后的清单，或说“取消”。",
        ),
        Says::Preview => (
            "This is what would change. Say “confirm” to publish it, “cancel” to leave it, or send another manifest.",
            "以下是将要发生的变更。说“确认”即发布，说“取消”则放弃，也可以发送另一份清单。",
        ),
        Says::Same => (
            "This manifest is the same as the present version; there is nothing to publish.",
            "这份清单与当前版本相同，无需发布。",
        ),
        Says::Stale => (
            "Meanwhile another version was published, so nothing was done. This is what would change now; say “confirm” if you still want it.",
            "期间已有其他版本发布，因此没有执行任何操作。以下是现在的变更；如仍要发布，请说“确认”。",
        ),
        Says::Published => ("It is published.", "已发布。"),
        Says::PublishedToReview => (
            "It is published. Users who added the agent are told and have to review what changed.",
            "已发布。已添加该智能体的用户会收到通知，并需要重新审阅变更。",
        ),
        Says::Cancelled => ("Left off; nothing was published.", "已取消，没有发布任何内容。"),
        Says::NothingToCancel => ("There is nothing to cancel.", "没有可取消的操作。"),
        Says::NothingToConfirm => (
            "There is nothing to confirm. Say “update DemoBot's capability manifest” with the name of your agent to begin.",
            "没有需要确认的内容。请先说“更新 DemoBot 的能力清单”（换成您的智能体的名称）。",
        ),
        Says::OldPreview => (
            "That preview is not the last one; nothing was done. Confirm the last one, or send the manifest again.",
            "那不是最近一次的预览，没有执行任何操作。请确认最近一次的预览，或重新发送清单。",
        ),
        Says::HoldsToken => (
            "There is a token in what you sent. I did not keep it and did nothing with it; revoke it, and send the manifest without it.",
            "您发送的内容里含有令牌。我没有保存，也没有使用它；请撤销该令牌，并发送不含令牌的清单。",
        ),
        Says::Unavailable => (
            "The registry cannot be used right now, so nothing was done. Try again later.",
            "目前无法使用注册表，没有执行任何操作。请稍后再试。",
        ),
    };
    lang.pick(en, zh)
}
