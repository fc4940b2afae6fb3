//! Gives numbers to the device names of a file, in the order in which the names first occur.

use std::collections::HashMap;

use crate::traces::rows::format::BadRow;

/// Largest number of devices in a trace. The largest public collections have some thousands. A
/// larger number means that vpass misread a column.
pub(in crate::traces) const MAX_DEVICES: usize = 1 << 16;
/// Largest length of a device name in bytes, which is the largest length of a Linux path.
pub(in crate::traces) const MAX_NAME_BYTES: usize = 4096;

const TOO_MANY: BadRow =
    BadRow::Fatal("this is device number 65,537; at most 65,536 devices are supported");
const TOO_LONG: BadRow = BadRow::Sentence("the name of the device is longer than 4,096 bytes");

/// Names of devices, with their numbers.
#[derive(Debug, Default)]
pub(in crate::traces) struct Names {
    numbers: HashMap<Box<[u8]>, u32>,
    in_order: Vec<Box<[u8]>>,
    /// Number that was returned last. Most rows have the same device as the previous row, so this
    /// field saves look-ups.
    last: u32,
}

impl Names {
    /// Returns the number of a device name. A new name gets a new number.
    #[inline]
    pub(in crate::traces) fn number(&mut self, name: &[u8]) -> Result<u32, BadRow> {
        if self.in_order.get(self.last as usize).is_some_and(|last| **last == *name) {
            return Ok(self.last);
        }
        self.look_up(name)
    }

    /// Returns the number that was returned last, and the device name with this number.
    #[inline]
    pub(in crate::traces) fn last(&self) -> Option<(&[u8], u32)> {
        self.in_order.get(self.last as usize).map(|name| (&**name, self.last))
    }

    /// Returns the device name that has the given number.
    pub(in crate::traces) fn name(&self, number: u32) -> String {
        self.in_order
            .get(number as usize)
            .map_or_else(String::new, |name| String::from_utf8_lossy(name).into_owned())
    }

    fn look_up(&mut self, name: &[u8]) -> Result<u32, BadRow> {
        self.last = match self.numbers.get(name) {
            Some(number) => *number,
            None if name.len() > MAX_NAME_BYTES => return Err(TOO_LONG),
            None if self.in_order.len() == MAX_DEVICES => return Err(TOO_MANY),
            None => {
                let number = self.in_order.len() as u32;
                self.numbers.insert(name.into(), number);
                self.in_order.push(name.into());
                number
            }
        };
        Ok(self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_numbers() {
        let mut names = Names::default();
        let numbers =
            [&b"a"[..], b"a", b"b", b"a", b"", b"b"].map(|name| names.number(name).unwrap());
        assert_eq!(numbers, [0, 0, 1, 0, 2, 1]);
        assert_eq!(names.last(), Some((&b"b"[..], 1)));
        assert_eq!([0, 1, 2, 3].map(|n| names.name(n)), ["a", "b", "", ""]);
    }

    #[test]
    fn neither_names_nor_their_length_grow_without_bound() {
        let mut names = Names::default();
        assert_eq!(names.number(&[b'x'; 4097]), Err(TOO_LONG));
        for i in 0..MAX_DEVICES {
            names.number(i.to_string().as_bytes()).unwrap();
        }
        assert_eq!(names.number(b"one more"), Err(TOO_MANY));
        assert_eq!(names.number(b"65535"), Ok(65_535));
    }
}
