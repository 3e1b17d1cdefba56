//! Declarations: functions, types, variables.

use tree_sitter::Node;

use super::{
    super::ast::{FieldSpec, File, Function, Import, Parameter, Receiver, Type, TypeSpec, Variables},
    Reader, fields, named, place,
};

impl<'a> Reader<'a> {
    pub(super) fn file(&mut self, root: Node<'_>) -> File<'a> {
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

    pub(super) fn function(&mut self, node: Node<'_>, depth: u32) -> Function<'a> {
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

    pub(super) fn receiver(&mut self, list: Node<'_>) -> Option<Receiver<'a>> {
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

    pub(super) fn parameters(&mut self, list: Node<'_>, depth: u32) -> Vec<Parameter<'a>> {
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

    pub(super) fn types(&mut self, node: Node<'_>, depth: u32) -> Vec<TypeSpec<'a>> {
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

    pub(super) fn variables(&mut self, node: Node<'_>, depth: u32) -> Vec<Variables<'a>> {
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

    pub(super) fn type_(&mut self, node: Node<'_>, depth: u32) -> Type<'a> {
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

    pub(super) fn struct_fields(&mut self, node: Node<'_>, depth: u32) -> Vec<FieldSpec<'a>> {
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

    pub(super) fn interface(&mut self, node: Node<'_>, depth: u32) -> Type<'a> {
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
}
