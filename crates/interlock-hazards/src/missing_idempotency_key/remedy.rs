//! How `missing-idempotency-key` is stopped.

use interlock_model::{IdempotencyKey, KeyPart, KeyTemplate, Primitive, Remedy, Site, ToolPolicy};

use crate::{Example, policies};

/// The site of the page.
pub(super) const EXAMPLE: Example =
    Example { tools: &["charge_order"], readers: &[], keys: &["{args.orderId}"] };

pub(super) fn remedy(site: &Site) -> Remedy {
    // Only a whole argument is sure to be the same when the call is sent again; otherwise the client has to name the key.
    let key = match site.keys.first().map(KeyTemplate::parts) {
        Some([KeyPart::Argument(names)]) => IdempotencyKey::Argument(names.join(".")),
        _ => IdempotencyKey::Meta,
    };
    Remedy {
        code: "Send a key that is the same when the call is sent again: one made from the order, the \
               return or the invitation."
            .into(),
        policy: vec![ToolPolicy { idempotency: Some(key), ..policies::of_tools(site) }],
        primitive: Some(Primitive("idempotency")),
    }
}
