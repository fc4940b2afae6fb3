//! Counters of up to 128 bits in JSON. A counter may be a number, a text, or two halves of 64 bits.
//!
//! ```text
//! nvme smart-log        "data_units_read": 12
//! nvme, older json-c    "data_units_read": "12"
//! nvme ocp              "physical_media_units_written": { "hi": 0, "lo": 12 }
//! smartctl              "data_units_read": 12, "data_units_read_s": "12" (text if above 2^53)
//! ```

use serde_json::{Map, Value};

/// JSON object.
pub(super) type Object = Map<String, Value>;

/// Number of bits in the lower half of a counter.
const HALF: u32 = 64;

/// Returns the value of a counter in a JSON object. `keys` lists the possible keys of the counter.
/// The first of these keys that exists in the object is used. Returns `None` if none exists.
///
/// # Errors
/// Returns an error message if the value is not a whole number below 2^128.
pub(super) fn at(object: &Object, keys: &[&str]) -> Result<Option<u128>, String> {
    let Some((key, value)) = keys.iter().find_map(|key| Some((*key, object.get(*key)?))) else {
        return Ok(None);
    };
    // For large numbers, smartctl writes an additional text with all digits, because JSON readers
    // may round numbers.
    let exact = object.get(&format!("{key}_s")).unwrap_or(value);
    counter(exact)
        .map(Some)
        .ok_or_else(|| format!("`{key}` is {exact}; it must be a whole number from 0 to 2^128 - 1"))
}

fn counter(value: &Value) -> Option<u128> {
    match value {
        Value::Number(number) => number.as_u64().map(u128::from),
        Value::String(digits) => {
            let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            digits.parse().ok().filter(|_| is_whole)
        }
        Value::Object(halves) => {
            let half = |key| halves.get(key).and_then(counter).filter(|half| half >> HALF == 0);
            Some((half("hi")? << HALF) + half("lo")?)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn counters_have_four_forms() {
        let two_64 = 1u128 << 64;
        for (value, right) in [
            (json!(12), Some(12)),
            (json!("18446744073709551617"), Some(two_64 + 1)),
            (json!({ "hi": 1, "lo": 2 }), Some(two_64 + 2)),
            (json!({ "hi": "0", "lo": "7" }), Some(7)),
            (json!({ "lo": 7 }), None),
            (json!({ "hi": 0, "lo": "18446744073709551616" }), None),
            (json!(-1), None),
            (json!(1.5), None),
            (json!("+5"), None),
            (json!("0x10"), None),
            (json!(""), None),
            (json!(null), None),
        ] {
            assert_eq!(counter(&value), right, "{value}");
        }
    }

    #[test]
    fn exact_text_replaces_a_rounded_number() {
        let object = json!({ "n": 9_007_199_254_740_992_u64, "n_s": "9007199254740993" });
        let found = at(object.as_object().unwrap(), &["m", "n"]);
        assert_eq!(found, Ok(Some(9_007_199_254_740_993)));
        assert_eq!(at(object.as_object().unwrap(), &["m"]), Ok(None));
    }
}
