//! Parser of the attribute `#[key(...)]`, which declares a key of drive and workload files.

use proc_macro2::{Spacing, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, Error, Expr, ExprLit, Field, Lit, LitStr, Meta};

/// Names that may occur inside `#[key(...)]`.
const KNOWN: [&str; 7] = ["unit", "range", "note", "default", "source", "random", "skip"];

/// Value of a key that the user's file does not set.
pub(crate) enum Fallback {
    /// No default is declared.
    None,
    /// Default value of the field's type.
    OfType,
    /// Default value that the attribute declares.
    Value(TokenStream),
}

/// Declaration of a field that holds the value of a key.
pub(crate) struct Declared {
    pub(crate) meaning: String,
    pub(crate) unit: String,
    pub(crate) range: Option<TokenStream>,
    pub(crate) note: String,
    pub(crate) default: Fallback,
    pub(crate) source: String,
    pub(crate) random: Option<TokenStream>,
    pub(crate) skip: bool,
}

impl Declared {
    pub(crate) fn of(field: &Field) -> Result<Self, Error> {
        let mut declared = Self {
            meaning: meaning(&field.attrs)?,
            unit: String::new(),
            range: None,
            note: String::new(),
            default: Fallback::None,
            source: String::new(),
            random: None,
            skip: is_skipped_by_serde(&field.attrs),
        };
        let mut seen = vec![];
        for attribute in field.attrs.iter().filter(|a| a.path().is_ident("key")) {
            for part in parts(attribute.meta.require_list()?.tokens.clone()) {
                let (name, span, value) = named(part)?;
                if seen.contains(&name) {
                    return Err(Error::new(span, format!("`{name}` is given twice")));
                }
                declared.take(&name, span, value)?;
                seen.push(name);
            }
        }
        if declared.meaning.is_empty() && !declared.skip {
            return Err(Error::new_spanned(
                field,
                "a doc comment is missing: it is the meaning of the key",
            ));
        }
        Ok(declared)
    }

    fn take(&mut self, name: &str, span: Span, value: Option<TokenStream>) -> Result<(), Error> {
        match name {
            "unit" => self.unit = text(name, span, value)?,
            "note" => self.note = text(name, span, value)?,
            "source" => self.source = text(name, span, value)?,
            "range" => self.range = Some(needed(name, span, value, "...")?),
            "random" => self.random = Some(needed(name, span, value, "[...]")?),
            "default" => self.default = value.map_or(Fallback::OfType, Fallback::Value),
            "skip" if value.is_some() => return Err(Error::new(span, "`skip` takes no value")),
            "skip" => self.skip = true,
            _ => {
                let known = KNOWN.join(", ");
                let sentence = format!("`{name}` is not known here; known are {known}");
                return Err(Error::new(span, sentence));
            }
        }
        Ok(())
    }
}

/// Returns the text of a doc comment, as lists of keys show it: without backquotes and without the
/// final period.
fn meaning(attributes: &[Attribute]) -> Result<String, Error> {
    let mut lines = vec![];
    for attribute in attributes.iter().filter(|a| a.path().is_ident("doc")) {
        let value = &attribute.meta.require_name_value()?.value;
        if let Expr::Lit(ExprLit { lit: Lit::Str(line), .. }) = value {
            lines.push(line.value().trim().to_owned());
        }
    }
    Ok(lines.join(" ").replace('`', "").trim_end_matches('.').to_owned())
}

fn is_skipped_by_serde(attributes: &[Attribute]) -> bool {
    attributes.iter().filter(|a| a.path().is_ident("serde")).any(|attribute| {
        matches!(&attribute.meta, Meta::List(list) if list.tokens.to_string() == "skip")
    })
}

/// Splits tokens at their commas, and returns the parts.
fn parts(tokens: TokenStream) -> Vec<TokenStream> {
    let mut parts = vec![TokenStream::new()];
    for token in tokens {
        match &token {
            TokenTree::Punct(mark) if mark.as_char() == ',' => parts.push(TokenStream::new()),
            _ => parts.last_mut().expect("there is one").extend([token]),
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Splits a part such as `unit = "us"`, and returns its name and its value.
fn named(part: TokenStream) -> Result<(String, Span, Option<TokenStream>), Error> {
    let mut tokens = part.clone().into_iter();
    let Some(TokenTree::Ident(name)) = tokens.next() else {
        return Err(Error::new_spanned(part, "a name is expected, such as `unit = \"us\"`"));
    };
    let span = name.span();
    match tokens.next() {
        None => Ok((name.to_string(), span, None)),
        Some(TokenTree::Punct(mark))
            if mark.as_char() == '=' && mark.spacing() == Spacing::Alone =>
        {
            Ok((name.to_string(), span, Some(tokens.collect())))
        }
        Some(other) => Err(Error::new_spanned(other, format!("`=` is expected after `{name}`"))),
    }
}

fn needed(
    name: &str,
    span: Span,
    value: Option<TokenStream>,
    example: &str,
) -> Result<TokenStream, Error> {
    value
        .filter(|tokens| !tokens.is_empty())
        .ok_or_else(|| Error::new(span, format!("`{name}` needs a value: {name} = {example}")))
}

fn text(name: &str, span: Span, value: Option<TokenStream>) -> Result<String, Error> {
    let value = needed(name, span, value, "\"...\"")?;
    syn::parse2::<LitStr>(value.into_token_stream())
        .map(|text| text.value())
        .map_err(|_| Error::new(span, format!("`{name}` is a text: {name} = \"...\"")))
}
