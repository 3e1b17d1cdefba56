//! From text with holes to the parser's tree.

use interlock_model::ir::{Name, Term};
use sqlparser::{
    ast::Statement as Tree,
    dialect::{Dialect, GenericDialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect},
    keywords::Keyword,
    parser::Parser,
    tokenizer::{Token, Tokenizer, Word},
};

use crate::knowledge::{
    format::Engine,
    statement::{Statement, Verb},
};

/// More text than this is a dump, not a statement.
const LONGEST: usize = 64 * 1024;
/// As many operators in a row as the tree may be deep: its depth is what reading and dropping it costs in stack.
const MOST_OPERATORS: usize = 400;
/// How deep brackets and queries may nest. A level costs the parser tens of kilobytes of stack in a build without optimisation.
const DEEPEST: usize = 20;
/// What a hole is called in the text that is parsed: a name, since a name may stand wherever a hole may.
const HOLE: &str = "interlock_hole_";

/// What the number of a mark begins with that is counted from the last one on.
pub(super) const FROM_END: &str = "interlock_end_";

/// Text whose holes have become names.
#[derive(Debug)]
pub(super) struct Text {
    sql: String,
    holes: Vec<Term>,
}

impl Text {
    /// `None` if it is too long.
    pub(super) fn of(parts: &[Term]) -> Option<Self> {
        let mut text = Self { sql: String::new(), holes: vec![] };
        for part in parts {
            match part {
                Term::Literal(literal) => text.sql.push_str(literal),
                hole => {
                    text.sql.push_str(&format!("{HOLE}{}_", text.holes.len()));
                    text.holes.push(hole.clone());
                }
            }
            if text.sql.len() > LONGEST {
                return None;
            }
        }
        if text.sql.contains('%') {
            text.sql = usual_marks(&text.sql);
        }
        Some(text)
    }

    /// The text that is parsed.
    pub(super) fn sql(&self) -> &str {
        &self.sql
    }

    /// What a name or a quoted text stands for, if there are holes in it.
    pub(super) fn hole(&self, name: &str) -> Option<Term> {
        let (before, rest) = name.split_once(HOLE)?;
        let (number, after) = rest.split_once('_')?;
        let term = self.holes.get(number.parse::<usize>().ok()?)?.clone();
        if before.is_empty() && after.is_empty() {
            return Some(term);
        }
        let mut parts = vec![];
        if !before.is_empty() {
            parts.push(Term::Literal(Name::from(before)));
        }
        parts.push(term);
        match self.hole(after) {
            Some(Term::Join(more)) => parts.extend(more),
            Some(more) => parts.push(more),
            None if !after.is_empty() => parts.push(Term::Literal(Name::from(after))),
            None => {}
        }
        Some(Term::Join(parts))
    }
}

/// The marks of Python's drivers as the others write them: `?` for `%s`, and `:name` for `%(name)s`. What is quoted is no mark.
fn usual_marks(sql: &str) -> String {
    let mut usual = String::with_capacity(sql.len());
    let mut quote: Option<char> = None;
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let behind = rest.get(first.len_utf8()..).unwrap_or_default();
        match quote {
            Some(open) if open == first => quote = None,
            None if matches!(first, '\'' | '"' | '`') => quote = Some(first),
            None if first == '%' => {
                let ends = |rest: &str| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_');
                if let Some(after) = behind.strip_prefix('s').filter(|after| ends(after)) {
                    usual.push('?');
                    rest = after;
                    continue;
                }
                let named = behind.strip_prefix('(').and_then(|inside| inside.split_once(")s"));
                let is_name = |name: &str| name.chars().all(|c| c.is_alphanumeric() || c == '_');
                if let Some((name, after)) = named.filter(|(name, _)| !name.is_empty() && is_name(name)) {
                    usual.push(':');
                    usual.push_str(name);
                    rest = after;
                    continue;
                }
            }
            _ => {}
        }
        usual.push(first);
        rest = behind;
    }
    usual
}

/// The statements of a text, in the first dialect that can read it.
pub(super) fn parse(text: &Text, engine: Option<Engine>) -> Option<Vec<Tree>> {
    let (postgres, mysql, sqlite) = (PostgreSqlDialect {}, MySqlDialect {}, SQLiteDialect {});
    let generic = GenericDialect {};
    let dialects: [&dyn Dialect; 4] = match engine {
        Some(Engine::Mysql) => [&mysql, &generic, &postgres, &sqlite],
        Some(Engine::Sqlite) => [&sqlite, &generic, &postgres, &mysql],
        _ => [&postgres, &sqlite, &mysql, &generic],
    };
    let prepared = |dialect: &dyn Dialect| prepare(Tokenizer::new(dialect, &text.sql).tokenize().ok()?);
    let read = |dialect: &dyn Dialect, tokens: Vec<Token>| {
        Parser::new(dialect).with_recursion_limit(DEEPEST).with_tokens(tokens).parse_statements().ok()
    };
    let whole = dialects.into_iter().find_map(|dialect| read(dialect, prepared(dialect)?));
    whole.or_else(|| {
        // Of a script that has one statement which cannot be read, such as a virtual table, the others are read all the same.
        let mut best: Vec<Tree> = vec![];
        for dialect in dialects {
            // What one dialect cannot even take apart may be a script of another.
            let pieces = prepared(dialect).map(pieces).filter(|pieces| pieces.len() > 1);
            let Some(pieces) = pieces else { continue };
            let read: Vec<Tree> =
                pieces.into_iter().filter_map(|piece| read(dialect, piece)).flatten().collect();
            if read.len() > best.len() {
                best = read;
            }
        }
        Some(best).filter(|best| !best.is_empty())
    })
}

/// The statements of a script, each by itself. Those of a trigger or procedure stand between `BEGIN` and `END`, and are none of the script's.
fn pieces(tokens: Vec<Token>) -> Vec<Vec<Token>> {
    let (mut pieces, mut piece) = (vec![], Vec::<Token>::new());
    let (mut has_body, mut depth) = (false, 0_usize);
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match keyword(&token) {
            Some(Keyword::TRIGGER | Keyword::PROCEDURE | Keyword::FUNCTION) => {
                has_body |= piece.first().and_then(keyword) == Some(Keyword::CREATE);
            }
            // `END CASE` of a statement ends what `CASE` began, like the `END` of an expression.
            Some(Keyword::CASE) if has_body && piece.last().and_then(keyword) == Some(Keyword::END) => {}
            Some(Keyword::BEGIN | Keyword::CASE) if has_body => depth += 1,
            // `END IF` and `END LOOP` end what was not counted.
            Some(Keyword::END) if has_body && !tokens.peek().is_some_and(ends_inner) => {
                depth = depth.saturating_sub(1);
            }
            _ => {}
        }
        if token == Token::SemiColon && depth == 0 {
            has_body = false;
            pieces.push(std::mem::take(&mut piece));
        } else {
            piece.push(token);
        }
    }
    pieces.push(piece);
    pieces.retain(|piece| !piece.is_empty() && *piece != [Token::EOF]);
    pieces
}

/// Whether this says, behind `END`, that something inside of a body ends: `END IF`, `END WHILE`.
fn ends_inner(token: &Token) -> bool {
    let is = |word: &Word| {
        ["if", "loop", "while", "repeat"].iter().any(|inner| word.value.eq_ignore_ascii_case(inner))
    };
    matches!(token, Token::Word(word) if is(word))
}

/// Numbers the question marks, since the tree is not read in the order of the text, and puts round a hole what a driver will fill in.
/// `None` for what would make too deep a tree.
fn prepare(tokens: Vec<Token>) -> Option<Vec<Token>> {
    let tokens: Vec<Token> =
        tokens.into_iter().filter(|token| !matches!(token, Token::Whitespace(_))).collect();
    let tokens = usual_locks(tokens);
    let mut prepared: Vec<Token> = Vec::with_capacity(tokens.len());
    let (mut marks, mut operators, mut depth) = (0_usize, 0_usize, 0_usize);
    let (mut filters, mut sets) = (false, false);
    // Marks behind a hole that may have marks in it: which one they are is known from the end.
    let (mut open, mut behind): (bool, Vec<usize>) = (false, vec![]);
    let mut waiting = tokens.into_iter().peekable();
    while let Some(token) = waiting.next() {
        match &token {
            Token::Comma | Token::SemiColon => operators = 0,
            Token::LParen | Token::LBracket => depth += 1,
            Token::RParen | Token::RBracket => depth = depth.saturating_sub(1),
            Token::Word(word) if is_hole(word) => {}
            Token::Word(word) => {
                if matches!(word.keyword, Keyword::AND | Keyword::OR | Keyword::NOT | Keyword::UNION) {
                    operators += 1;
                }
            }
            Token::Placeholder(_) | Token::Number(..) | Token::SingleQuotedString(_) => {}
            _ => operators += 1,
        }
        if operators > MOST_OPERATORS || depth > DEEPEST {
            return None;
        }
        // `:name` and `@name` are two tokens, and operators in some dialects.
        if let (Some(mark), Some(Token::Word(word))) = (mark_of(&token), waiting.peek()) {
            prepared.push(Token::Placeholder(format!("{mark}{}", word.value)));
            waiting.next();
            continue;
        }
        let before = prepared.last().and_then(keyword);
        filters |= before == Some(Keyword::WHERE);
        sets |= before == Some(Keyword::SET);
        let at_hole = matches!(&token, Token::Word(word) if is_hole(word));
        let next = waiting.peek();
        match token {
            Token::Question => marks += 1,
            Token::Placeholder(ref mark) if mark == "?" => marks += 1,
            // `$${values.length}`: the numbers go on where the last left off.
            Token::Placeholder(ref mark) if mark.contains(HOLE) => {
                behind.push(prepared.len());
                prepared.push(token);
                continue;
            }
            Token::Word(_) if at_hole && before == Some(Keyword::SET) && ends_assignment(next) => {
                open = true;
                prepared.extend([token.clone(), Token::Eq]);
                prepared.push(token);
                continue;
            }
            // `SET a = $1 ${more} WHERE …`: further assignments, which are put together elsewhere.
            Token::Word(_)
                if at_hole && sets && !filters && ends_operand(prepared.last()) && ends_assignment(next) =>
            {
                open = true;
                prepared.extend([Token::Comma, token.clone(), Token::Eq]);
                prepared.push(token);
                continue;
            }
            // `WHERE id = $1 ${more}`: one more demand, which is put together elsewhere.
            Token::Word(_) if at_hole && filters && ends_operand(prepared.last()) && ends_filter(next) => {
                open = true;
                prepared.push(Token::make_keyword("AND"));
                prepared.push(token);
                continue;
            }
            Token::Word(_) if at_hole && matches!(before, Some(Keyword::VALUES | Keyword::IN)) => {
                open = true;
                prepared.extend([Token::LParen, token, Token::RParen]);
                continue;
            }
            Token::Word(_)
                if at_hole && follows_table(&prepared) && next.is_none_or(|next| keyword(next).is_some()) =>
            {
                prepared.extend([Token::make_keyword("VALUES"), Token::LParen, token, Token::RParen]);
                continue;
            }
            token => {
                prepared.push(token);
                continue;
            }
        }
        if open {
            behind.push(prepared.len());
        }
        prepared.push(Token::Placeholder(format!("${marks}")));
    }
    for (number, at) in behind.iter().rev().enumerate() {
        if let Some(mark) = prepared.get_mut(*at) {
            *mark = Token::Placeholder(format!("${FROM_END}{}", number + 1));
        }
    }
    Some(prepared)
}

/// The other spellings of row locks, in the one that the parser knows: `FOR NO KEY UPDATE`, `FOR KEY SHARE`, `LOCK IN SHARE MODE`.
fn usual_locks(tokens: Vec<Token>) -> Vec<Token> {
    let mut usual: Vec<Token> = Vec::with_capacity(tokens.len());
    for token in tokens {
        usual.push(token);
        let mut last = usual.iter().rev().map(keyword).map(|word| word.unwrap_or(Keyword::NoKeyword));
        let mut next = || last.next().unwrap_or(Keyword::NoKeyword);
        let (words, lock) = match (next(), next(), next(), next()) {
            (Keyword::UPDATE, Keyword::KEY, Keyword::NO, Keyword::FOR) => (4, "UPDATE"),
            (Keyword::MODE, Keyword::SHARE, Keyword::IN, Keyword::LOCK) => (4, "SHARE"),
            (Keyword::SHARE, Keyword::KEY, Keyword::FOR, _) => (3, "SHARE"),
            _ => continue,
        };
        usual.truncate(usual.len() - words);
        usual.extend([Token::make_keyword("FOR"), Token::make_keyword(lock)]);
    }
    usual
}

fn mark_of(token: &Token) -> Option<char> {
    match token {
        Token::Colon => Some(':'),
        Token::AtSign => Some('@'),
        _ => None,
    }
}

fn keyword(token: &Token) -> Option<Keyword> {
    match token {
        Token::Word(word) if word.keyword != Keyword::NoKeyword => Some(word.keyword),
        _ => None,
    }
}

fn is_hole(word: &Word) -> bool {
    word.value.starts_with(HOLE)
}

/// `SET ${fields} WHERE …`: the hole is the whole list of assignments.
fn ends_assignment(next: Option<&Token>) -> bool {
    match next {
        None | Some(Token::SemiColon | Token::Comma) => true,
        Some(token) => matches!(keyword(token), Some(Keyword::WHERE | Keyword::RETURNING)),
    }
}

/// Whether what was read so far may be the end of a comparison.
fn ends_operand(token: Option<&Token>) -> bool {
    match token {
        Some(Token::Placeholder(_) | Token::Number(..) | Token::SingleQuotedString(_) | Token::RParen) => {
            true
        }
        Some(Token::Word(word)) => word.keyword == Keyword::NoKeyword || word.keyword == Keyword::NULL,
        _ => false,
    }
}

/// Whether a filter ends here.
fn ends_filter(next: Option<&Token>) -> bool {
    match next {
        None | Some(Token::SemiColon | Token::RParen) => true,
        Some(token) => {
            matches!(
                keyword(token),
                Some(Keyword::ORDER | Keyword::LIMIT | Keyword::RETURNING | Keyword::GROUP)
            )
        }
    }
}

/// `INSERT INTO users ${values}`: the hole is columns and values.
fn follows_table(prepared: &[Token]) -> bool {
    match prepared {
        [.., into, Token::Word(_)] => keyword(into) == Some(Keyword::INTO),
        _ => false,
    }
}

/// What can be said of a text that no dialect can read, because pieces of it are put together elsewhere: its verb and its table.
pub(super) fn glance(text: &Text) -> Option<Statement> {
    let mut words =
        text.sql.split(|c: char| c.is_whitespace() || c == '(' || c == ',').filter(|word| !word.is_empty());
    let mut after = |wanted: &str| words.find(|word| word.eq_ignore_ascii_case(wanted)).and(words.next());
    let verb = text.sql.trim_start().split(char::is_whitespace).next()?.to_ascii_lowercase();
    let (verb, table) = match verb.as_str() {
        "select" => (None, after("from")?),
        "insert" | "replace" => (Some(Verb::Insert), after("into")?),
        "update" => (Some(Verb::Update), after("update")?),
        "delete" => (Some(Verb::Delete), after("from")?),
        _ => return None,
    };
    let plain = table.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
    let plain = plain.rsplit('.').next().unwrap_or(plain);
    let table = text.hole(plain).unwrap_or_else(|| Term::Literal(plain.into()));
    if plain.is_empty() {
        return None;
    }
    let mut statement = match verb {
        Some(verb) => Statement::new(verb, table),
        None => Statement::read(table),
    };
    statement.unreadable = true;
    Some(statement)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_dialect_cannot_take_apart_is_read_in_another() {
        let read = |sql: &str| parse(&Text::of(&[Term::Literal(sql.into())])?, None).map(|all| all.len());
        assert_eq!(read("DELETE FROM a; nonsense; DELETE FROM b"), Some(2));
        // For MySQL, the quoted text never ends.
        assert_eq!(read(r"DELETE FROM a; nonsense; DELETE FROM b WHERE c = '\'"), Some(2));
        assert_eq!(read("nonsense; nonsense"), None);
    }
}
