//! What a file imports, and how something is added to it.

use std::collections::{BTreeMap, BTreeSet};

use oxc_ast::ast::{
    BindingPattern, Expression, ImportDeclaration, ImportDeclarationSpecifier, Program, PropertyKey,
    Statement, VariableDeclaration,
};
use oxc_span::GetSpan;

use super::{expression::last_name, file::File};
use crate::Edit;

/// The names that a file has from other modules.
pub(super) struct Bindings {
    names: BTreeMap<String, Binding>,
    sources: Vec<ImportSite>,
}

/// A name that stands for something of a module.
struct Binding {
    /// The module, without `node:`.
    module: String,
    what: What,
    /// The statement that brings it, in [`Bindings::sources`].
    site: usize,
}

#[derive(PartialEq, Eq)]
enum What {
    /// All of it: `import * as fs`, `import fs`, `const fs = require`.
    Module,
    /// One thing of it, by the name that it has there.
    Named(String),
}

/// A statement that imports.
struct ImportSite {
    /// Where the statement begins.
    start: u32,
    /// Where a further name goes: the beginning and the end of the last one.
    last: Option<(u32, u32)>,
    commonjs: bool,
    node_prefix: bool,
    quote: char,
    semicolon: bool,
}

/// How a function of `fs` is reached where it is called.
pub(super) struct Access {
    /// What stands before the name: `fs.`; nothing where the name itself is imported.
    pub(super) prefix: String,
    /// The name that it has in its module.
    pub(super) name: String,
    /// Whether its promise is waited for; else it blocks.
    pub(super) promises: bool,
    site: usize,
}

/// Names that changes need and the file does not import yet.
#[derive(Clone, Default)]
pub(super) struct Additions {
    /// By import statement.
    names: BTreeMap<usize, BTreeSet<String>>,
    /// The statement in front of which `crypto` is imported.
    crypto: Option<usize>,
    /// Names that changes have made up, each with the function that it stands in.
    made_up: BTreeSet<(Option<u32>, String)>,
}

impl Bindings {
    pub(super) fn of(program: &Program<'_>, text: &str) -> Self {
        let mut bindings = Self { names: BTreeMap::new(), sources: Vec::new() };
        for statement in &program.body {
            match statement {
                Statement::ImportDeclaration(import) if import.import_kind.is_value() => {
                    bindings.import(import, text)
                }
                Statement::VariableDeclaration(declaration) => bindings.require(declaration, text),
                _ => {}
            }
        }
        bindings
    }

    fn import(&mut self, import: &ImportDeclaration<'_>, text: &str) {
        let raw = import.source.raw.map(|raw| raw.to_string()).unwrap_or_default();
        let site = self.site(import.span, &raw, false, text);
        for specifier in import.specifiers.iter().flatten() {
            let (local, what) = match specifier {
                ImportDeclarationSpecifier::ImportSpecifier(named) => {
                    let span = named.span;
                    self.sources
                        .last_mut()
                        .into_iter()
                        .for_each(|site| site.last = Some((span.start, span.end)));
                    if named.import_kind.is_type() {
                        continue;
                    }
                    (&named.local, What::Named(named.imported.name().to_string()))
                }
                ImportDeclarationSpecifier::ImportDefaultSpecifier(all) => (&all.local, What::Module),
                ImportDeclarationSpecifier::ImportNamespaceSpecifier(all) => (&all.local, What::Module),
            };
            let module = module_name(&import.source.value);
            self.names.insert(local.name.to_string(), Binding { module, what, site });
        }
    }

    fn require(&mut self, declaration: &VariableDeclaration<'_>, text: &str) {
        let [declarator] = declaration.declarations.as_slice() else { return };
        let Some((module, raw, part)) = declarator.init.as_ref().and_then(required) else { return };
        let site = self.site(declaration.span, &raw, true, text);
        match &declarator.id {
            BindingPattern::BindingIdentifier(local) => {
                let what = part.map_or(What::Module, What::Named);
                self.names.insert(local.name.to_string(), Binding { module, what, site });
            }
            BindingPattern::ObjectPattern(pattern) if part.is_none() && pattern.rest.is_none() => {
                for property in &pattern.properties {
                    let span = property.span();
                    self.sources
                        .last_mut()
                        .into_iter()
                        .for_each(|site| site.last = Some((span.start, span.end)));
                    if let (PropertyKey::StaticIdentifier(key), BindingPattern::BindingIdentifier(local)) =
                        (&property.key, &property.value)
                    {
                        let what = What::Named(key.name.to_string());
                        self.names
                            .insert(local.name.to_string(), Binding { module: module.clone(), what, site });
                    }
                }
            }
            _ => {}
        }
    }

    fn site(&mut self, span: oxc_span::Span, raw: &str, commonjs: bool, text: &str) -> usize {
        let quote = raw.chars().next().unwrap_or('"');
        let statement = text.get(span.start as usize..span.end as usize).unwrap_or_default();
        self.sources.push(ImportSite {
            start: span.start,
            last: None,
            commonjs,
            node_prefix: raw.get(1..).is_some_and(|raw| raw.starts_with("node:")),
            quote,
            semicolon: statement.ends_with(';'),
        });
        self.sources.len() - 1
    }

    /// The quotes that the file imports with.
    pub(super) fn quote(&self) -> char {
        self.sources.first().map_or('"', |site| site.quote)
    }

    /// How a callee reaches a function of `fs`, or of a module that stands in for it. Functions with callbacks are not among them.
    pub(super) fn file_function(&self, callee: &Expression<'_>) -> Option<Access> {
        let (binding, prefix, name, through_promises) = match callee {
            Expression::Identifier(local) => {
                let binding = self.names.get(local.name.as_str())?;
                let What::Named(name) = &binding.what else { return None };
                (binding, String::new(), name.clone(), false)
            }
            Expression::StaticMemberExpression(member) if !member.optional => {
                let name = member.property.name.to_string();
                match &member.object {
                    Expression::Identifier(local) => {
                        let binding = self.names.get(local.name.as_str())?;
                        let promises = binding.what == What::Named("promises".into());
                        if !promises && binding.what != What::Module {
                            return None;
                        }
                        (binding, format!("{}.", local.name), name, promises)
                    }
                    Expression::StaticMemberExpression(inner) if inner.property.name == "promises" => {
                        let Expression::Identifier(local) = &inner.object else { return None };
                        let binding =
                            self.names.get(local.name.as_str()).filter(|b| b.what == What::Module)?;
                        (binding, format!("{}.promises.", local.name), name, true)
                    }
                    _ => return None,
                }
            }
            _ => return None,
        };
        let synchronous = name.ends_with("Sync");
        let promises = match binding.module.as_str() {
            "fs/promises" => !synchronous,
            "fs-extra" => !synchronous,
            "fs" | "graceful-fs" => through_promises,
            _ => return None,
        };
        (promises || (synchronous && !through_promises)).then_some(Access {
            prefix,
            name,
            promises,
            site: binding.site,
        })
    }

    /// The name under which a function of the same import is called.
    fn local_of(&self, site: usize, name: &str) -> Option<&str> {
        let is = |binding: &Binding| binding.site == site && binding.what == What::Named(name.into());
        self.names.iter().find(|(_, binding)| is(binding)).map(|(local, _)| local.as_str())
    }

    /// A statement that imports some names of a module, and may import more.
    fn named_from(&self, module: &str) -> Option<usize> {
        let of_module = |binding: &&Binding| binding.module == module && binding.what != What::Module;
        let mut sites = self.names.values().filter(of_module).map(|binding| binding.site);
        sites.find(|site| self.sources.get(*site).is_some_and(|site| site.last.is_some()))
    }

    /// How a random name is made with what is imported already.
    fn random(&self) -> Option<String> {
        self.names.iter().filter(|(_, binding)| binding.module == "crypto").find_map(|(local, binding)| {
            match &binding.what {
                What::Module => Some(format!("{local}.randomUUID()")),
                What::Named(name) => (name == "randomUUID").then(|| format!("{local}()")),
            }
        })
    }
}

impl Additions {
    /// How some sibling functions of a known one are called, and how a random name is made. `None` where a name is taken.
    pub(super) fn siblings<const N: usize>(
        &mut self,
        file: &File<'_, '_>,
        access: &Access,
        names: [&str; N],
    ) -> Option<([String; N], String)> {
        let bindings = &file.bindings;
        let mut missing = BTreeSet::new();
        let calls = names.map(|name| {
            if !access.prefix.is_empty() {
                return format!("{}{name}", access.prefix);
            }
            bindings.local_of(access.site, name).map(str::to_owned).unwrap_or_else(|| {
                missing.insert(name.to_owned());
                name.to_owned()
            })
        });
        let random = bindings.random();
        let taken = missing.iter().any(|name| file.declared.contains(name))
            || (random.is_none() && file.declared.contains("randomUUID"));
        if taken {
            return None;
        }
        self.names.entry(access.site).or_default().extend(missing);
        let random = random.unwrap_or_else(|| {
            match bindings.named_from("crypto") {
                Some(site) => {
                    self.names.entry(site).or_default().insert("randomUUID".to_owned());
                }
                None => {
                    self.crypto.get_or_insert(access.site);
                }
            }
            "randomUUID()".to_owned()
        });
        Some((calls, random))
    }

    /// A name that the file does not have yet: the wanted one, or that with a number. Two functions may each have it.
    pub(super) fn fresh(&mut self, file: &File<'_, '_>, function: Option<u32>, wanted: &str) -> String {
        let numbered = (2..).map(|number| format!("{wanted}{number}"));
        let free = |name: &String| {
            !file.declared.contains(name) && !self.made_up.contains(&(function, name.clone()))
        };
        let name = std::iter::once(wanted.to_owned()).chain(numbered).find(free).unwrap_or_default();
        self.made_up.insert((function, name.clone()));
        name
    }

    /// The changes that bring the names in.
    pub(super) fn edits(&self, file: &File<'_, '_>) -> Vec<Edit> {
        let sites = &file.bindings.sources;
        let mut edits = Vec::new();
        for (site, names) in &self.names {
            let Some((start, end)) = sites.get(*site).and_then(|site| site.last) else { continue };
            // One name to a line stays one name to a line.
            let indent = file.indent(start);
            let line_start = start as usize - indent.len();
            let alone = file.text.get(..line_start).is_some_and(|before| before.ends_with('\n'))
                && !indent.is_empty();
            let gap = if alone { format!(",{}{indent}", file.layout.newline) } else { ", ".to_owned() };
            let text: String = names.iter().map(|name| format!("{gap}{name}")).collect();
            if !text.is_empty() {
                edits.push(Edit::insert(end, text));
            }
        }
        edits.extend(self.crypto.and_then(|site| sites.get(site)).map(|site| import_crypto(file, site)));
        edits
    }
}

/// A line of its own in front of the import of files, in that one's style.
fn import_crypto(file: &File<'_, '_>, site: &ImportSite) -> Edit {
    let ImportSite { quote, .. } = site;
    let module = if site.node_prefix { "node:crypto" } else { "crypto" };
    let semicolon = if site.semicolon { ";" } else { "" };
    let newline = file.layout.newline;
    let line = if site.commonjs {
        format!("const {{ randomUUID }} = require({quote}{module}{quote}){semicolon}{newline}")
    } else {
        format!("import {{ randomUUID }} from {quote}{module}{quote}{semicolon}{newline}")
    };
    Edit::insert(site.start, format!("{line}{}", file.indent(site.start)))
}

/// What `require("x")` or `require("x").y` names: the module, how it is written, and the part.
fn required(init: &Expression<'_>) -> Option<(String, String, Option<String>)> {
    let (call, part) = match init {
        Expression::CallExpression(call) => (call, None),
        Expression::StaticMemberExpression(member) => match &member.object {
            Expression::CallExpression(call) => (call, Some(member.property.name.to_string())),
            _ => return None,
        },
        _ => return None,
    };
    let ("require", [argument]) = (last_name(&call.callee)?, call.arguments.as_slice()) else { return None };
    let Some(Expression::StringLiteral(source)) = argument.as_expression() else { return None };
    let raw = source.raw.map(|raw| raw.to_string()).unwrap_or_default();
    Some((module_name(&source.value), raw, part))
}

fn module_name(source: &str) -> String {
    source.strip_prefix("node:").unwrap_or(source).to_owned()
}
