//! Large arrays, cache hints and a vector comparison. This is the drive's only unsafe code.

#![expect(
    unsafe_code,
    reason = "a prefetch and a hint to the allocator, which can read or write nothing, zeroed \
        memory, and four loads from an array"
)]

use std::alloc::Layout;

/// Asks the processor to fetch the cache line of `slice[index]`. Does nothing if the index is out
/// of range.
#[inline(always)]
// One instruction on the read path.
pub fn prefetch<T>(slice: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if index < slice.len() {
        // SAFETY: the address is inside the slice, and a prefetch affects only the cache.
        unsafe {
            core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_T0 }>(
                slice.as_ptr().add(index).cast(),
            );
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, index);
}

/// Compares 32 keys with one key. Bit n of the result tells whether key n is equal. For a loop,
/// compilers would make scalar code.
#[inline]
pub fn equal_keys(keys: &[u16; 32], key: u16) -> u32 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has SSE2. The array has 64 bytes, which are four vectors of 16
    // bytes. Any bits are a valid vector.
    unsafe {
        use core::arch::x86_64::{
            __m128i, _mm_cmpeq_epi16, _mm_movemask_epi8, _mm_packs_epi16, _mm_set1_epi16,
        };
        let wanted = _mm_set1_epi16(key.cast_signed());
        let eights: [__m128i; 4] = core::mem::transmute(*keys);
        let equal = |eight: usize| _mm_cmpeq_epi16(eights[eight], wanted);
        let low = _mm_movemask_epi8(_mm_packs_epi16(equal(0), equal(1)));
        let high = _mm_movemask_epi8(_mm_packs_epi16(equal(2), equal(3)));
        low.cast_unsigned() | high.cast_unsigned() << 16
    }
    #[cfg(not(target_arch = "x86_64"))]
    keys.iter().enumerate().fold(0, |bits, (n, k)| bits | u32::from(*k == key) << n)
}

/// Returns `len` copies of `value`, on huge pages if the system offers them on request. Without
/// huge pages, random access to gigabytes spends most of its time on address translation.
pub fn huge_vec<T: Copy>(len: usize, value: T) -> Vec<T> {
    let mut v: Vec<T> = Vec::with_capacity(len);
    ask_for_huge_pages(&v);
    v.resize(len, value);
    v
}

/// Returns zeros on huge pages, as the system provides them. Parts that are never written take no
/// memory, and no part is written twice.
pub fn huge_zeros<T: Zeroed>(len: usize) -> Vec<T> {
    let v = zeros(len);
    ask_for_huge_pages(&v);
    v
}

/// Returns zeros on pages of the usual size, for arrays in which short runs of entries are written
/// at scattered places.
pub fn zeros<T: Zeroed>(len: usize) -> Vec<T> {
    let layout = Layout::array::<T>(len).expect("the memory was asked for before");
    if layout.size() == 0 {
        return vec![];
    }
    // SAFETY: the size is not 0. The memory has the layout of a boxed slice of `len` values, and
    // all-zero bytes are such values.
    let boxed = unsafe {
        let memory = std::alloc::alloc_zeroed(layout);
        if memory.is_null() {
            std::alloc::handle_alloc_error(layout);
        }
        Box::from_raw(std::ptr::slice_from_raw_parts_mut(memory.cast::<T>(), len))
    };
    boxed.into_vec()
}

/// Type for which all-zero bytes are a valid value.
///
/// # Safety
/// All-zero bytes must be a value of the type, and the type must need no drop.
pub unsafe trait Zeroed: Copy {}

// SAFETY: zero is a valid number.
unsafe impl Zeroed for u32 {}
// SAFETY: all-zero bits are the number 0.
unsafe impl Zeroed for f32 {}
// SAFETY: zero is a valid number.
unsafe impl Zeroed for u64 {}
// SAFETY: the type consists of two numbers.
unsafe impl Zeroed for crate::disturb::Wordline {}

/// Asks for huge pages for the whole capacity of a vector.
fn ask_for_huge_pages<T>(v: &Vec<T>) {
    #[cfg(target_os = "linux")]
    {
        const HUGE: usize = 2 << 20;
        let bytes = v.capacity() * size_of::<T>();
        if bytes >= HUGE {
            let start = (v.as_ptr() as usize).next_multiple_of(4096);
            // SAFETY: the range lies within the allocation. MADV_HUGEPAGE changes the pages behind
            // the memory, and never its content.
            unsafe { libc::madvise(start as *mut libc::c_void, bytes - 4096, libc::MADV_HUGEPAGE) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = v;
}

#[cfg(test)]
mod tests {
    #[test]
    fn equal_keys_are_found_wherever_they_are() {
        let mut keys = std::array::from_fn(|n| n as u16 * 2000);
        assert_eq!(super::equal_keys(&keys, 1), 0);
        assert!((0..32).all(|n| super::equal_keys(&keys, keys[n]) == 1 << n));
        (keys[0], keys[31]) = (u16::MAX, u16::MAX);
        assert_eq!(super::equal_keys(&keys, u16::MAX), 1 << 31 | 1);
    }

    #[test]
    fn a_huge_vector_holds_its_value() {
        let v = super::huge_vec(3 << 20, 7u32);
        assert!(v.len() == 3 << 20 && v.iter().all(|x| *x == 7));
        super::prefetch(&v, 5);
        super::prefetch(&v, usize::MAX);
        let zeros = super::huge_zeros::<u64>(3 << 20);
        assert!(zeros.len() == 3 << 20 && zeros.iter().all(|x| *x == 0));
    }
}
