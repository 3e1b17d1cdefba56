//! Orders of calls. Equal calls are interchangeable: of the orders that differ only in them, one is run and stands for all.

use interlock_model::{CallSet, Oracle};

/// Of more calls than this there are too many orders: such sets are held against one, as they are written.
const MOST: usize = 4;

/// Every order of all calls, one of each kind.
pub(super) fn full(set: &CallSet) -> Vec<Vec<usize>> {
    if set.oracle == Oracle::SomeRefused {
        // Only how long a call takes by itself has to be known.
        return vec![vec![0]];
    }
    if set.calls.len() > MOST {
        return vec![(0..set.calls.len()).collect()];
    }
    orders(set, &(0..set.calls.len()).collect::<Vec<_>>())
}

/// Every order of every proper subset, one of each kind. The order without any call is among them.
pub(super) fn partial(set: &CallSet) -> Vec<Vec<usize>> {
    let count = set.calls.len();
    if count > MOST {
        // Copies of one request are held against one of them.
        return if set.oracle == Oracle::Once { vec![Vec::new(), vec![0]] } else { vec![Vec::new()] };
    }
    let subsets = 0..(1_u32 << count) - 1;
    let mut found: Vec<Vec<usize>> = Vec::new();
    for subset in subsets {
        let calls: Vec<usize> = (0..count).filter(|index| subset & (1 << index) != 0).collect();
        found.extend(orders(set, &calls));
    }
    found.retain(|order| *order == representative(set, order));
    found
}

fn orders(set: &CallSet, calls: &[usize]) -> Vec<Vec<usize>> {
    if calls.is_empty() {
        return vec![Vec::new()];
    }
    let mut found = Vec::new();
    for (at, first) in calls.iter().enumerate() {
        let rest: Vec<usize> =
            calls.iter().enumerate().filter(|(index, _)| *index != at).map(|(_, call)| *call).collect();
        for mut order in orders(set, &rest) {
            order.insert(0, *first);
            if order == representative_within(set, &order, calls) {
                found.push(order);
            }
        }
    }
    found
}

/// The order with the same calls in it where of equal calls the first ones are used, in their order.
fn representative(set: &CallSet, order: &[usize]) -> Vec<usize> {
    let all: Vec<usize> = (0..set.calls.len()).collect();
    representative_within(set, order, &all)
}

fn representative_within(set: &CallSet, order: &[usize], among: &[usize]) -> Vec<usize> {
    let mut used = Vec::new();
    for index in order {
        let equal = |candidate: &usize| set.calls.get(*candidate) == set.calls.get(*index);
        let free =
            among.iter().filter(|candidate| equal(candidate)).find(|candidate| !used.contains(*candidate));
        used.push(*free.unwrap_or(index));
    }
    used
}

/// The orders that one stands for, each with the place from which every call's answer is taken.
pub(super) fn twins(set: &CallSet, order: &[usize]) -> Vec<(Vec<usize>, Vec<Option<usize>>)> {
    if set.calls.len() > MOST {
        return vec![(order.to_vec(), (0..set.calls.len()).map(Some).collect())];
    }
    let mut found: Vec<Vec<usize>> = vec![Vec::new()];
    for index in order {
        let mut longer = Vec::new();
        for prefix in &found {
            let equal = (0..set.calls.len()).filter(|other| set.calls.get(*other) == set.calls.get(*index));
            for other in equal.filter(|other| !prefix.contains(other)) {
                let mut prefix = prefix.clone();
                prefix.push(other);
                longer.push(prefix);
            }
        }
        found = longer;
    }
    let places = |twin: &Vec<usize>| {
        let from =
            |call: usize| twin.iter().position(|index| *index == call).and_then(|at| order.get(at).copied());
        (0..set.calls.len()).map(from).collect()
    };
    found.into_iter().map(|twin| (twin.clone(), places(&twin))).collect()
}

#[cfg(test)]
mod tests {
    use interlock_model::PlannedCall;
    use serde_json::json;

    use super::*;

    fn set(numbers: &[i32]) -> CallSet {
        let calls = numbers.iter().map(|n| PlannedCall::new("add", json!({ "n": n }))).collect();
        CallSet { calls, ..CallSet::default() }
    }

    #[test]
    fn every_order_of_different_calls_is_run() {
        assert_eq!(full(&set(&[1, 2])).len(), 2);
        assert_eq!(full(&set(&[1, 2, 3, 4])).len(), 24);
        // None, three alone, six pairs.
        assert_eq!(partial(&set(&[1, 2, 3])).len(), 10);
    }

    #[test]
    fn equal_calls_are_run_once_and_stand_for_each_other() {
        assert_eq!(full(&set(&[1, 1])), [[0, 1]]);
        assert_eq!(partial(&set(&[1, 1])), [vec![], vec![0]]);
        assert_eq!(full(&set(&[1, 1, 2])).len(), 3);
        let twins = twins(&set(&[1, 1]), &[0, 1]);
        assert_eq!(twins, [(vec![0, 1], vec![Some(0), Some(1)]), (vec![1, 0], vec![Some(1), Some(0)])]);
    }

    #[test]
    fn of_many_calls_only_one_order_is_run() {
        let many = set(&[1; 100]);
        assert_eq!(full(&many), [(0..100).collect::<Vec<_>>()]);
        assert_eq!(partial(&many), [Vec::<usize>::new()]);
        assert_eq!(twins(&many, &full(&many)[0]).len(), 1);
    }

    #[test]
    fn what_is_run_and_what_it_stands_for_are_all_orders() {
        for numbers in [&[1, 1, 2][..], &[1, 2, 1, 2], &[1, 1, 1, 1], &[1, 2, 3, 3]] {
            let set = set(numbers);
            let mut all: Vec<Vec<usize>> =
                full(&set).iter().flat_map(|order| twins(&set, order)).map(|(order, _)| order).collect();
            let count = all.len();
            all.sort();
            all.dedup();
            assert_eq!(all.len(), count, "{numbers:?}: none twice");
            assert_eq!(count, (1..=numbers.len()).product::<usize>(), "{numbers:?}");
        }
    }
}
