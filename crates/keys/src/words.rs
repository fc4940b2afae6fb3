//! Code generation for an enum whose variants are the words that a key accepts.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, DataEnum, DeriveInput, Error, LitStr};

pub(crate) fn expand(input: &DeriveInput, data: &DataEnum) -> Result<TokenStream, Error> {
    let style = serde(&input.attrs, "rename_all")?;
    let mut words = vec![];
    for variant in &data.variants {
        if !variant.fields.is_empty() {
            return Err(Error::new_spanned(variant, "a word has no fields"));
        }
        let name = variant.ident.to_string();
        words.push(match (serde(&variant.attrs, "rename")?, style.as_deref()) {
            (Some(word), _) => word,
            (None, Some("lowercase")) => name.to_lowercase(),
            (None, Some("kebab-case")) => kebab(&name),
            (None, _) => {
                return Err(Error::new_spanned(
                    &input.ident,
                    "#[serde(rename_all = \"lowercase\")] or \"kebab-case\" is expected",
                ));
            }
        });
    }
    let name = &input.ident;
    Ok(quote! {
        #[automatically_derived]
        impl ::vpass_model::config::keys::KeyValue for #name {
            const TYPE: ::vpass_model::config::keys::Type =
                ::vpass_model::config::keys::Type::Word(&[#(#words),*]);
        }
    })
}

/// Converts a name such as `RoundRobin` to `round-robin`.
fn kebab(name: &str) -> String {
    let mut word = String::new();
    for (at, letter) in name.char_indices() {
        if letter.is_uppercase() && at > 0 {
            word.push('-');
        }
        word.extend(letter.to_lowercase());
    }
    word
}

/// Returns the text of a serde attribute such as `rename = "..."`; `None` if the attribute is
/// absent.
fn serde(attributes: &[Attribute], wanted: &str) -> Result<Option<String>, Error> {
    let mut found = None;
    for attribute in attributes.iter().filter(|a| a.path().is_ident("serde")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident(wanted) {
                found = Some(meta.value()?.parse::<LitStr>()?.value());
            } else if meta.input.peek(syn::Token![=]) {
                meta.value()?.parse::<proc_macro2::TokenTree>()?;
            }
            Ok(())
        })?;
    }
    Ok(found)
}
