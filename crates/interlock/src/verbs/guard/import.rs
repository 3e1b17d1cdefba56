//! Upstreams as they stand in a `guard.toml`.

use interlock_guard::policy::{Reach, UpstreamConfig};

/// The tables of these servers.
pub(super) fn written(upstreams: &[UpstreamConfig]) -> String {
    let mut text = String::new();
    for upstream in upstreams {
        text.push_str(&format!("[[upstream]]\nname = {}\n", quoted(&upstream.name)));
        match &upstream.reach {
            Reach::Command { command, env, folder } => {
                let words: Vec<String> = command.iter().map(|word| quoted(word)).collect();
                text.push_str(&format!("command = [{}]\n", words.join(", ")));
                if let Some(folder) = folder {
                    text.push_str(&format!("cwd = {}\n", quoted(&folder.display().to_string())));
                }
                table(&mut text, "env", env.iter());
            }
            Reach::Url { url, headers, ca } => {
                text.push_str(&format!("url = {}\n", quoted(url)));
                if let Some(ca) = ca {
                    text.push_str(&format!("ca = {}\n", quoted(&ca.display().to_string())));
                }
                table(&mut text, "headers", headers.iter());
            }
        }
        text.push('\n');
    }
    text
}

fn table<'a>(text: &mut String, name: &str, entries: impl Iterator<Item = (&'a String, &'a String)>) {
    let entries: Vec<String> =
        entries.map(|(name, value)| format!("{} = {}", quoted(name), quoted(value))).collect();
    if !entries.is_empty() {
        text.push_str(&format!("{name} = {{ {} }}\n", entries.join(", ")));
    }
}

/// A TOML string: JSON's escapes are among those of TOML, but for the one character that JSON leaves as it is.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007F")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use interlock_guard::policy::{Processes, Sharing};

    use super::*;

    #[test]
    fn what_is_written_reads_back_as_it_was() {
        let pairs = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let upstream = |name: &str, reach| UpstreamConfig {
            name: name.to_owned(),
            reach,
            is_required: true,
            prefix: String::new(),
            sharing: Sharing::One,
            processes: Processes::default(),
        };
        let command = vec!["node".to_owned(), "a \"quoted\" \\ path\u{7f}".to_owned()];
        let written = written(&[
            upstream(
                "one",
                Reach::Command { command: command.clone(), env: pairs(&[("A B", "c\n")]), folder: None },
            ),
            upstream(
                "two",
                Reach::Url {
                    url: "https://127.0.0.1/mcp".to_owned(),
                    headers: pairs(&[("x", "y")]),
                    ca: Some("tls/ca.pem".into()),
                },
            ),
        ]);
        let config = interlock_guard::policy::Config::parse(
            "test",
            &written,
            None,
            &super::super::plan::environment(),
        );
        let reaches: Vec<Reach> =
            config.unwrap().upstreams.into_iter().map(|upstream| upstream.reach).collect();
        assert_eq!(
            reaches,
            [
                Reach::Command { command, env: pairs(&[("A B", "c\n")]), folder: None },
                Reach::Url {
                    url: "https://127.0.0.1/mcp".to_owned(),
                    headers: pairs(&[("x", "y")]),
                    ca: Some("tls/ca.pem".into()),
                },
            ]
        );
    }
}
