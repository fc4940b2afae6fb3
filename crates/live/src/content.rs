//! Bytes of one flash page. Copies of a page share its bytes. A page of zeros takes no memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a page; `None` for zeros.
pub(crate) type Content = Option<Arc<Page>>;

/// Bytes that at least one flash page holds. They count as used memory until the last of these
/// pages is erased.
pub(crate) struct Page {
    bytes: Box<[u8]>,
    used: Used,
}

impl Page {
    /// Returns the bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.used.0.fetch_sub(self.bytes.len() as u64, Ordering::Relaxed);
    }
}

/// Number of bytes in use by all pages of a drive.
#[derive(Clone, Default)]
pub(crate) struct Used(Arc<AtomicU64>);

impl Used {
    /// Makes the content of a page from its bytes.
    pub(crate) fn keep(&self, bytes: Box<[u8]>) -> Content {
        if bytes.iter().all(|byte| *byte == 0) {
            return None;
        }
        self.0.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Some(Arc::new(Page { bytes, used: self.clone() }))
    }

    /// Returns the number of bytes in use.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Adds the bytes of a page to others by XOR.
pub(crate) fn xor(into: &mut [u8], content: Option<&[u8]>) {
    for (byte, other) in into.iter_mut().zip(content.unwrap_or_default()) {
        *byte ^= other;
    }
}
