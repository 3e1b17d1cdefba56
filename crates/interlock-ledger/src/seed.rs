//! Something to play with: `--seed`.

use std::sync::Arc;

use interlock_sync::store::{Change, Content, Expect, Store};

use crate::{
    Log,
    answer::Status,
    audit::Call,
    book::Book,
    caller::Caller,
    refusal::Refusal,
    rows::{ACCOUNT, DOCUMENT, FILE, FileRow, ORDER, OrderRow, content, key},
};

/// Makes `alice` with 100 credits and `bob` with none, alice's order `order-1`, the document `doc-1`, and the file `file-1` of the caller.
/// What is there already stays as it is.
///
/// # Errors
///
/// When the store cannot be asked. What was made by then stays, and seeding again makes the rest.
pub async fn seed(store: Arc<dyn Store>, log: Log, caller: &Caller) -> Result<(), Refusal> {
    let book = Book::new(store, log);
    let order =
        OrderRow { user: "alice".into(), amount: 25, status: Status::Pending, charge: None, doubt: None };
    let rows = [
        (ACCOUNT, "alice", Content::Number(100)),
        (ACCOUNT, "bob", Content::Number(0)),
        (ORDER, "order-1", content(&order)?),
        (DOCUMENT, "doc-1", Content::Bytes(b"The first document.".to_vec())),
        (FILE, "file-1", content(&FileRow { owner: caller.to_string() })?),
    ];
    let call = Call { caller: caller.clone(), tool: "--seed" };
    for (kind, id, content) in rows {
        let key = key(kind, id)?;
        if book.get(&key).await?.is_none() {
            // Another process may seed at the same time; whoever is second leaves what the first has made.
            book.change(&call, Change::Put { key, expect: Expect::Absent, content }, None).await?;
        }
    }
    Ok(())
}
