//! What an isolation level promises, engine by engine.

use interlock_model::ir::Isolation;

use super::format::Engine;

/// What a transaction promises that does not say it.
pub(super) fn default_of(engine: Option<Engine>) -> Isolation {
    match engine {
        Some(Engine::Postgres | Engine::Mysql) => Isolation::ReadCommitted,
        // A transaction that has read cannot write any more when another has written since, whatever that was.
        Some(Engine::Sqlite) => Isolation::Serializable,
        // The same, of what both write.
        Some(Engine::Mongo) => Isolation::FirstUpdaterWins,
        Some(Engine::Redis) => Isolation::SingleWriter,
        None => Isolation::Unknown,
    }
}

/// What a level promises, in whatever spelling: `ISOLATION LEVEL REPEATABLE READ`, `RepeatableRead`, `immediate`.
pub(super) fn named(name: &str, engine: Option<Engine>) -> Isolation {
    let plain: String =
        name.chars().filter(char::is_ascii_alphabetic).collect::<String>().to_ascii_lowercase();
    let says = |level: &str| plain.contains(level);
    match engine {
        _ if says("serializable") => Isolation::Serializable,
        _ if says("snapshot") => Isolation::FirstUpdaterWins,
        Some(Engine::Postgres) if says("repeatableread") => Isolation::FirstUpdaterWins,
        // Its writes see rows that its reads do not.
        Some(Engine::Mysql) if says("repeatableread") => Isolation::ReadCommitted,
        _ if says("repeatableread") => Isolation::Unknown,
        _ if says("readcommitted") || says("readuncommitted") => Isolation::ReadCommitted,
        _ if says("immediate") || says("exclusive") => Isolation::SingleWriter,
        engine => default_of(engine),
    }
}
