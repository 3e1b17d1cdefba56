// Compiles trees of sources in the ways that servers are published in: `node compile.mjs PACKAGES`, trees as JSON on stdin, one list of trees for
// each way on stdout. A tree is a list of files; one that a compiler refuses is null.

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const require = createRequire(join(process.argv[2], "package.json"));
const esbuild = require("esbuild");
const ts = require("typescript");

const isSource = ({ path }) => /\.[cm]?[jt]sx?$/.test(path) && !/\.d\.[cm]?ts$/.test(path);
const compiledName = (path) => path.replace(/\.([cm]?)[jt]sx?$/, ".$1js");

/** Compiles each file by itself. */
const each = (compile) => (files) =>
  files.map((file) =>
    isSource(file) ? { path: compiledName(file.path), text: compile(file.text, file.path) } : file,
  );

const typescript = (target, module) =>
  each((text, fileName) => {
    const compilerOptions = { target, module, esModuleInterop: true, experimentalDecorators: true, jsx: ts.JsxEmit.React };
    return ts.transpileModule(text, { fileName, compilerOptions }).outputText;
  });

/** Puts all files into one, packages left outside. CommonJS gets a function around it there, which the scan does not look through. */
const bundle = (files) => {
  if (files.some(({ text }) => /\brequire\(/.test(text))) throw new Error("CommonJS");
  const sources = new Map(files.filter(isSource).map(({ path, text }) => [`/${path}`, text]));
  const find = (from, name) => {
    const path = join(dirname(from), name);
    const endings = ["", ".ts", ".tsx", ".js", "/index.ts", "/index.js"];
    return [...endings.map((ending) => path + ending), path.replace(/js(x?)$/, "ts$1")].find((it) => sources.has(it));
  };
  const entry = [...sources].map(([path, text], number) =>
    /^export /m.test(text) ? `export * as part${number} from ".${path}";` : `import ".${path}";`,
  );
  const plugin = {
    name: "files",
    setup(build) {
      build.onResolve({ filter: /.*/ }, ({ importer, path }) => {
        const found = /^[./]/.test(path) && find(importer.startsWith("/") ? importer : "/entry.js", path);
        return found ? { path: found, namespace: "files" } : { path, external: true };
      });
      build.onLoad({ filter: /.*/, namespace: "files" }, ({ path }) => ({ contents: sources.get(path), loader: /x$/.test(path) ? "tsx" : "ts" }));
    },
  };
  const options = { bundle: true, platform: "node", format: "esm", target: "es2022", write: false, logLevel: "silent" };
  const stdin = { contents: entry.join("\n"), sourcefile: "entry.js", resolveDir: "/" };
  return esbuild
    .build({ ...options, stdin, plugins: [plugin], tsconfigRaw: {} })
    .then(({ outputFiles: [{ text }] }) => [...files.filter((file) => !isSource(file)), { path: "index.js", text }]);
};

const WAYS = {
  "TypeScript to CommonJS": typescript(ts.ScriptTarget.ES2022, ts.ModuleKind.CommonJS),
  "TypeScript to 2019": typescript(ts.ScriptTarget.ES2019, ts.ModuleKind.ES2020),
  "TypeScript to CommonJS of 2015": typescript(ts.ScriptTarget.ES2015, ts.ModuleKind.CommonJS),
  "esbuild to one file": bundle,
};

const trees = JSON.parse(readFileSync(0, "utf8"));
const compiled = {};
for (const [way, compile] of Object.entries(WAYS)) {
  compiled[way] = [];
  for (const tree of trees) {
    compiled[way].push(await Promise.resolve(tree).then(compile).catch(() => null));
  }
}
await esbuild.stop?.();
process.stdout.write(JSON.stringify(compiled));
