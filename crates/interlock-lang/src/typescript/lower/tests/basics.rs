//! Ordinary code.

use expect_test::expect;

use super::check;

#[test]
fn a_class_that_loads_and_saves() {
    check(
        r#"
import * as fs from "node:fs/promises";
class Graph {
  constructor(private path: string) {}
  private async load() {
    const raw = await fs.readFile(this.path, "utf8");
    return JSON.parse(raw);
  }
  async add(entity: Entity) {
    const graph = await this.load();
    if (graph.entities.some((e) => e.name === entity.name)) {
      return graph;
    }
    graph.entities.push(entity);
    await fs.writeFile(this.path, JSON.stringify(graph));
    return graph;
  }
}
export const graph = new Graph("memory.json");
"#,
        expect![[r#"
            a.ts
            1     fn module() at start-up
            19      graph = call 'new ::Graph'("memory.json"), not awaited

            4     fn Graph.constructor(path)
            4       write blind shared this.path from path

            5     fn Graph.load(), async
            6       path = read shared this.path
            6       raw = call '::fs.readFile'(this.path, "utf8")
            6       suspend
            7       parse = call '::JSON.parse'(raw)
            7       return parse

            9     fn Graph.add(entity), async
            10      graph = call 'this.load'()
            10      suspend
            11      some = call 'graph.entities.some'(fn Graph.add.closure with entity), not awaited
            11      check some
                    then
            12        return graph
            14      call 'graph.entities.push'(entity), not awaited
            15      path = read shared this.path
            15      stringify = call '::JSON.stringify'(graph)
            15      writeFile = call '::fs.writeFile'(this.path, stringify)
            15      suspend
            16      return graph

            11    fn Graph.add.closure(e) with entity
            11      name = read shared e.name
            11      name.2 = read shared entity.name
            11      return name, name.2
        "#]],
    );
}
