// Writes the list of a server's tools for `cargo xtask reach`, with positions from the TypeScript compiler.
//
// node places.mjs CHECKOUT < LIST, where the compiler is a package named typescript that node finds from the working folder.
// A line of LIST is TOOL, a tab, FILE#FUNCTION. FUNCTION is one of
//   name, Class.method, object.property    a function that has this name, or the last one in what is assigned to it
//   "text"                                 the last function in the call, object or property that begins with, or is named, this string
//   when "text"                            the branch of a switch or an if that compares something with this string
//   anything@LINE                          the same, and it begins on this line; alone, the outermost function that begins there
// What is not found, or found more than once, is an error that names the line; nothing is guessed.
//
// From there the work is followed with the compiler's types: while a body awaits or returns the call of exactly one function of the checkout
// that no more than two of the tools call (so not what formats or checks for many), that function is the place. `=` before FUNCTION stays.

import { readFileSync, readdirSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative } from "node:path";

const ts = createRequire(join(process.cwd(), "x.js"))("typescript");
const checkout = realpathSync(process.argv[2]);
const program = createProgram();
const checker = program.getTypeChecker();
const started = [];

for (const line of readFileSync(0, "utf8").split("\n")) {
  if (!line.trim()) continue;
  const [tool, place] = line.split("\t");
  try {
    started.push({ tool, ...find(place) });
  } catch (error) {
    process.exitCode = 1;
    console.error(`${tool}: ${error.message}`);
  }
}
followAll(started);
for (const entry of started) {
  try {
    console.log(JSON.stringify(written(entry)));
  } catch (error) {
    process.exitCode = 1;
    console.error(error.message);
  }
}

function createProgram() {
  const skipped = new Set(["node_modules", ".git"]);
  const sources = [];
  const paths = {};
  const walk = (folder) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const at = join(folder, entry.name);
      if (entry.isDirectory() && !skipped.has(entry.name)) walk(at);
      else if (/\.([cm]?[jt]s|tsx)$/.test(entry.name) && !/\.(test|spec|min)\.|\.d\.[cm]?ts$/.test(entry.name)) sources.push(at);
      else if (entry.name === "package.json") addPackage(paths, folder, at);
    }
  };
  walk(checkout);
  const options = {
    allowJs: true, noEmit: true, skipLibCheck: true, strict: true, experimentalDecorators: true,
    target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler,
    types: [], paths, baseUrl: checkout,
  };
  // Beside compiled JavaScript a declaration would be found in place of the body.
  const host = ts.createCompilerHost(options);
  const { fileExists } = host;
  host.fileExists = (file) => !(file.startsWith(checkout) && /\.d\.[cm]?ts$/.test(file)) && fileExists(file);
  return ts.createProgram(sources, options, host);
}

// The packages of a monorepo are found by name, in their sources.
function addPackage(paths, folder, file) {
  let name;
  try {
    name = JSON.parse(readFileSync(file, "utf8")).name;
  } catch {
    return;
  }
  if (!name || folder === checkout) return;
  const inside = (path) => join(relative(checkout, folder), path);
  paths[name] = ["src/index.ts", "src/index.js", "index.ts", "index.js"].map(inside);
  paths[`${name}/*`] = ["src/*", "src/*/index.ts", "*"].map(inside);
}

function find(place) {
  const [, file, stay, wanted, at] = /^([^#]+)#(=?)(.*?)(?:@(\d+))?$/.exec(place) ?? [];
  if (file === undefined) throw new Error(`${place} is no FILE#FUNCTION`);
  const source = program.getSourceFile(join(checkout, file));
  if (!source) throw new Error(`there is no source ${file}`);
  let candidates = [];
  visit(source, [], (node, names) => candidates.push(...functionsOf(node, names, wanted)));
  candidates = [...new Set(candidates)].filter((fn) => fn.body);
  const lineOf = (offset) => source.getLineAndCharacterOfPosition(offset).line + 1;
  const begins = (fn) => lineOf((fn.branch ?? fn).getStart(source)) <= Number(at) && lineOf(fn.body.getStart(source)) >= Number(at);
  if (at !== undefined) candidates = candidates.filter(begins);
  if (wanted === "") candidates = candidates.slice(0, 1);
  if (candidates.length !== 1) {
    const lines = candidates.map((fn) => lineOf((fn.branch ?? fn).getStart(source)));
    throw new Error(`${place}: ${candidates.length} functions, on lines ${lines.join(", ")}`);
  }
  return { fn: candidates[0], stay: stay === "=" };
}

function followAll(entries) {
  const callers = new Map();
  for (let round = 0; round < 4; round += 1) {
    const callees = entries.map((entry) => (entry.stay ? [] : calleesOf(entry.fn)));
    callees.forEach((list, index) => {
      for (const fn of list) callers.set(fn, (callers.get(fn) ?? new Set()).add(entries[index].tool));
    });
    entries.forEach((entry, index) => {
      const own = callees[index].filter((fn) => fn !== entry.fn && callers.get(fn).size <= 2);
      if (own.length === 1) entry.fn = own[0];
      else entry.stay = true;
    });
  }
}

// The functions of the checkout to which a body hands the work on, resolved by the compiler.
function calleesOf(fn) {
  const found = new Set();
  const look = (node) => {
    if (ts.isCallExpression(node) && isHandOver(node)) {
      const declaration = checker.getResolvedSignature(node)?.declaration;
      const target = declaration && implementation(declaration);
      if (target && target.getSourceFile().fileName.startsWith(checkout)) found.add(target);
    }
    ts.forEachChild(node, look);
  };
  look(fn.body);
  return [...found];
}

function isHandOver(call) {
  let outer = call.parent;
  while (ts.isParenthesizedExpression(outer) || ts.isAsExpression(outer) || ts.isNonNullExpression(outer)) outer = outer.parent;
  return ts.isAwaitExpression(outer) || ts.isReturnStatement(outer) || ts.isArrowFunction(outer);
}

function implementation(declaration) {
  if (ts.isFunctionLike(declaration) && declaration.body && !ts.isConstructorDeclaration(declaration)) return declaration;
  const overloads = declaration.symbol?.declarations?.filter((other) => ts.isFunctionLike(other) && other.body) ?? [];
  return overloads.length === 1 ? overloads[0] : undefined;
}

function written({ tool, fn }) {
  if (fn.branch) {
    if (!ts.isBlock(fn.body)) throw new Error(`${tool}: the branch is no block, and its work is not in one function`);
    const source = fn.branch.getSourceFile();
    let around = fn.branch;
    while (!ts.isFunctionLike(around)) around = around.parent;
    const place = { tool, file: relative(checkout, source.fileName), function: fullName(around), at: position(source, fn.body.getStart(source)) };
    return isAsync(around) ? { ...place, async: true } : place;
  }
  const source = fn.getSourceFile();
  const line = { tool, file: relative(checkout, source.fileName), function: fullName(fn) };
  line.at = position(source, fn.body.getStart(source));
  if (!ts.isBlock(fn.body)) line.to = position(source, fn.body.getEnd());
  if (isAsync(fn)) line.async = true;
  return line;
}

function isAsync(fn) {
  return fn.modifiers?.some((modifier) => modifier.kind === ts.SyntaxKind.AsyncKeyword) ?? false;
}

function fullName(fn) {
  const own = nameOf(fn) ?? nameOf(fn.parent) ?? "";
  const owner = ts.isClassLike(fn.parent) ? nameOf(fn.parent) : ts.isPropertyDeclaration(fn.parent) ? nameOf(fn.parent.parent) : undefined;
  return owner ? `${owner}.${own}` : own;
}

function visit(node, names, report) {
  report(node, names);
  const name = nameOf(node);
  ts.forEachChild(node, (child) => visit(child, name ? [...names, name] : names, report));
}

function nameOf(node) {
  if (ts.isFunctionLike(node) || ts.isClassLike(node) || ts.isVariableDeclaration(node) || ts.isPropertyAssignment(node) || ts.isPropertyDeclaration(node)) {
    return node.name && (ts.isIdentifier(node.name) || ts.isStringLiteralLike(node.name) || ts.isPrivateIdentifier(node.name)) ? node.name.text : undefined;
  }
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.EqualsToken && ts.isPropertyAccessExpression(node.left)) {
    return node.left.name.text;
  }
  return undefined;
}

function functionsOf(node, names, wanted) {
  if (wanted === "") return ts.isFunctionLike(node) ? [node] : [];
  if (wanted.startsWith('when "')) return branchesOf(node, wanted.slice(6, -1));
  if (wanted.startsWith('"')) return functionsOfText(node, wanted.slice(1, -1));
  const name = nameOf(node);
  if (!name) return [];
  const path = wanted.split(".");
  const full = [...names, name];
  if (full.slice(-path.length).join(".") !== path.join(".")) return [];
  if (ts.isFunctionLike(node)) return [node];
  const value = node.initializer ?? node.right;
  return value ? lastFunction(value) : [];
}

function functionsOfText(node, text) {
  const isText = (child) => child && ts.isStringLiteralLike(child) && child.text === text;
  if (ts.isCallExpression(node) && node.arguments.slice(0, 2).some(isText)) {
    return lastFunction(...node.arguments);
  }
  if (ts.isObjectLiteralExpression(node)) {
    const named = node.properties.some((property) => ts.isPropertyAssignment(property) && property.name.getText().match(/^["']?name["']?$/) && isText(property.initializer));
    if (named) return lastFunction(...node.properties);
  }
  if (ts.isPropertyAssignment(node) && node.name.text === text) return lastFunction(node.initializer);
  return [];
}

// A branch stands in for a function: its block is the body.
function branchesOf(node, text) {
  const isText = (child) => ts.isStringLiteralLike(child) && child.text === text;
  if (ts.isCaseClause(node) && isText(node.expression)) {
    // A label without statements belongs to the next that has some.
    const clauses = node.parent.clauses;
    const clause = clauses.slice(clauses.indexOf(node)).find((one) => one.statements.length > 0);
    return clause ? [clause.statements.length === 1 && ts.isBlock(clause.statements[0]) ? { branch: node, body: clause.statements[0] } : { branch: node, body: clause }] : [];
  }
  const equal = (test) => ts.isBinaryExpression(test) && (test.operatorToken.kind === ts.SyntaxKind.EqualsEqualsEqualsToken && (isText(test.right) || isText(test.left)) || equal(test.left) || equal(test.right));
  if (ts.isIfStatement(node) && equal(node.expression)) return [{ branch: node, body: node.thenStatement }];
  return [];
}

// The function itself, or the last one among the arguments of a call that wraps it.
function lastFunction(...nodes) {
  for (const node of nodes.reverse()) {
    if (ts.isFunctionLike(node)) return [node];
    if (ts.isIdentifier(node) || ts.isPropertyAccessExpression(node) || ts.isShorthandPropertyAssignment(node)) {
      const named = declared(node);
      if (named) return [named];
      continue;
    }
    const inner = node.initializer ?? node.expression;
    if (ts.isCallExpression(node)) {
      const bound = ts.isPropertyAccessExpression(node.expression) && node.expression.name.text === "bind";
      const wrapped = bound ? lastFunction(node.expression.expression) : lastFunction(...node.arguments);
      if (wrapped.length) return wrapped;
    } else if (ts.isObjectLiteralExpression(node)) {
      continue;
    } else if (inner && !ts.isPropertyAccessExpression(node)) {
      const wrapped = lastFunction(inner);
      if (wrapped.length) return wrapped;
    }
  }
  return [];
}

// The function that a name stands for, by the compiler.
function declared(node) {
  let symbol = ts.isShorthandPropertyAssignment(node) ? checker.getShorthandAssignmentValueSymbol(node) : checker.getSymbolAtLocation(node);
  if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
  for (const declaration of symbol?.declarations ?? []) {
    if (ts.isFunctionLike(declaration)) {
      const found = implementation(declaration);
      if (found) return found;
    } else if (declaration.initializer) {
      const [found] = lastFunction(declaration.initializer);
      if (found) return found;
    }
  }
  return undefined;
}

function position(source, offset) {
  const { line, character } = source.getLineAndCharacterOfPosition(offset);
  const start = source.getPositionOfLineAndCharacter(line, 0);
  return [line + 1, Array.from(source.text.slice(start, start + character)).length + 1];
}
