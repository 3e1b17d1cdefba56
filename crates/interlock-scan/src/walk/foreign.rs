//! Servers in languages that no front end reads, by the manifests of their packages.
//!
//! ```text
//! Cargo.toml           rmcp = "0.8"                     # a server in Rust: a demo in Python beside it says nothing of its tools
//! examples/Cargo.toml  rmcp = "0.8"                     # an example of something else
//! Cargo.toml           rmcp = { features = ["client"] } # a client
//! ```
//!
//! A manifest says that there is a server and not which tools it has: what follows for the grade is decision 290.

use super::names::file_name;

/// How many manifests are read.
pub(super) const MOST: usize = 100;

/// A server in a language that no front end reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnreadServer {
    /// Its manifest.
    pub(crate) file: String,
    /// The language.
    pub(crate) language: &'static str,
}

/// What packages of a language are described in, and what those depend on that are servers.
struct Ecosystem {
    language: &'static str,
    /// The names of manifests; a star stands for any beginning.
    manifests: &'static [&'static str],
    /// What a line says that names the library, without spaces and in small letters.
    libraries: &'static [&'static str],
}

const ECOSYSTEMS: &[Ecosystem] = &[
    Ecosystem {
        language: "Rust",
        manifests: &["Cargo.toml"],
        libraries: &[
            "rmcp=",
            "rmcp.",
            "rust-mcp-sdk=",
            "mcp-server=",
            "mcp-core=",
            "mcp-sdk=",
            "mcp_rust_sdk=",
            "mcpr=",
            "poem-mcpserver=",
            "turbomcp=",
            "turbomcp-server=",
            "pmcp=",
            "mcp-attr=",
            "[dependencies.rmcp]",
        ],
    },
    Ecosystem { language: "C#", manifests: &["*.csproj"], libraries: &["include=\"modelcontextprotocol"] },
    Ecosystem {
        language: "Java or Kotlin",
        manifests: &["pom.xml", "build.gradle", "build.gradle.kts"],
        libraries: &[
            "io.modelcontextprotocol",
            "spring-ai-starter-mcp-server",
            "spring-ai-mcp-server",
            "quarkus-mcp-server",
            "langchain4j-mcp-server",
        ],
    },
    Ecosystem {
        language: "Swift",
        manifests: &["Package.swift"],
        libraries: &["modelcontextprotocol/swift-sdk"],
    },
    Ecosystem {
        language: "Ruby",
        manifests: &["Gemfile", "*.gemspec"],
        libraries: &[
            "'fast-mcp'",
            "\"fast-mcp\"",
            "gem'mcp'",
            "gem\"mcp\"",
            "dependency'mcp'",
            "dependency\"mcp\"",
        ],
    },
    Ecosystem {
        language: "PHP",
        manifests: &["composer.json"],
        libraries: &[
            "\"php-mcp/server\"",
            "\"php-mcp/laravel\"",
            "\"mcp/sdk\"",
            "\"logiscape/mcp-sdk-php\"",
            "\"laravel/mcp\"",
        ],
    },
    Ecosystem { language: "Elixir", manifests: &["mix.exs"], libraries: &["{:hermes_mcp", "{:anubis_mcp"] },
];

/// What folders are called whose packages are not what the tree is for.
const ASIDE: &[&str] = &[
    "example",
    "examples",
    "sample",
    "samples",
    "demo",
    "demos",
    "test",
    "tests",
    "fixtures",
    "testdata",
    "bench",
    "benches",
    "benchmark",
    "benchmarks",
    "vendor",
    "third_party",
    "docs",
    "client",
    "clients",
];

/// Whether a file describes a package in a language that no front end reads.
pub(super) fn is_manifest(name: &str) -> bool {
    ecosystem(name).is_some()
}

/// Whether a file lies where examples and tests do.
pub(super) fn is_aside(path: &str) -> bool {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    folder.split('/').any(|part| ASIDE.contains(&part.to_lowercase().as_str()))
}

fn ecosystem(name: &str) -> Option<&'static Ecosystem> {
    ECOSYSTEMS.iter().find(|known| {
        known.manifests.iter().any(|manifest| match manifest.strip_prefix('*') {
            Some(end) => name.ends_with(end),
            None => *manifest == name,
        })
    })
}

/// The server that a manifest describes, if it depends on a library for one.
pub(crate) fn unread_server(path: &str, text: &str) -> Option<UnreadServer> {
    let known = ecosystem(file_name(path))?;
    let is_server = |line: &str| {
        let line: String = line.chars().filter(|letter| !letter.is_whitespace()).collect();
        let line = line.to_lowercase();
        // Who only calls servers says so.
        let is_client = line.contains("\"client\"") && !line.contains("\"server\"");
        let is_comment = line.starts_with("//") || line.starts_with('#') || line.starts_with("<!--");
        let names = |library: &&str| match library.strip_suffix(['=', '.']) {
            Some(_) => line.starts_with(*library),
            None => line.contains(*library),
        };
        !is_client && !is_comment && known.libraries.iter().any(&names)
    };
    let found = text.lines().any(is_server);
    found.then(|| UnreadServer { file: path.to_owned(), language: known.language })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_in_another_language_is_a_server_if_it_depends_on_a_library_for_one() {
        for (path, text, expected) in [
            (
                "Cargo.toml",
                "[dependencies]\nrmcp = { version = \"0.8\", features = [\"server\"] }\n",
                Some("Rust"),
            ),
            ("a/Cargo.toml", "[dependencies]\nrmcp.workspace = true\n", Some("Rust")),
            ("Cargo.toml", "[dependencies]\nrmcp = { version = \"0.8\", features = [\"client\"] }\n", None),
            ("Cargo.toml", "[dependencies]\ntrmcp = \"1\"\n# rmcp = \"1\"\n", None),
            ("src/A.csproj", "<PackageReference Include=\"ModelContextProtocol.AspNetCore\" />", Some("C#")),
            ("pom.xml", "<groupId>io.modelcontextprotocol.sdk</groupId>", Some("Java or Kotlin")),
            ("Gemfile", "gem 'fast-mcp', '~> 1'", Some("Ruby")),
            ("Gemfile", "gem 'rails'", None),
            ("composer.json", "{ \"require\": { \"php-mcp/server\": \"^1\" } }", Some("PHP")),
            ("package.json", "{ \"dependencies\": { \"rmcp\": \"1\" } }", None),
        ] {
            let found = unread_server(path, text);
            assert_eq!(found.map(|server| server.language), expected, "{path}: {text}");
        }
        assert!(is_aside("crates/examples/Cargo.toml") && !is_aside("crates/examples.toml"));
        assert!(is_manifest("Server.csproj") && !is_manifest("go.mod"));
    }
}
