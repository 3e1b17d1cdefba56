//! A ledger with a payment provider beside it that a test can look into and make misbehave.

use serde_json::{Value, json};

use crate::{
    backends::State,
    kit::{Client, Said, Server},
};

pub(crate) struct Provider(pub(crate) Server);

pub(crate) struct Shop {
    pub(crate) provider: Provider,
    pub(crate) ledger: Server,
    pub(crate) client: Client,
    _state: State,
}

impl Provider {
    pub(crate) fn start() -> Self {
        Self(Server::start(&["payment-provider"]))
    }

    pub(crate) fn url(&self) -> &str {
        &self.0.url
    }

    pub(crate) async fn misbehave(&self, faults: Value) {
        let told = http().post(format!("{}/faults", self.url())).json(&faults).send().await.unwrap();
        assert!(told.status().is_success());
    }

    pub(crate) async fn charges(&self) -> usize {
        let charges = http().get(format!("{}/charges", self.url())).send().await.unwrap();
        charges.json::<Vec<Value>>().await.unwrap().len()
    }

    /// Waits until somebody has been charged.
    pub(crate) async fn has_charged(&self) {
        while self.charges().await == 0 {
            tokio::task::yield_now().await;
        }
    }
}

impl Shop {
    pub(crate) async fn open(backend: &str, options: &[&str]) -> Self {
        let (state, provider) = (State::new(backend), Provider::start());
        let usual = ["ledger", "--seed", "--listen", "127.0.0.1:0"];
        let places = ["--state", &state.url, "--payments", provider.url()];
        let ledger = Server::start(&[&usual[..], &places, options].concat());
        let client = ledger.client().await;
        Self { provider, ledger, client, _state: state }
    }

    pub(crate) async fn process(&self) -> Said {
        self.client.call("process_order", order()).await
    }

    pub(crate) async fn status(&self) -> String {
        let order = self.client.call("get_order", json!({ "orderId": "order-1" })).await.unwrap();
        order["status"].as_str().unwrap().to_owned()
    }
}

/// The order that every seeded ledger has.
pub(crate) fn order() -> Value {
    json!({ "orderId": "order-1", "userId": "alice", "paymentMethodId": "card" })
}

fn http() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().build().expect("a client can be made")
}
