//! How statements and expressions are lowered.

use expect_test::expect;

use super::check;

#[test]
fn the_old_value_of_a_compound_assignment_is_read_before_the_right_side_is_awaited() {
    check(
        r#"
let total = 0;
export async function add() {
  total += await amount();
  counters.hits++;
}
const counters = { hits: 0 };
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up

            3     fn add(), async
            4       total = read shared ::a.ts::total
            4       amount = call '::amount'()
            4       suspend
            4       write blind shared ::a.ts::total from total, amount
            5       hits = read shared ::a.ts::counters.hits
            5       write blind shared ::a.ts::counters.hits from hits
        "#]],
    );
}

#[test]
fn a_local_alias_of_a_field_keeps_its_path() {
    check(
        r#"
class Store {
  async bump(id: string) {
    const graph = this.graph;
    const node = graph.nodes[id];
    node.count = node.count + 1;
    await this.flush(graph);
    delete graph.nodes[id];
    return graph.nodes.length;
  }
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up

            2     fn Store.constructor()

            3     fn Store.bump(id), async
            4       graph = read shared this.graph
            5       node = read shared graph.nodes[id]
            6       count = read shared node.count
            6       write blind shared node.count from count
            7       flush = call 'this.flush'(graph)
            7       suspend
            8       delete shared graph.nodes[id]
            9       length = read shared graph.nodes
            9       return length
        "#]],
    );
}

#[test]
fn objects_that_are_made_here_are_no_state() {
    check(
        r#"
async function build(input: string[]) {
  const seen = {};
  const made = { names: input, count: 0 };
  made.count = input.length;
  seen.first = made;
  return made;
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up

            2     fn build(input), async
            3       seen = new
            4       made = new
            4       made.2 = made from made, input
            5       made.3 = made.2 from made.2, input
            6       seen.2 = seen from seen, made.3
            7       return made.3
        "#]],
    );
}

#[test]
fn branches_join_what_they_assign() {
    check(
        r#"
async function pick(flag: boolean) {
  let file = "a.json";
  if (flag) {
    file = await choose();
  } else if (file === "b.json") {
    throw new Error("no");
  }
  return open(file);
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up

            2     fn pick(flag), async
            3       file = "a.json"
            4       check flag
                    then
            5         file.2 = call '::choose'()
            5         suspend
                    else
            6         check file is "b.json"
                      then
            7           throw
            4       file.3 = derived from file.2, file
            9       open = call '::open'(file.3)
            9       return open
        "#]],
    );
}

#[test]
fn a_loop_carries_what_it_assigns() {
    check(
        r#"
async function retry(job: () => Promise<string>) {
  let delay = 100;
  for (let attempt = 0; attempt < 5; attempt++) {
    try {
      return await job();
    } catch (error) {
      await sleep(delay + Math.random() * 50);
      delay *= 2;
    }
  }
  throw new Error("gave up");
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up

            2     fn retry(job), async
            3       delay = "100"
            4       attempt = "0"
            4       loop a limited number of times
            4         delay.2 = derived from delay, delay.3
            4         attempt.2 = derived from attempt, attempt.3
            4         check attempt.2
                      else
            4           break
            5         try
            6           job.2 = call job()
            6           suspend
            6           return job.2
                      catch error
            8           sleep growing with jitter
            8           suspend
            9           delay.3 = derived from delay.2
            4         attempt.3 = derived from attempt.2
            4       delay.4 = derived from delay, delay.3
            4       attempt.4 = derived from attempt, attempt.3
            12      throw
        "#]],
    );
}

#[test]
fn a_loop_without_a_limit_of_its_own_is_limited_if_it_counts() {
    check(
        r#"
async function until(job) {
  let tries = 0;
  while (true) {
    const done = await job();
    if (done) break;
    if (++tries > 3) throw new Error("no");
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up

            2     fn until(job), async
            3       tries = "0"
            4       loop a limited number of times
            4         tries.2 = derived from tries, tries.3
            5         done = call job()
            5         suspend
            6         check done
                      then
            6           break
            7         tries.3 = derived from tries.2
            7         check tries.2
                      then
            7           throw
            8         settled = new
            8         promise = call fn until.closure(settled)
            8         promise.2 = derived from promise, settled
            8         suspend
            4       tries.4 = derived from tries, tries.3

            8     fn until.closure(resolve)
            8       sleep fixed
            8       return
        "#]],
    );
}

#[test]
fn conditions_name_the_field_that_was_judged() {
    check(
        r#"
async function spend(id: string, amount: number) {
  const account = await accounts.findOne({ id });
  if (!account || account.balance < amount) {
    throw new Error("insufficient");
  }
  const copy = { ...account };
  if (copy.status !== "open" && (await isFrozen(id))) return;
  await accounts.updateOne({ id }, { $inc: { balance: -amount } });
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up

            2     fn spend(id, amount), async
            3       arg = derived from id
            3       account = call '::accounts.findOne'(arg)
            3       suspend
            4       check account
                    then
            4         balance = read shared account.balance
            4       check account, balance, amount
                    then
            5         throw
            7       copy = new
            7       copy.2 = copy from copy, account
            8       status = copy.2.status from copy.2
            8       check status is "open"
                    else
            8         isFrozen = call '::isFrozen'(id)
            8         suspend
            8       check status, isFrozen
                    then
            8         return
            9       arg.2 = derived from id
            9       arg.3 = derived from amount
            9       updateOne = call '::accounts.updateOne'(arg.2, arg.3)
            9       suspend
        "#]],
    );
}

#[test]
fn ways_of_a_choice_hold_their_own_effects() {
    check(
        r#"
async function load(key: string) {
  const cached = cache.get(key) ?? (await fetchIt(key));
  const other = key ? await one() : two();
  this.ready ??= await start();
  return cached && (await finish(cached, other));
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up

            2     fn load(key), async
            3       get = call '::cache.get'(key), not awaited
            3       check get
                    else
            3         fetchIt = call '::fetchIt'(key)
            3         suspend
            3       cached = get from get, fetchIt
            4       check key
                    then
            4         one = call '::one'()
            4         suspend
                    else
            4         two = call '::two'(), not awaited
            4       other = derived from one, two
            5       ready = read shared this.ready
            5       check ready
                    else
            5         start = call '::start'()
            5         suspend
            5         write blind shared this.ready from start
            6       check cached
                    then
            6         finish = call '::finish'(cached, other)
            6         suspend
            6       return cached, finish
        "#]],
    );
}

#[test]
fn what_is_only_told_to_a_log_is_left_out_and_what_its_arguments_do_is_not() {
    check(
        r#"
import { log } from "./log.js";
class Shop {
  #auditLog = open();
  async sell(id: string) {
    console.error(`sold ${id}`, this.stock[id], { id, left: this.stock.left - 1 });
    log("sold", id);
    logWarning(id);
    this.logger?.info("sold", await this.take(id));
    this.#auditLog.debug({ id });
    take().catch((error) => console.error(error));
  }
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up

            3     fn Shop.constructor()
            4       open = call '::open'(), not awaited
            4       write blind shared this.#auditLog from open

            5     fn Shop.sell(id), async
            9       take = call 'this.take'(id)
            9       suspend
            11      spawn
            11        try
            11          take.2 = call '::take'()
            11          suspend
                      catch error
            11          result = call fn Shop.sell.closure(error)

            11    fn Shop.sell.closure(error)
            11      return
        "#]],
    );
}

#[test]
fn what_is_waited_for_or_used_or_no_log_is_a_call() {
    check(
        r#"
export async function sell(id: string, catalog: Catalog) {
  await logger.info(id);
  const written = log.write(id);
  logActivity(id);
  catalog.log(id);
  login(id);
  const console = mine();
  console.log(written);
}
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up

            2     fn sell(id, catalog), async
            3       info = call '::logger.info'(id)
            3       suspend
            4       written = call '::log.write'(id), not awaited
            5       call '::logActivity'(id), not awaited
            6       call 'catalog.log'(id), not awaited
            7       call '::login'(id), not awaited
            8       console = call '::mine'(), not awaited
            9       call 'console.log'(written), not awaited
        "#]],
    );
}
