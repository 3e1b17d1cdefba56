//! The only file that names the parser: from text to the [syntax](super::ast) that lowering looks at.
//!
//! The parser goes on behind what it does not understand and does not recurse; what nests deeper than anybody writes is left out here, so
//! that nothing behind has to count.

use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, Parser, Tree};

use super::ast::{
    Call, Case, Element, Expr, FieldSpec, File, For, Function, If, Import, Kind, Name, Parameter, Place,
    Receiver, Stmt, StmtKind, Switch, Type, TypeSpec, Variables,
};

/// So deep nobody writes.
const DEEPEST: u32 = 150;
/// Bigger files are generated.
const BIGGEST: usize = 4 << 20;
/// How often the parser may report progress before it is stopped; it does so every hundred steps or so.
const MOST_STEPS: usize = 400_000;

/// A file after parsing: what could be read of it, and what could not.
#[derive(Debug, Default)]
pub(super) struct Read<'a> {
    pub(super) file: File<'a>,
    /// Where something could not be read, and why.
    pub(super) trouble: Vec<(u32, String)>,
}

/// Parses a file.
pub(super) fn parse(text: &str) -> Read<'_> {
    let mut reader = Reader { text, trouble: vec![] };
    if text.len() > BIGGEST {
        reader.trouble.push((0, "larger than anything that is written by hand; left out".to_owned()));
        return Read { file: File::default(), trouble: reader.trouble };
    }
    let Some(tree) = tree(text) else {
        reader.trouble.push((0, "cannot be read in reasonable time; left out".to_owned()));
        return Read { file: File::default(), trouble: reader.trouble };
    };
    let root = tree.root_node();
    if root.has_error() {
        let at = first_error(root);
        reader.trouble.push((at, "cannot be read here; what is left out is around it".to_owned()));
    }
    let file = reader.file(root);
    Read { file, trouble: reader.trouble }
}

fn tree(text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_go::LANGUAGE.into()).ok()?;
    let mut steps = 0;
    let mut stop = |_: &tree_sitter::ParseState| {
        steps += 1;
        if steps > MOST_STEPS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut stop);
    let bytes = text.as_bytes();
    parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options))
}

/// Where the first thing stands that could not be read, found without recursion.
fn first_error(root: Node<'_>) -> u32 {
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        if node.is_error() || node.is_missing() {
            return offset(node.start_byte());
        }
        if node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return 0;
            }
        }
    }
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

fn place(node: Node<'_>) -> Place {
    (offset(node.start_byte()), offset(node.end_byte()))
}

fn named(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).filter(|child| child.kind() != "comment").collect()
}

fn fields<'t>(node: Node<'t>, name: &str) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.children_by_field_name(name, &mut cursor).filter(Node::is_named).collect()
}

struct Reader<'a> {
    text: &'a str,
    trouble: Vec<(u32, String)>,
}

impl<'a> Reader<'a> {
    fn text(&self, node: Node<'_>) -> &'a str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    fn name(&self, node: Node<'_>) -> Name<'a> {
        Name { at: place(node), text: self.text(node) }
    }

    /// Whether something may nest one deeper; what may not is left out.
    fn too_deep(&mut self, node: Node<'_>, depth: u32) -> bool {
        let deep = depth > DEEPEST;
        if deep && self.trouble.len() < 32 {
            self.trouble.push((offset(node.start_byte()), "nested too deep; left out".to_owned()));
        }
        deep
    }

    fn file(&mut self, root: Node<'_>) -> File<'a> {
        let mut file = File::default();
        for node in named(root) {
            match node.kind() {
                "package_clause" => {
                    file.package = named(node).first().map_or("", |name| self.text(*name));
                }
                "import_declaration" => {
                    let lists = named(node);
                    let specs = lists.into_iter().flat_map(|node| match node.kind() {
                        "import_spec_list" => named(node),
                        _ => vec![node],
                    });
                    for spec in specs {
                        let Some(path) = spec.child_by_field_name("path") else { continue };
                        let path = self.text(path).trim_matches(['"', '`']);
                        let name = spec.child_by_field_name("name").map(|name| self.text(name));
                        file.imports.push(Import { name, path });
                    }
                }
                "function_declaration" | "method_declaration" => {
                    let function = self.function(node, 0);
                    file.functions.push(function);
                }
                "type_declaration" => {
                    let types = self.types(node, 0);
                    file.types.extend(types);
                }
                "var_declaration" | "const_declaration" => {
                    let variables = self.variables(node, 0);
                    file.variables.extend(variables);
                }
                _ => {}
            }
        }
        file
    }

    fn function(&mut self, node: Node<'_>, depth: u32) -> Function<'a> {
        let name = node.child_by_field_name("name").map_or("", |name| self.text(name));
        let receiver = node.child_by_field_name("receiver").and_then(|list| self.receiver(list));
        let parameters = match node.child_by_field_name("parameters") {
            Some(list) => self.parameters(list, depth + 1),
            None => vec![],
        };
        let results = match node.child_by_field_name("result") {
            Some(list) if list.kind() == "parameter_list" => self.parameters(list, depth + 1),
            Some(only) => vec![Parameter { name: None, type_: self.type_(only, depth + 1) }],
            None => vec![],
        };
        let body = match node.child_by_field_name("body") {
            Some(body) => self.block(body, depth + 1),
            None => vec![],
        };
        Function { at: place(node), name, receiver, parameters, results, body }
    }

    fn receiver(&mut self, list: Node<'_>) -> Option<Receiver<'a>> {
        let only = named(list).into_iter().next()?;
        let name = only.child_by_field_name("name").map(|name| self.name(name));
        let mut type_ = only.child_by_field_name("type")?;
        let mut pointer = false;
        for _ in 0..4 {
            match type_.kind() {
                "pointer_type" => {
                    pointer = true;
                    type_ = named(type_).into_iter().next()?;
                }
                "parenthesized_type" => type_ = named(type_).into_iter().next()?,
                "generic_type" => type_ = type_.child_by_field_name("type")?,
                _ => break,
            }
        }
        Some(Receiver { name, type_: self.text(type_), pointer })
    }

    fn parameters(&mut self, list: Node<'_>, depth: u32) -> Vec<Parameter<'a>> {
        let mut parameters = vec![];
        for node in named(list) {
            let Some(type_) = node.child_by_field_name("type") else { continue };
            let mut type_ = self.type_(type_, depth + 1);
            if node.kind() == "variadic_parameter_declaration" {
                type_ = Type::List(Box::new(type_));
            }
            let names = fields(node, "name");
            if names.is_empty() {
                parameters.push(Parameter { name: None, type_ });
                continue;
            }
            for name in names {
                parameters.push(Parameter { name: Some(self.name(name)), type_: type_.clone() });
            }
        }
        parameters
    }

    fn types(&mut self, node: Node<'_>, depth: u32) -> Vec<TypeSpec<'a>> {
        let mut types = vec![];
        for spec in named(node) {
            let (Some(name), Some(type_)) =
                (spec.child_by_field_name("name"), spec.child_by_field_name("type"))
            else {
                continue;
            };
            types.push(TypeSpec { name: self.text(name), type_: self.type_(type_, depth + 1) });
        }
        types
    }

    fn variables(&mut self, node: Node<'_>, depth: u32) -> Vec<Variables<'a>> {
        let constant = node.kind() == "const_declaration";
        let specs = named(node).into_iter().flat_map(|node| match node.kind() {
            "var_spec_list" => named(node),
            _ => vec![node],
        });
        let mut variables = vec![];
        for spec in specs {
            let names = fields(spec, "name").into_iter().map(|name| self.name(name)).collect();
            let type_ = spec.child_by_field_name("type").map(|type_| self.type_(type_, depth + 1));
            let values = match spec.child_by_field_name("value") {
                Some(list) => self.expressions(list, depth + 1),
                None => vec![],
            };
            variables.push(Variables { at: place(spec), names, type_, values, constant });
        }
        variables
    }

    fn type_(&mut self, node: Node<'_>, depth: u32) -> Type<'a> {
        if self.too_deep(node, depth) {
            return Type::Other;
        }
        let mut of = |field: &str| {
            let inner = node.child_by_field_name(field);
            Box::new(inner.map_or(Type::Other, |inner| self.type_(inner, depth + 1)))
        };
        match node.kind() {
            "type_identifier" | "identifier" => Type::Named(None, self.name(node)),
            "qualified_type" => {
                let package = node.child_by_field_name("package").map(|package| self.name(package));
                match node.child_by_field_name("name") {
                    Some(name) => Type::Named(package, self.name(name)),
                    None => Type::Other,
                }
            }
            "pointer_type" => match named(node).first() {
                Some(inner) => Type::Pointer(Box::new(self.type_(*inner, depth + 1))),
                None => Type::Other,
            },
            "parenthesized_type" => match named(node).first() {
                Some(inner) => self.type_(*inner, depth + 1),
                None => Type::Other,
            },
            "generic_type" => *of("type"),
            "slice_type" | "array_type" | "implicit_length_array_type" => Type::List(of("element")),
            "map_type" => Type::Map(of("value")),
            "channel_type" => Type::Channel(of("value")),
            "function_type" => Type::Function,
            "struct_type" => Type::Struct(self.struct_fields(node, depth + 1)),
            "interface_type" => self.interface(node, depth + 1),
            _ => Type::Other,
        }
    }

    fn struct_fields(&mut self, node: Node<'_>, depth: u32) -> Vec<FieldSpec<'a>> {
        let mut all = vec![];
        for field in named(node).into_iter().flat_map(named) {
            let Some(type_) = field.child_by_field_name("type") else { continue };
            let type_ = self.type_(type_, depth);
            let names = fields(field, "name");
            if names.is_empty() {
                all.push(FieldSpec { name: None, type_ });
                continue;
            }
            for name in names {
                all.push(FieldSpec { name: Some(self.text(name)), type_: type_.clone() });
            }
        }
        all
    }

    fn interface(&mut self, node: Node<'_>, depth: u32) -> Type<'a> {
        let (mut methods, mut embeds) = (vec![], vec![]);
        for part in named(node) {
            match part.kind() {
                "method_elem" | "method_spec" => {
                    methods.extend(part.child_by_field_name("name").map(|name| self.text(name)));
                }
                _ => {
                    // A constraint of several types says nothing of methods.
                    if let [only] = named(part).as_slice() {
                        embeds.push(self.type_(*only, depth));
                    }
                }
            }
        }
        Type::Interface { methods, embeds }
    }

    /// The expressions of a list, or the one that stands in its place.
    fn expressions(&mut self, node: Node<'_>, depth: u32) -> Vec<Expr<'a>> {
        match node.kind() {
            "expression_list" => {
                named(node).into_iter().map(|node| self.expression(node, depth + 1)).collect()
            }
            _ => vec![self.expression(node, depth)],
        }
    }

    fn of_field(&mut self, node: Node<'_>, field: &str, depth: u32) -> Option<Expr<'a>> {
        let inner = node.child_by_field_name(field)?;
        Some(self.expression(inner, depth))
    }

    fn boxed(&mut self, node: Node<'_>, field: &str, depth: u32) -> Box<Expr<'a>> {
        let inner = self.of_field(node, field, depth);
        Box::new(inner.unwrap_or(Expr { at: place(node), kind: Kind::Other(vec![]) }))
    }

    fn expression(&mut self, node: Node<'_>, depth: u32) -> Expr<'a> {
        let at = place(node);
        if self.too_deep(node, depth) {
            return Expr { at, kind: Kind::Other(vec![]) };
        }
        let next = depth + 1;
        let kind = match node.kind() {
            "identifier" | "field_identifier" | "package_identifier" | "iota" => Kind::Name(self.text(node)),
            "true" => Kind::Bool(true),
            "false" => Kind::Bool(false),
            "nil" => Kind::Nil,
            "interpreted_string_literal" => Kind::Text(unescaped(self.text(node))),
            "raw_string_literal" => Kind::Text(self.text(node).trim_matches('`').to_owned()),
            "int_literal" => Kind::Number(self.text(node).replace('_', "").parse().ok()),
            "float_literal" | "rune_literal" | "imaginary_literal" => Kind::Number(None),
            "parenthesized_expression" => match named(node).first() {
                Some(inner) => return self.expression(*inner, next),
                None => Kind::Other(vec![]),
            },
            "literal_element" => match named(node).first() {
                Some(inner) => return self.expression(*inner, next),
                None => Kind::Other(vec![]),
            },
            "selector_expression" => {
                let field = node.child_by_field_name("field").map_or("", |field| self.text(field));
                Kind::Selector(self.boxed(node, "operand", next), field)
            }
            "index_expression" => {
                let object = self.boxed(node, "operand", next);
                Kind::Index(object, self.boxed(node, "index", next))
            }
            "slice_expression" => {
                let object = self.boxed(node, "operand", next);
                let ends = ["start", "end", "capacity"];
                Kind::Slice(object, ends.iter().filter_map(|end| self.of_field(node, end, next)).collect())
            }
            "call_expression" => self.call(node, next),
            "unary_expression" => {
                let operator = node.child_by_field_name("operator").map_or("", |it| self.text(it));
                Kind::Unary(operator, self.boxed(node, "operand", next))
            }
            "binary_expression" => self.binary(node, next),
            "func_literal" => Kind::Function(Box::new(self.function(node, next))),
            "composite_literal" => {
                let type_ = match node.child_by_field_name("type") {
                    Some(type_) => self.type_(type_, next),
                    None => Type::Other,
                };
                self.composite(node.child_by_field_name("body"), type_, next)
            }
            "type_assertion_expression" => {
                let object = self.boxed(node, "operand", next);
                let type_ = node.child_by_field_name("type");
                Kind::Assert(object, type_.map_or(Type::Other, |type_| self.type_(type_, next)))
            }
            "type_conversion_expression" => {
                let type_ = node.child_by_field_name("type");
                let type_ = type_.map_or(Type::Other, |type_| self.type_(type_, next));
                Kind::Convert(type_, Some(self.boxed(node, "operand", next)))
            }
            "type_instantiation_expression" => match node.child_by_field_name("type") {
                Some(type_) => Kind::Convert(self.type_(type_, next), None),
                None => Kind::Other(vec![]),
            },
            "variadic_argument" => match named(node).first() {
                Some(inner) => return self.expression(*inner, next),
                None => Kind::Other(vec![]),
            },
            kind if kind.ends_with("_type") || kind == "type_identifier" => {
                Kind::Convert(self.type_(node, next), None)
            }
            _ => Kind::Other(named(node).into_iter().map(|node| self.expression(node, next)).collect()),
        };
        Expr { at, kind }
    }

    fn call(&mut self, node: Node<'_>, depth: u32) -> Kind<'a> {
        let callee = *self.boxed(node, "function", depth);
        let mut arguments = vec![];
        let mut spread = false;
        for argument in node.child_by_field_name("arguments").map(named).into_iter().flatten() {
            spread = argument.kind() == "variadic_argument";
            arguments.push(self.expression(argument, depth));
        }
        Kind::Call(Box::new(Call { callee, arguments, spread }))
    }

    /// A chain of operators is as long as it is written, and not as deep.
    fn binary(&mut self, node: Node<'_>, depth: u32) -> Kind<'a> {
        let mut chain = vec![];
        let mut first = node;
        while first.kind() == "binary_expression" {
            chain.push(first);
            match first.child_by_field_name("left") {
                Some(left) => first = left,
                None => break,
            }
        }
        let first = self.expression(first, depth);
        let mut rest = vec![];
        for node in chain.into_iter().rev() {
            let operator = node.child_by_field_name("operator").map_or("", |it| self.text(it));
            rest.push((operator, *self.boxed(node, "right", depth)));
        }
        Kind::Binary(Box::new(first), rest)
    }

    fn composite(&mut self, body: Option<Node<'_>>, type_: Type<'a>, depth: u32) -> Kind<'a> {
        let inner = match &type_ {
            Type::Map(value) => unpointed(value),
            Type::List(element) => unpointed(element),
            _ => Type::Other,
        };
        let mut elements = vec![];
        for node in body.map(named).into_iter().flatten() {
            let (key, value) = match node.kind() {
                "keyed_element" => (node.child_by_field_name("key"), node.child_by_field_name("value")),
                _ => (None, Some(node)),
            };
            let Some(value) = value else { continue };
            let key = key.map(|key| self.expression(key, depth + 1));
            let literal = named(value).into_iter().next().filter(|node| node.kind() == "literal_value");
            let value = match literal {
                // `[]T{{…}, {…}}`
                Some(literal) if !self.too_deep(literal, depth) => {
                    let kind = self.composite(Some(literal), inner.clone(), depth + 1);
                    Expr { at: place(literal), kind }
                }
                _ => self.expression(value, depth + 1),
            };
            elements.push(Element { key, value });
        }
        Kind::Composite(type_, elements)
    }

    /// The statements of a block, or of a case.
    fn block(&mut self, node: Node<'_>, depth: u32) -> Vec<Stmt<'a>> {
        if self.too_deep(node, depth) {
            return vec![];
        }
        let mut statements = vec![];
        for node in named(node) {
            match node.kind() {
                "statement_list" => {
                    for node in named(node) {
                        statements.push(self.statement(node, depth + 1));
                    }
                }
                kind if kind.ends_with("_statement") || kind.ends_with("_declaration") || kind == "block" => {
                    statements.push(self.statement(node, depth + 1));
                }
                _ => {}
            }
        }
        statements
    }

    fn statement_at(&mut self, node: Node<'_>, field: &str, depth: u32) -> Option<Stmt<'a>> {
        let inner = node.child_by_field_name(field)?;
        Some(self.statement(inner, depth))
    }

    fn statement(&mut self, node: Node<'_>, depth: u32) -> Stmt<'a> {
        let at = place(node);
        if self.too_deep(node, depth) {
            return Stmt { at, kind: StmtKind::Other };
        }
        let next = depth + 1;
        let first = || named(node).into_iter().next();
        let mut list = |field: &str| match node.child_by_field_name(field) {
            Some(list) => self.expressions(list, next),
            None => vec![],
        };
        let kind = match node.kind() {
            "expression_statement" => match first() {
                Some(inner) => StmtKind::Expr(self.expression(inner, next)),
                None => StmtKind::Other,
            },
            "short_var_declaration" => {
                let left = list("left");
                StmtKind::Define(left, list("right"))
            }
            "assignment_statement" => {
                let left = list("left");
                let right = list("right");
                let operator = node.child_by_field_name("operator").map_or("=", |it| self.text(it));
                StmtKind::Assign(left, operator, right)
            }
            "inc_statement" | "dec_statement" => match first() {
                Some(inner) => {
                    let one = Expr { at, kind: Kind::Number(Some(1)) };
                    let operator = if node.kind() == "inc_statement" { "+=" } else { "-=" };
                    StmtKind::Assign(vec![self.expression(inner, next)], operator, vec![one])
                }
                None => StmtKind::Other,
            },
            "var_declaration" | "const_declaration" => {
                let mut all = self.variables(node, next);
                match all.len() {
                    1 => all.pop().map_or(StmtKind::Other, StmtKind::Variables),
                    _ => {
                        // Each is a statement; a block around them would be a scope.
                        let statements =
                            all.into_iter().map(|it| Stmt { at: it.at, kind: StmtKind::Variables(it) });
                        StmtKind::Several(statements.collect())
                    }
                }
            }
            "block" => StmtKind::Block(self.block(node, next)),
            "if_statement" => {
                let initial = self.statement_at(node, "initializer", next);
                let condition = *self.boxed(node, "condition", next);
                let then = match node.child_by_field_name("consequence") {
                    Some(block) => self.block(block, next),
                    None => vec![],
                };
                let otherwise = self.statement_at(node, "alternative", next);
                StmtKind::If(Box::new(If { initial, condition, then, otherwise }))
            }
            "for_statement" => self.for_statement(node, next),
            "expression_switch_statement" | "type_switch_statement" => {
                let initial = self.statement_at(node, "initializer", next);
                let alias = node.child_by_field_name("alias").and_then(|list| named(list).into_iter().next());
                let alias = alias.map(|name| self.name(name));
                let value = self.of_field(node, "value", next);
                let cases = self.cases(node, next);
                StmtKind::Switch(Box::new(Switch { initial, alias, value, cases }))
            }
            "select_statement" => StmtKind::Select(self.cases(node, next)),
            "go_statement" | "defer_statement" => match first() {
                Some(inner) => {
                    let call = self.expression(inner, next);
                    if node.kind() == "go_statement" { StmtKind::Go(call) } else { StmtKind::Defer(call) }
                }
                None => StmtKind::Other,
            },
            "return_statement" => {
                StmtKind::Return(first().map_or_else(Vec::new, |list| self.expressions(list, next)))
            }
            "send_statement" => {
                let channel = *self.boxed(node, "channel", next);
                StmtKind::Send(channel, *self.boxed(node, "value", next))
            }
            "receive_statement" => {
                let left = list("left");
                let right = list("right");
                let defines = node
                    .child_by_field_name("left")
                    .is_some_and(|left| left.next_sibling().is_some_and(|operator| operator.kind() == ":="));
                match (left.is_empty(), defines) {
                    (true, _) => right.into_iter().next().map_or(StmtKind::Other, StmtKind::Expr),
                    (false, true) => StmtKind::Define(left, right),
                    (false, false) => StmtKind::Assign(left, "=", right),
                }
            }
            "labeled_statement" => match named(node).into_iter().nth(1) {
                Some(inner) => return self.statement(inner, next),
                None => StmtKind::Other,
            },
            "break_statement" => StmtKind::Break,
            "continue_statement" => StmtKind::Continue,
            _ => StmtKind::Other,
        };
        Stmt { at, kind }
    }

    fn for_statement(&mut self, node: Node<'_>, depth: u32) -> StmtKind<'a> {
        let body_node = node.child_by_field_name("body");
        let head = named(node).into_iter().find(|child| Some(child.id()) != body_node.map(|body| body.id()));
        let body = |this: &mut Self| body_node.map_or_else(Vec::new, |body| this.block(body, depth));
        let kind = match head {
            Some(head) if head.kind() == "range_clause" => {
                let left_node = head.child_by_field_name("left");
                let left = left_node.map_or_else(Vec::new, |left| self.expressions(left, depth));
                let defines = left_node
                    .and_then(|left| left.next_sibling())
                    .is_some_and(|operator| operator.kind() == ":=");
                let over = *self.boxed(head, "right", depth);
                For::Range { left, defines, over, body: body(self) }
            }
            Some(head) if head.kind() == "for_clause" => {
                let initial = self.statement_at(head, "initializer", depth).map(Box::new);
                let condition = self.of_field(head, "condition", depth);
                let update = self.statement_at(head, "update", depth).map(Box::new);
                For::Clause { initial, condition, update, body: body(self) }
            }
            head => {
                let condition = head.map(|head| self.expression(head, depth));
                For::Clause { initial: None, condition, update: None, body: body(self) }
            }
        };
        StmtKind::For(Box::new(kind))
    }

    fn cases(&mut self, node: Node<'_>, depth: u32) -> Vec<Case<'a>> {
        let mut cases = vec![];
        for case in named(node) {
            let is_default = case.kind() == "default_case";
            if !matches!(case.kind(), "expression_case" | "type_case" | "communication_case" | "default_case")
            {
                continue;
            }
            let values = match case.child_by_field_name("value") {
                Some(list) => self.expressions(list, depth),
                None => vec![],
            };
            let types = fields(case, "type").into_iter().map(|type_| self.type_(type_, depth)).collect();
            let waits = self.statement_at(case, "communication", depth);
            let body = self.block(case, depth);
            cases.push(Case { at: place(case), values, types, waits, is_default, body });
        }
        cases
    }
}

/// The type that a pointer leads to.
fn unpointed<'a>(type_: &Type<'a>) -> Type<'a> {
    match type_ {
        Type::Pointer(inner) => (**inner).clone(),
        other => other.clone(),
    }
}

/// The text of a string in double quotes.
fn unescaped(literal: &str) -> String {
    let inner = literal.strip_prefix('"').unwrap_or(literal);
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    if !inner.contains('\\') {
        return inner.to_owned();
    }
    let mut text = String::with_capacity(inner.len());
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            text.push(character);
            continue;
        }
        match characters.next() {
            Some('n') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some('r') => text.push('\r'),
            Some(other) => text.push(other),
            None => {}
        }
    }
    text
}
