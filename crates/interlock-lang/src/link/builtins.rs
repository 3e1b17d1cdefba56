//! What the language itself offers: the methods of maps, sets, lists and text, and the functions that make names.

use interlock_model::ir::{AccessPath, Fresh, Root, Term};

use super::meaning::Meaning;
use crate::{Arg, Shape};

/// What a method of a collection does to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Does {
    /// Looks up the entry of a key.
    Get,
    /// Asks whether there is an entry.
    Has,
    /// Sets the entry of a key.
    Set,
    /// Adds an entry that is its own key.
    Add,
    /// Removes the entry of a key.
    Delete,
    /// Removes all.
    Clear,
    /// Adds at an end.
    Push,
    /// Takes from an end.
    Take,
    /// Puts in and takes out at a place that the caller has worked out.
    Splice,
    /// Puts all of it in another order or sets all of it.
    Rearrange,
    /// Looks at all of it.
    Look,
    /// Hands each entry to a function.
    Each,
}

/// What a method does, by its name.
pub(super) fn does(method: &str) -> Option<Does> {
    Some(match method {
        "get" => Does::Get,
        "has" => Does::Has,
        "set" => Does::Set,
        "add" => Does::Add,
        "delete" => Does::Delete,
        "clear" => Does::Clear,
        "push" | "unshift" => Does::Push,
        "pop" | "shift" => Does::Take,
        "splice" => Does::Splice,
        "fill" | "copyWithin" | "reverse" => Does::Rearrange,
        "sort" => Does::Rearrange,
        "values" | "keys" | "entries" | "slice" | "concat" | "join" | "flat" | "at" | "includes"
        | "indexOf" | "lastIndexOf" | "toSorted" | "toReversed" | "toSpliced" => Does::Look,
        "forEach" | "map" | "filter" | "find" | "findLast" | "findIndex" | "findLastIndex" | "some"
        | "every" | "reduce" | "reduceRight" | "flatMap" => Does::Each,
        _ => return None,
    })
}

/// Whether a method is called like one of a collection.
pub(super) fn is_method(method: &str) -> bool {
    does(method).is_some()
}

/// Methods that text has as well, so that an unknown receiver is as likely no state at all.
pub(super) fn is_also_of_text(method: &str) -> bool {
    matches!(method, "slice" | "concat" | "at" | "includes" | "indexOf" | "lastIndexOf" | "join")
}

/// A method that only computes something from its receiver; `true` where the result is named like the receiver.
pub(super) fn computes(method: &str) -> Option<bool> {
    Some(match method {
        "toString" | "trim" | "toISOString" | "getTime" | "valueOf" | "toJSON" | "trimEnd" | "trimStart"
        | "normalize" | "toFixed" => true,
        "toLowerCase" | "toUpperCase" | "split" | "replace" | "replaceAll" | "startsWith" | "endsWith"
        | "padStart" | "padEnd" | "substring" | "substr" | "charAt" | "charCodeAt" | "codePointAt"
        | "match" | "matchAll" | "test" | "repeat" | "localeCompare" | "toLocaleString"
        | "toLocaleDateString" | "toLocaleTimeString" | "getFullYear" | "getMonth" | "getDate"
        | "getHours" | "getMinutes" | "getSeconds" | "getMilliseconds" | "setDate" | "search"
        | "hasOwnProperty" | "toPrecision" | "getTimezoneOffset" | "toUTCString" | "toDateString"
        | "isArray" => false,
        _ => return None,
    })
}

/// A function that hands back one of its arguments, or something that is named like it.
pub(super) fn passes_on(library: &str, path: &str) -> Option<usize> {
    match (library, path) {
        (
            "",
            "String" | "Number" | "BigInt" | "Promise.resolve" | "Object.freeze" | "Object.seal" | "Promise"
            | "URL",
        )
        | ("path" | "path/posix", "normalize" | "posix.normalize")
        | ("url", "fileURLToPath" | "pathToFileURL")
        | ("util", "promisify") => Some(0),
        _ => None,
    }
}

/// What a function of the language returns.
pub(super) fn result<'f>(path: &str) -> Meaning<'f> {
    match path {
        "URL"
        | "URLSearchParams"
        | "Headers"
        | "FormData"
        | "AbortController"
        | "TextEncoder"
        | "TextDecoder"
        | "Request"
        | "Response"
        | "fetch"
        | "Proxy"
        | "Intl.DateTimeFormat"
        | "Intl.NumberFormat" => Meaning::Foreign,
        "Date" | "RegExp" | "Error" | "TypeError" | "JSON.stringify" | "String" | "Number" | "Date.now"
        | "encodeURIComponent" | "decodeURIComponent" | "parseInt" | "parseFloat" | "Buffer.from" => {
            Meaning::Plain
        }
        "Object.keys" | "Object.values" | "Object.entries" | "Array.from" | "Array.of" => {
            Meaning::Collection(super::meaning::Collection::List)
        }
        _ => Meaning::Unknown,
    }
}

/// What a function of the language or of one of its small libraries yields, where it is one that only makes a name.
pub(super) fn name(library: &str, path: &str, arguments: &[Arg]) -> Option<Term> {
    let first = || arguments.first().map_or(Term::Unknown, term);
    Some(match (library, path) {
        (
            "path" | "path/posix" | "path/win32" | "upath" | "pathe",
            "join" | "resolve" | "posix.join" | "posix.resolve",
        ) => joined(arguments),
        ("path" | "path/posix" | "upath" | "pathe", "dirname" | "posix.dirname") => {
            Term::Parent(Box::new(first()))
        }
        ("os", "tmpdir") | ("temp-dir" | "temp-dir/index", "") => Term::TempDir,
        ("os", "homedir") => AccessPath::global("os::homedir").into(),
        ("", "process.cwd") => AccessPath::global("process").field("cwd").into(),
        ("crypto", "randomUUID" | "randomBytes" | "randomInt" | "webcrypto.randomUUID")
        | (
            "",
            "crypto.randomUUID" | "Math.random" | "globalThis.crypto.randomUUID" | "crypto.getRandomValues",
        )
        | ("nanoid" | "nanoid/non-secure", _)
        | ("uuid", "v1" | "v4" | "v6" | "v7" | "")
        | (
            "uuid/v4"
            | "cuid"
            | "ulid"
            | "@paralleldrive/cuid2"
            | "crypto-random-string"
            | "uniqid"
            | "shortid",
            _,
        ) => Term::Fresh(Fresh::Random),
        ("", "Date.now" | "Date" | "performance.now" | "process.hrtime" | "process.hrtime.bigint") => {
            if arguments.is_empty() {
                Term::Fresh(Fresh::Time)
            } else {
                first()
            }
        }
        _ => match passes_on(library, path) {
            Some(argument) => arguments.get(argument).map_or(Term::Unknown, term),
            None => return None,
        },
    })
}

/// What an argument is called.
pub(super) fn term(arg: &Arg) -> Term {
    match (&arg.term, &arg.shape) {
        (Term::Unknown, Shape::Text(parts)) => match parts.as_slice() {
            [] => "".into(),
            [part] => part.clone(),
            parts => Term::Join(parts.to_vec()),
        },
        (Term::Unknown, Shape::Number(number)) => Term::Literal(number.to_string().into()),
        (term, _) => term.clone(),
    }
}

/// A path that is put together, a slash between its parts.
fn joined(arguments: &[Arg]) -> Term {
    let mut parts = vec![];
    for (number, argument) in arguments.iter().enumerate() {
        let part = match term(argument) {
            // What a list spread into the call adds is not known.
            Term::Literal(text) if number > 0 => Term::Literal(text.trim_start_matches("./").into()),
            part => part,
        };
        if number > 0 {
            parts.push("/".into());
        }
        match part {
            Term::Join(inner) => parts.extend(inner),
            part => parts.push(part),
        }
    }
    match parts.len() {
        0 => Term::Unknown,
        1 => parts.pop().unwrap_or(Term::Unknown),
        _ => Term::Join(parts),
    }
}

/// A name that the language has for what differs from process to process.
pub(super) fn fresh(path: &AccessPath) -> Option<Term> {
    let Root::Global(root) = &path.root else { return None };
    match (&**root, path.fields.as_slice()) {
        ("process", [interlock_model::ir::Field::Name(field)]) if matches!(&**field, "pid" | "ppid") => {
            Some(Term::Fresh(Fresh::ProcessId))
        }
        ("process::pid", []) => Some(Term::Fresh(Fresh::ProcessId)),
        _ => None,
    }
}

/// Whether a function of the language only computes something: nothing of it has to be kept but what it depends on.
pub(super) fn is_pure(path: &str) -> bool {
    // What ends the process is worth knowing: nothing behind it runs.
    if matches!(path, "process.exit" | "process.abort") {
        return false;
    }
    let root = path.split('.').next().unwrap_or(path);
    matches!(
        root,
        "JSON"
            | "Math"
            | "Number"
            | "String"
            | "Boolean"
            | "Array"
            | "Object"
            | "BigInt"
            | "Symbol"
            | "Date"
            | "RegExp"
            | "Buffer"
            | "Intl"
            | "Reflect"
            | "Error"
            | "TypeError"
            | "RangeError"
            | "SyntaxError"
            | "AggregateError"
            | "parseInt"
            | "parseFloat"
            | "isNaN"
            | "isFinite"
            | "structuredClone"
            | "encodeURIComponent"
            | "URL"
            | "decodeURIComponent"
            | "encodeURI"
            | "decodeURI"
            | "URLSearchParams"
            | "Headers"
            | "FormData"
            | "TextEncoder"
            | "TextDecoder"
            | "AbortController"
            | "AbortSignal"
            | "Promise"
            | "console"
            | "performance"
            | "btoa"
            | "atob"
            | "Uint8Array"
            | "Int32Array"
            | "Float64Array"
            | "Float32Array"
            | "ArrayBuffer"
            | "SharedArrayBuffer"
            | "DataView"
            | "Blob"
            | "File"
            | "Event"
            | "WeakRef"
            | "Proxy"
            | "process"
            | "crypto"
    )
}

/// Libraries whose functions only compute.
pub(super) fn is_pure_library(library: &str) -> bool {
    matches!(
        library,
        "path"
            | "path/posix"
            | "path/win32"
            | "url"
            | "querystring"
            | "util"
            | "crypto"
            | "os"
            | "zod"
            | "zod/v3"
            | "zod/v4"
            | "chalk"
            | "semver"
            | "picocolors"
            | "kleur"
            | "ansi-colors"
            | "dayjs"
            | "date-fns"
            | "ms"
            | "diff"
            | "minimatch"
            | "picomatch"
            | "micromatch"
            | "js-yaml"
            | "yaml"
            | "marked"
            | "he"
            | "qs"
            | "mime-types"
            | "string-width"
    )
}
