//! What the guard says of itself as a protected resource (RFC 9728): which it is, and who gives out tokens for it.

use http::Uri;

use super::{file::JwtTable, read::Reader, upstream::http_url};

/// Where the document is, on the host of the resource: the path of the resource goes behind it.
pub(crate) const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// A protected resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// Its identifier: the URL by which clients reach the guard.
    pub identifier: String,
    /// The issuers of authorization servers that give out tokens for it.
    pub servers: Vec<String>,
    /// The scopes that rules ask for.
    pub scopes: Vec<String>,
}

impl Resource {
    /// Where its document is.
    #[must_use]
    pub fn metadata_url(&self) -> String {
        let (origin, path) = self.parts();
        format!("{origin}{WELL_KNOWN}{path}")
    }

    /// Whether a request for this path is for its document: the whole path, or without that of the resource, as clients try in turn.
    #[must_use]
    pub fn is_at(&self, path: &str) -> bool {
        path.strip_prefix(WELL_KNOWN).is_some_and(|rest| rest.is_empty() || rest == self.parts().1)
    }

    /// Its document.
    #[must_use]
    pub fn document(&self) -> String {
        let mut document = serde_json::json!({
            "resource": self.identifier,
            "authorization_servers": self.servers,
            "bearer_methods_supported": ["header"],
        });
        if let (false, Some(document)) = (self.scopes.is_empty(), document.as_object_mut()) {
            document.insert("scopes_supported".into(), self.scopes.clone().into());
        }
        document.to_string()
    }

    /// Scheme and host, and the path without a slash at its end.
    fn parts(&self) -> (&str, &str) {
        let behind = self.identifier.find("://").map_or(0, |at| at + 3);
        let path = self.identifier.get(behind..).and_then(|rest| rest.find('/')).map(|at| behind + at);
        let (origin, path) = self.identifier.split_at(path.unwrap_or(self.identifier.len()));
        (origin, path.trim_end_matches('/'))
    }
}

impl Reader<'_> {
    pub(super) fn resource(&mut self, table: &JwtTable) -> Option<Resource> {
        let Some(at) = &table.resource else {
            if let Some(servers) = &table.authorization_servers {
                self.wrong(
                    servers,
                    "this is told together with `resource`: write the URL of this guard there",
                );
            }
            return None;
        };
        let identifier = at.get();
        let is_plain = |uri: &Uri| uri.query().is_none() && !identifier.contains(['#', '"', '\\']);
        if !http_url(identifier).is_ok_and(|uri| is_plain(&uri)) {
            self.wrong(at, "this is no URL of a guard: write `https://HOST/mcp`, without a query");
        }
        let servers = match &table.authorization_servers {
            Some(servers) => servers.get().0.iter().map(|word| word.text.clone()).collect(),
            None => vec![table.issuer.get().clone()],
        };
        if servers.iter().any(|server| http_url(server).is_err()) {
            let why =
                "an authorization server is told by its URL: write `authorization_servers = \"https://…\"`";
            self.wrong(at, why);
        }
        Some(Resource { identifier: identifier.clone(), servers, scopes: Vec::new() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(identifier: &str) -> Resource {
        Resource {
            identifier: identifier.into(),
            servers: vec!["https://issuer.example".into()],
            scopes: vec![],
        }
    }

    #[test]
    fn the_document_is_between_host_and_path() {
        let of = |identifier: &str| resource(identifier).metadata_url();
        assert_eq!(of("https://a.example/mcp"), "https://a.example/.well-known/oauth-protected-resource/mcp");
        assert_eq!(of("https://a.example/"), "https://a.example/.well-known/oauth-protected-resource");
        assert_eq!(of("http://a.example:8080"), "http://a.example:8080/.well-known/oauth-protected-resource");
        let one = resource("https://a.example/x/mcp/");
        assert!(one.is_at("/.well-known/oauth-protected-resource/x/mcp"));
        assert!(one.is_at("/.well-known/oauth-protected-resource"));
        assert!(!one.is_at("/.well-known/oauth-protected-resource/other") && !one.is_at("/x/mcp/"));
    }

    #[test]
    fn the_document_says_who_gives_out_tokens() {
        let document = resource("https://a.example/mcp").document();
        let document: serde_json::Value = serde_json::from_str(&document).unwrap();
        assert_eq!(document["resource"], "https://a.example/mcp");
        assert_eq!(document["authorization_servers"][0], "https://issuer.example");
        assert_eq!(document["bearer_methods_supported"][0], "header");
        assert!(document.get("scopes_supported").is_none(), "no rule asks for one");
        let scoped = Resource { scopes: vec!["tools.write".into()], ..resource("https://a.example/mcp") };
        let document: serde_json::Value = serde_json::from_str(&scoped.document()).unwrap();
        assert_eq!(document["scopes_supported"], serde_json::json!(["tools.write"]));
    }
}
