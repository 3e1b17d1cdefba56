//! Statements.

use tree_sitter::Node;

use super::{
    super::ast::{Case, Expr, For, If, Kind, Stmt, StmtKind, Switch},
    Reader, fields, named, place,
};

impl<'a> Reader<'a> {
    /// The statements of a block, or of a case.
    pub(super) fn block(&mut self, node: Node<'_>, depth: u32) -> Vec<Stmt<'a>> {
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

    pub(super) fn statement_at(&mut self, node: Node<'_>, field: &str, depth: u32) -> Option<Stmt<'a>> {
        let inner = node.child_by_field_name(field)?;
        Some(self.statement(inner, depth))
    }

    pub(super) fn statement(&mut self, node: Node<'_>, depth: u32) -> Stmt<'a> {
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

    pub(super) fn for_statement(&mut self, node: Node<'_>, depth: u32) -> StmtKind<'a> {
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

    pub(super) fn cases(&mut self, node: Node<'_>, depth: u32) -> Vec<Case<'a>> {
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
