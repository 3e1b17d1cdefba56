//! The official Rust SDK on both sides of the guard.

use std::{borrow::Cow, collections::BTreeMap, net::SocketAddr, sync::Arc};

use interlock_guard::{
    listen::Options,
    policy::{Reach, Sharing},
};
use rmcp::{
    ClientLifecycleMode, ClientServiceExt, ErrorData, Peer, RoleClient, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
        PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
    transport::{
        StreamableHttpClientTransport,
        streamable_http_server::{
            StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
        },
    },
};

use crate::kit::{engine, listening, upstream};

/// Adds numbers, in these revisions.
#[derive(Clone)]
struct Adder(&'static [ProtocolVersion]);

/// All that the SDK has.
const BOTH: &[ProtocolVersion] = ProtocolVersion::KNOWN_VERSIONS;
const WITHOUT_HANDSHAKE: &[ProtocolVersion] = &[ProtocolVersion::V_2026_07_28];
const WITH_HANDSHAKE: &[ProtocolVersion] = &[ProtocolVersion::V_2025_11_25];

impl ServerHandler for Adder {
    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(self.0)
    }

    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = serde_json::from_str(r#"{"type":"object"}"#).unwrap();
        Ok(ListToolsResult::with_all_items(vec![Tool::new("add", "adds", Arc::new(schema))]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let sum: i64 = arguments.values().filter_map(serde_json::Value::as_i64).sum();
        Ok(CallToolResult::success(vec![ContentBlock::text(sum.to_string())]).into())
    }
}

async fn server(versions: &'static [ProtocolVersion]) -> SocketAddr {
    let service = StreamableHttpService::new(
        move || Ok(Adder(versions)),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = axum::Router::new().nest_service("/mcp", service);
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

async fn guard(versions: &'static [ProtocolVersion]) -> SocketAddr {
    // The SDK's HTTP client insists on one, also where there is no TLS.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let address = server(versions).await;
    let reach = Reach::Url { url: format!("http://{address}/mcp"), headers: BTreeMap::new(), ca: None };
    listening(engine(vec![upstream("adder", "", reach, Sharing::One)]), Options::default()).await
}

async fn add(client: &Peer<RoleClient>) {
    assert_eq!(client.list_all_tools().await.unwrap().len(), 1);
    let calls = (0..50_i64).map(|n| async move {
        let arguments = serde_json::json!({ "a": n, "b": 1000 }).as_object().cloned().unwrap();
        let call = CallToolRequestParams::new("add").with_arguments(arguments);
        let result = client.call_tool(call).await.unwrap();
        assert_eq!(result.content[0].as_text().unwrap().text, (n + 1000).to_string());
    });
    futures_util::future::join_all(calls).await;
}

async fn with_handshake(guard: SocketAddr) {
    let transport = StreamableHttpClientTransport::from_uri(format!("http://{guard}/mcp"));
    let client = ().serve_with_lifecycle(transport, ClientLifecycleMode::Initialize).await.unwrap();
    add(client.peer()).await;
    client.cancel().await.unwrap();
}

async fn without_handshake(guard: SocketAddr) {
    let transport = StreamableHttpClientTransport::from_uri(format!("http://{guard}/mcp"));
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    let mode = ClientLifecycleMode::Discover { preferred_versions };
    let client = ().serve_with_lifecycle(transport, mode).await.unwrap();
    add(client.peer()).await;
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn its_client_and_its_server_work_through_the_guard_with_a_handshake() {
    with_handshake(guard(BOTH).await).await;
    with_handshake(guard(WITH_HANDSHAKE).await).await;
}

#[tokio::test]
async fn its_client_and_its_server_work_through_the_guard_without_a_handshake() {
    without_handshake(guard(BOTH).await).await;
    without_handshake(guard(WITHOUT_HANDSHAKE).await).await;
}

#[tokio::test]
async fn its_client_with_a_handshake_works_in_front_of_its_server_without_one() {
    with_handshake(guard(WITHOUT_HANDSHAKE).await).await;
}

#[tokio::test]
async fn its_client_without_a_handshake_works_in_front_of_its_server_with_one() {
    without_handshake(guard(WITH_HANDSHAKE).await).await;
}
