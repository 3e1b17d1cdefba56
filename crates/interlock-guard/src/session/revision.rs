//! The protocol's revisions and what differs between them.

/// The newest revision that begins with a handshake.
pub(crate) const HANDSHAKE: &str = "2025-11-25";
/// The first that does not.
pub(crate) const STATELESS: &str = "2026-07-28";
/// The only one with batches.
pub(crate) const BATCHES: &str = "2025-03-26";
/// Revisions with a handshake, newest first.
pub(crate) const WITH_HANDSHAKE: [&str; 4] = [HANDSHAKE, "2025-06-18", BATCHES, "2024-11-05"];

/// What the header `Mcp-Name` repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named {
    /// `params.name`.
    Name,
    /// `params.uri`.
    Uri,
    /// `params.taskId`, in the extension for tasks.
    Task,
}

/// Whether a revision has no handshake. Revisions are dates, so later ones are greater.
pub(crate) fn is_stateless(version: &[u8]) -> bool {
    let is_date =
        version.len() == STATELESS.len() && version.iter().all(|byte| byte.is_ascii_digit() || *byte == b'-');
    is_date && version >= STATELESS.as_bytes()
}

/// Whether the first revision without a handshake took a method out of the protocol.
pub(crate) fn is_removed(method: &str) -> bool {
    matches!(
        method,
        "initialize" | "ping" | "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe"
    )
}

/// Whether a method is one of those that want no answer.
pub(crate) fn is_notification(method: &str) -> bool {
    method.starts_with("notifications/")
}

/// Whether clients of a revision send a notification. What comes after the newest revision that is known here is judged by that one.
pub(crate) fn has_notification(version: &str, method: &str) -> bool {
    match method {
        "notifications/cancelled" => true,
        "notifications/initialized" | "notifications/progress" | "notifications/roots/list_changed" => {
            !is_stateless(version.as_bytes())
        }
        "notifications/tasks/status" => version >= HANDSHAKE && !is_stateless(version.as_bytes()),
        _ => false,
    }
}

/// Whether a request only opens a conversation or keeps it open.
pub(crate) fn greets(method: &str) -> bool {
    matches!(method, "initialize" | "ping" | "server/discover")
}

/// Whether a request is one of those that rules for tools are about.
pub(crate) fn is_about_tools(method: &str) -> bool {
    matches!(method, "tools/call" | "tools/list")
}

/// Whether a request lists or listens, and makes a server do nothing else.
pub(crate) fn only_lists(method: &str) -> bool {
    matches!(
        method,
        "prompts/list"
            | "resources/list"
            | "resources/templates/list"
            | "tasks/list"
            | "subscriptions/listen"
    )
}

/// What a method is named by.
pub(crate) fn named_by(method: &str) -> Option<Named> {
    match method {
        "tools/call" | "prompts/get" => Some(Named::Name),
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => Some(Named::Uri),
        "tasks/get" | "tasks/update" | "tasks/cancel" => Some(Named::Task),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_send_the_notifications_of_their_revision_and_no_others() {
        let [initialized, status] = ["notifications/initialized", "notifications/tasks/status"];
        for (version, sends) in [
            ("2024-11-05", [true, true, false]),
            (BATCHES, [true, true, false]),
            (HANDSHAKE, [true, true, true]),
            (STATELESS, [true, false, false]),
            ("2031-01-01", [true, false, false]),
        ] {
            let asked = ["notifications/cancelled", initialized, status];
            assert_eq!(asked.map(|method| has_notification(version, method)), sends, "{version}");
            for method in ["tools/call", "notifications/message", "notifications/tools/list_changed", ""] {
                assert!(!has_notification(version, method), "{version}: {method}");
            }
        }
    }
}
