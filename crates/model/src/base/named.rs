//! Enumerations whose values have names.

/// Declares an enumeration with the names of its values, the list of its values and their number.
macro_rules! named {
    (
        $(#[$about:meta])*
        pub enum $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)* }
    ) => {
        $(#[$about])*
        pub enum $name {
            $($(#[$doc])* $variant,)*
        }

        impl $name {
            /// All values, in the order of tables by value.
            pub const ALL: [Self; Self::COUNT] = [$(Self::$variant),*];
            /// Number of values, which is the length of every table by value.
            pub const COUNT: usize = [$(Self::$variant),*].len();

            /// Returns the name of the value.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }
    };
}

pub(crate) use named;
