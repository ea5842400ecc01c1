//! linked.rs: a Rust program whose allocator is jemalloc, with the names that
//! the crate for it gives its functions.
use std::alloc::{GlobalAlloc, Layout};
use std::collections::BTreeMap;

extern "C" {
    fn _rjem_malloc(size: usize) -> *mut u8;
    fn _rjem_mallocx(size: usize, flags: i32) -> *mut u8;
    fn _rjem_calloc(count: usize, size: usize) -> *mut u8;
    fn _rjem_realloc(block: *mut u8, size: usize) -> *mut u8;
    fn _rjem_sdallocx(block: *mut u8, size: usize, flags: i32);
}

struct Jemalloc;

fn flags(layout: Layout) -> i32 {
    layout.align().trailing_zeros() as i32
}

unsafe impl GlobalAlloc for Jemalloc {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= 16 {
            _rjem_malloc(layout.size())
        } else {
            _rjem_mallocx(layout.size(), flags(layout))
        }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        _rjem_calloc(1, layout.size())
    }
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        _rjem_sdallocx(block, layout.size(), flags(layout))
    }
    unsafe fn realloc(&self, block: *mut u8, _: Layout, size: usize) -> *mut u8 {
        _rjem_realloc(block, size)
    }
}

#[global_allocator]
static GLOBAL: Jemalloc = Jemalloc;

#[inline(never)]
fn tgt_boxes(count: usize) -> usize {
    let mut sum = 0;
    for n in 0..count {
        let block: Box<[u64; 4]> = Box::new([n as u64; 4]);
        sum += unsafe { std::ptr::read_volatile(&block[3]) } as usize;
    }
    sum
}

fn main() {
    let mut map = BTreeMap::new();
    for n in 0..100 {
        map.insert(n, "x".repeat(n + 1));
    }
    let threads: Vec<_> = (0..4)
        .map(|_| std::thread::spawn(|| tgt_boxes(1000)))
        .collect();
    let sum: usize = threads.into_iter().map(|t| t.join().unwrap()).sum();
    println!("sum {} {}", sum, map.len());
    println!("allocations 4000");
    println!("frees 4000");
    println!("total_bytes 128000");
    println!("live_blocks 0");
    println!("live_bytes 0");
}
