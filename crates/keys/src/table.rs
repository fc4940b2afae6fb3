//! Code generation for a struct whose fields are the keys of a table.

use proc_macro2::{TokenStream, TokenTree};
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::{DeriveInput, Error, Field, FieldsNamed, Ident, LitStr, Type};

use crate::declared::{Declared, Fallback};

/// Variants of the enum `Range` that a declaration may name without the name of the enum.
const RANGES: [&str; 10] =
    ["Whole", "Real", "Above", "ZeroOr", "Rate", "Size", "PowerOfTwo", "Multiple", "Time", "Words"];

/// Field of the struct, with its declaration.
struct Member<'a> {
    field: &'a Field,
    name: &'a Ident,
    key: String,
    declared: Declared,
}

pub(crate) fn expand(input: &DeriveInput, fields: &FieldsNamed) -> Result<TokenStream, Error> {
    let mut members = vec![];
    for field in &fields.named {
        let name = field.ident.as_ref().expect("a named field");
        let key = name.unraw().to_string();
        members.push(Member { field, name, key, declared: Declared::of(field)? });
    }
    let has_default = !members.iter().any(Member::is_required);
    let keys = members.iter().filter(|member| !member.declared.skip);
    let (name, list) = (&input.ident, keys.clone().map(Member::key));
    let (checks, defaults) = (keys.clone().map(Member::check), members.iter().map(Member::entry));
    let default = has_default.then(|| default(name, &members));
    let functions = (!has_default).then(|| members.iter().filter_map(Member::function).collect());
    let functions: TokenStream = functions.unwrap_or_default();
    let random = keys.map(Member::random);
    let check_ranges = check_ranges(table_of(input)?.as_ref());
    Ok(quote! {
        #[automatically_derived]
        impl ::vpass_model::config::keys::Keys for #name {
            const KEYS: &'static [::vpass_model::config::keys::Key] = &[#(#list),*];

            fn check_in(&self, table: &str) -> Result<(), ::vpass_model::config::ConfigError> {
                let mut keys = Self::KEYS.iter();
                #(#checks)*
                let _ = (table, keys.next());
                Ok(())
            }

            fn write_defaults<M: ::serde::ser::SerializeMap>(map: &mut M) -> Result<(), M::Error> {
                let _ = &map;
                #(#defaults)*
                Ok(())
            }
        }

        #[automatically_derived]
        impl ::vpass_model::config::keys::KeyValue for #name {
            const TYPE: ::vpass_model::config::keys::Type =
                ::vpass_model::config::keys::Type::Table(
                    <Self as ::vpass_model::config::keys::Keys>::KEYS,
                );

            fn check(
                &self,
                path: &str,
                _: &::vpass_model::config::keys::Key,
            ) -> Result<(), ::vpass_model::config::ConfigError> {
                ::vpass_model::config::keys::Keys::check_in(self, path)
            }
        }

        #default

        #[automatically_derived]
        impl #name {
            #check_ranges
            #functions
            #(#random)*
        }
    })
}

/// Returns the name in the attribute `#[keys(table = "NAME")]` of a struct.
fn table_of(input: &DeriveInput) -> Result<Option<String>, Error> {
    let mut table = None;
    for attribute in input.attrs.iter().filter(|a| a.path().is_ident("keys")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("table") {
                let why = "#[keys(table = \"NAME\")] is expected";
                return Err(Error::new_spanned(&meta.path, why));
            }
            table = Some(meta.value()?.parse::<LitStr>()?.value());
            Ok(())
        })?;
    }
    Ok(table)
}

fn check_ranges(table: Option<&String>) -> Option<TokenStream> {
    table.map(|table| {
        quote! {
            /// Checks every number against the range that its key declares.
            pub(crate) fn check_ranges(&self) -> Result<(), ::vpass_model::config::ConfigError> {
                ::vpass_model::config::keys::Keys::check_in(self, #table)
            }
        }
    })
}

fn default(name: &Ident, members: &[Member]) -> TokenStream {
    let fields = members.iter().map(|member| {
        let (name, value) = (member.name, member.value());
        quote!(#name: #value)
    });
    quote! {
        #[automatically_derived]
        impl ::core::default::Default for #name {
            fn default() -> Self {
                Self { #(#fields),* }
            }
        }
    }
}

impl Member<'_> {
    /// Returns whether a file must give the key.
    fn is_required(&self) -> bool {
        let declared = &self.declared;
        let none = matches!(declared.default, Fallback::None);
        !declared.skip && none && inner(&self.field.ty, "Option").is_none()
    }

    /// Returns code for the value of a key that a file does not set.
    fn value(&self) -> TokenStream {
        if let Fallback::Value(value) = &self.declared.default {
            value.clone()
        } else {
            quote!(::core::default::Default::default())
        }
    }

    /// Returns code for one entry of the list `KEYS`.
    fn key(&self) -> TokenStream {
        let Declared { meaning, unit, note, source, .. } = &self.declared;
        let (name, ty, required) = (&self.key, &self.field.ty, self.is_required());
        let range = self
            .declared
            .range
            .as_ref()
            .map_or_else(|| quote!(::vpass_model::config::keys::Range::OfType), in_full);
        quote! {
            ::vpass_model::config::keys::Key {
                name: #name,
                meaning: #meaning,
                unit: #unit,
                range: #range,
                note: #note,
                source: #source,
                required: #required,
                of: <#ty as ::vpass_model::config::keys::KeyValue>::TYPE,
            }
        }
    }

    fn check(&self) -> TokenStream {
        let name = self.name;
        quote! {
            if let Some(key) = keys.next() {
                let path = ::vpass_model::config::keys::path(table, key.name);
                ::vpass_model::config::keys::KeyValue::check(&self.#name, &path, key)?;
            }
        }
    }

    /// Returns code that writes the declared default of a key.
    fn entry(&self) -> Option<TokenStream> {
        let Fallback::Value(value) = &self.declared.default else { return None };
        let (key, ty) = (&self.key, &self.field.ty);
        Some(quote! {
            let default: #ty = #value;
            map.serialize_entry(#key, &default)?;
        })
    }

    fn function(&self) -> Option<TokenStream> {
        let Fallback::Value(value) = &self.declared.default else { return None };
        let (name, ty) = (format_ident!("default_{}", self.key), &self.field.ty);
        Some(quote! {
            fn #name() -> #ty { #value }
        })
    }

    fn random(&self) -> Option<TokenStream> {
        let values = self.declared.random.as_ref()?;
        let name = format_ident!("RANDOM_{}", self.key.to_uppercase());
        let ty = inner(&self.field.ty, "Vec").unwrap_or(&self.field.ty);
        let is_list = matches!(values.clone().into_iter().next(), Some(TokenTree::Group(_)));
        let (ty, values, doc) = if is_list {
            (quote!(&'static [#ty]), quote!(&#values), "Values")
        } else if values.to_string().contains("..=") {
            (quote!(::core::ops::RangeInclusive<#ty>), values.clone(), "Range")
        } else {
            (quote!(f64), values.clone(), "Probability")
        };
        let doc = format!("{doc} of `{}` on random drives.", self.key);
        Some(quote! {
            #[doc = #doc]
            pub const #name: #ty = #values;
        })
    }
}

/// Adds the path of the enum `Range` to a bare variant. Other expressions stay unchanged.
fn in_full(range: &TokenStream) -> TokenStream {
    let first = range.clone().into_iter().next();
    match first {
        Some(TokenTree::Ident(name)) if RANGES.iter().any(|range| name == range) => {
            quote!(::vpass_model::config::keys::Range::#range)
        }
        _ => range.clone(),
    }
}

/// Returns the inner type of `Option<...>` or `Vec<...>`.
fn inner<'a>(ty: &'a Type, around: &str) -> Option<&'a Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|segment| segment.ident == around)?;
    let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first()? {
        syn::GenericArgument::Type(ty) => Some(ty),
        _ => None,
    }
}
