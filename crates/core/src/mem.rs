//! Large arrays and cache hints: the only unsafe code of the drive.

#![expect(unsafe_code, reason = "a prefetch and a hint to the allocator; neither can read or write anything")]

/// Asks the processor to fetch the cache line of `slice[index]`; out of range it does nothing.
#[inline(always)]
#[expect(clippy::inline_always, reason = "one instruction on the read path")]
pub fn prefetch<T>(slice: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if index < slice.len() {
        // SAFETY: the address is inside the slice, and a prefetch has no effect but on the cache.
        unsafe {
            core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_T0 }>(slice.as_ptr().add(index).cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, index);
}

/// `len` copies of `value`, on huge pages where the system offers them on request: a random gather over gigabytes
/// otherwise spends most of its time on address translation.
pub fn huge_vec<T: Copy>(len: usize, value: T) -> Vec<T> {
    let mut v: Vec<T> = Vec::with_capacity(len);
    #[cfg(target_os = "linux")]
    {
        const HUGE: usize = 2 << 20;
        let bytes = len * size_of::<T>();
        if bytes >= HUGE {
            let start = (v.as_mut_ptr() as usize).next_multiple_of(4096);
            // SAFETY: the range lies within the allocation; MADV_HUGEPAGE changes how it is backed, never its content.
            unsafe { libc::madvise(start as *mut libc::c_void, bytes - 4096, libc::MADV_HUGEPAGE) };
        }
    }
    v.resize(len, value);
    v
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_huge_vector_holds_its_value() {
        let v = super::huge_vec(3 << 20, 7u32);
        assert!(v.len() == 3 << 20 && v.iter().all(|x| *x == 7));
        super::prefetch(&v, 5);
        super::prefetch(&v, usize::MAX);
    }
}
