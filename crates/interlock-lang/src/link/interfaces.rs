//! Which classes can be used as which interfaces, where classes do not say it themselves: by the methods that they have.

use std::collections::BTreeSet;

use interlock_model::ir::{AccessPath, Name, Root};
use rustc_hash::FxHashMap;

use crate::module::{Class, Interface};

/// How many types one embeds or interfaces one is made of, itself included.
const MOST: usize = 32;

/// Says of every class which interfaces it fulfils.
pub(super) fn fulfil(classes: &mut [Class], interfaces: &[Interface]) {
    if interfaces.is_empty() {
        return;
    }
    let by_name: FxHashMap<&str, &Interface> = interfaces.iter().map(|it| (&*it.name, it)).collect();
    let methods: Vec<BTreeSet<Name>> = method_sets(classes, &by_name);
    let mut having: FxHashMap<&Name, Vec<usize>> = FxHashMap::default();
    for (class, methods) in methods.iter().enumerate() {
        for method in methods {
            having.entry(method).or_default().push(class);
        }
    }
    let mut fulfilled: Vec<(usize, Name)> = vec![];
    for interface in interfaces {
        let demanded = demands(interface, &by_name);
        // Only those can fulfil it that have the method which the fewest have.
        let rarest = demanded.iter().map(|method| having.get(method).map_or(&[][..], Vec::as_slice));
        let Some(candidates) = rarest.min_by_key(|classes| classes.len()) else { continue };
        for class in candidates {
            if methods.get(*class).is_some_and(|methods| demanded.is_subset(methods)) {
                fulfilled.push((*class, interface.name.clone()));
            }
        }
    }
    for (class, interface) in fulfilled {
        if let Some(class) = classes.get_mut(class) {
            class.implements.push(AccessPath::global(interface));
        }
    }
}

/// The global that a path is.
fn global(path: &AccessPath) -> Option<&str> {
    match (&path.root, path.fields.as_slice()) {
        (Root::Global(name), []) => Some(name),
        _ => None,
    }
}

/// All methods that an interface demands, those of what it embeds included.
fn demands(interface: &Interface, by_name: &FxHashMap<&str, &Interface>) -> BTreeSet<Name> {
    let mut all = BTreeSet::new();
    let (mut pending, mut seen) = (vec![interface], vec![&*interface.name]);
    while let Some(next) = pending.pop() {
        all.extend(next.methods.iter().cloned());
        for embedded in next.embeds.iter().filter_map(global).filter_map(|name| by_name.get(name)) {
            if seen.len() < MOST && !seen.contains(&&*embedded.name) {
                seen.push(&embedded.name);
                pending.push(embedded);
            }
        }
    }
    all
}

/// All methods that each class has, those of what it embeds included.
fn method_sets(classes: &[Class], interfaces: &FxHashMap<&str, &Interface>) -> Vec<BTreeSet<Name>> {
    let by_name: FxHashMap<&str, &Class> = classes.iter().map(|class| (&*class.name, class)).collect();
    let set = |class: &Class| {
        let mut all = BTreeSet::new();
        let (mut pending, mut seen) = (vec![class], vec![&*class.name]);
        while let Some(next) = pending.pop() {
            all.extend(next.methods.iter().map(|(name, _)| name.clone()));
            for base in next.bases.iter().filter_map(global) {
                if let Some(interface) = interfaces.get(base) {
                    all.extend(demands(interface, interfaces));
                }
                if let Some(embedded) = by_name.get(base)
                    && seen.len() < MOST
                    && !seen.contains(&&*embedded.name)
                {
                    seen.push(&embedded.name);
                    pending.push(embedded);
                }
            }
        }
        all
    };
    classes.iter().map(set).collect()
}
