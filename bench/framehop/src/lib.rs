//! The crate framehop behind two C functions, for bench/framehop.c: as a
//! profiler would use it inside of an allocation hook. A walk allocates nothing,
//! its caches of rules are kept from walk to walk, and the stack is read in
//! place.
//!
//! A cache of the crate has 509 entries, one for each address modulo 509: fewer
//! than the call tree of the bench has return addresses. The bench uses several
//! caches, so that it measures walks whose rules are cached.
//!
//! The caller names the modules (mappings, and their unwind tables) and gives the
//! registers as they are after a return. One thread.

use framehop::x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64};
use framehop::{
    ExplicitModuleSectionInfo, FrameAddress, Module, MustNotAllocateDuringUnwind, Unwinder,
};
use std::slice;

type Bytes = &'static [u8];
type Cache = CacheX86_64<MustNotAllocateDuringUnwind>;

/// Places of one cache: of addresses that are equal modulo this, one each.
const CACHE_PLACES: u64 = 509;
const CACHES: u64 = 64;

/// One mapped ELF object, as struct framehop_module in bench/framehop.c.
#[repr(C)]
pub struct MappedModule {
    base: u64,
    start: u64,
    end: u64,
    eh_frame_hdr: u64,
    eh_frame_hdr_size: u64,
    eh_frame: u64,
    eh_frame_size: u64,
}

pub struct Walker {
    unwinder: UnwinderX86_64<Bytes, MustNotAllocateDuringUnwind>,
    caches: Vec<Cache>,
}

unsafe fn mapped(address: u64, size: u64) -> Bytes {
    slice::from_raw_parts(address as *const u8, size as usize)
}

unsafe fn module_of(module: &MappedModule) -> Module<Bytes> {
    let range = |address: u64, size: u64| address - module.base..address - module.base + size;
    Module::new(
        String::new(),
        module.start..module.end,
        module.base,
        ExplicitModuleSectionInfo {
            eh_frame_hdr_svma: Some(range(module.eh_frame_hdr, module.eh_frame_hdr_size)),
            eh_frame_hdr: Some(mapped(module.eh_frame_hdr, module.eh_frame_hdr_size)),
            eh_frame_svma: Some(range(module.eh_frame, module.eh_frame_size)),
            eh_frame: Some(mapped(module.eh_frame, module.eh_frame_size)),
            ..Default::default()
        },
    )
}

/// A walker that knows these modules; it lives as long as the process.
///
/// # Safety
/// `modules` has `count` entries, whose tables stay mapped.
#[no_mangle]
pub unsafe extern "C" fn bench_framehop_new(
    modules: *const MappedModule,
    count: usize,
) -> *mut Walker {
    let mut unwinder = UnwinderX86_64::new();
    for module in slice::from_raw_parts(modules, count) {
        unwinder.add_module(module_of(module));
    }
    Box::into_raw(Box::new(Walker {
        unwinder,
        caches: (0..CACHES).map(|_| Cache::new_in()).collect(),
    }))
}

/// Return addresses from `ra` outward, at most `max` into `frames`. How many;
/// 0 if the walk did not find the stack's end.
///
/// # Safety
/// The registers are those of a frame of this thread; `frames` has room.
#[no_mangle]
pub unsafe extern "C" fn bench_framehop_walk(
    walker: *mut Walker,
    ra: u64,
    sp: u64,
    fp: u64,
    frames: *mut u64,
    max: usize,
) -> usize {
    let walker = &mut *walker;
    let frames = slice::from_raw_parts_mut(frames, max);
    let mut regs = UnwindRegsX86_64::new(ra, sp, fp);
    let mut read = |address: u64| Ok(*(address as *const u64));
    let mut next = ra;

    for (n, frame) in frames.iter_mut().enumerate() {
        *frame = next;
        let Some(address) = FrameAddress::from_return_address(next) else {
            return 0;
        };
        let cache = &mut walker.caches[(next / CACHE_PLACES % CACHES) as usize];
        match walker
            .unwinder
            .unwind_frame(address, &mut regs, cache, &mut read)
        {
            Ok(Some(outer)) => next = outer,
            Ok(None) => return n + 1,
            Err(_) => return 0,
        }
    }
    0
}
