//! lang_rust.rs: panics, counted. What it does is its argument:
//!   unwind   panics across 1 to 200 frames, caught; resumed on the way; caught
//!            inside a Drop that runs because of another panic
//!   threads  threads that panic at every depth and are joined
//!   trace    one panic with the runtime's own backtrace
//!   drop     a panic out of a Drop that runs because of a panic: aborts
//!   plain    one panic, uncaught (with panic=abort: aborts)
//! Every frame allocates when it begins, and again when it is dropped.

use std::panic::{catch_unwind, panic_any, resume_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

static MADE: AtomicUsize = AtomicUsize::new(0);
static DROPPED: AtomicUsize = AtomicUsize::new(0);
static PAYLOADS: AtomicUsize = AtomicUsize::new(0);
static PAYLOADS_GONE: AtomicUsize = AtomicUsize::new(0);
static CAUGHT: AtomicUsize = AtomicUsize::new(0);
static BYTES: AtomicUsize = AtomicUsize::new(0);

const DEEPEST: usize = 200;

/// What the compiler must not look through.
#[inline(never)]
fn black_box<T>(value: T) -> T {
    unsafe {
        let same = std::ptr::read_volatile(&value);
        std::mem::forget(value);
        same
    }
}

struct Guard(Vec<u8>);

impl Guard {
    #[inline(never)]
    fn new(size: usize) -> Guard {
        MADE.fetch_add(1, SeqCst);
        Guard(black_box(vec![1u8; size]))
    }
}

impl Drop for Guard {
    #[inline(never)]
    fn drop(&mut self) {
        let copy = black_box(self.0.clone());
        BYTES.fetch_add(copy.len(), SeqCst);
        DROPPED.fetch_add(1, SeqCst);
    }
}

struct Payload(Box<usize>);

impl Payload {
    fn new(depth: usize) -> Payload {
        PAYLOADS.fetch_add(1, SeqCst);
        Payload(black_box(Box::new(depth)))
    }
}

impl Drop for Payload {
    fn drop(&mut self) {
        PAYLOADS_GONE.fetch_add(1, SeqCst);
    }
}

/// Panics inside, and catches it, when it is dropped.
struct Nester(usize);

impl Drop for Nester {
    #[inline(never)]
    fn drop(&mut self) {
        let depth = self.0;
        let inside = catch_unwind(move || descend(depth, 0));
        // Where a panic is under way already, a second one would abort: so
        // this is only for the drops of a normal return.
        if let Err(payload) = inside {
            caught(payload, depth);
        }
    }
}

#[inline(never)]
fn descend(depth: usize, resume_at: usize) -> usize {
    let guard = Guard::new(16 + depth % 100);
    if depth == 0 {
        panic_any(Payload::new(0));
    }
    let below = if depth == resume_at {
        match catch_unwind(move || descend(depth - 1, 0)) {
            Ok(value) => value,
            Err(payload) => {
                drop(Guard::new(40));
                resume_unwind(payload);
            }
        }
    } else {
        descend(depth - 1, resume_at)
    };
    black_box(guard.0.len()) + below
}

fn caught(payload: Box<dyn std::any::Any + Send>, what: usize) {
    let payload = payload.downcast::<Payload>().expect("our payload");
    assert_eq!(*payload.0, 0, "at {}", what);
    CAUGHT.fetch_add(1, SeqCst);
}

#[inline(never)]
fn climb(depth: usize, action: &mut dyn FnMut()) -> usize {
    let guard = Guard::new(depth + 1);
    if depth == 0 {
        action();
        return guard.0.len();
    }
    climb(depth - 1, action) + black_box(guard.0.len())
}

fn unwind() {
    for depth in 1..=DEEPEST {
        caught(catch_unwind(move || descend(depth, 0)).unwrap_err(), depth);
        caught(catch_unwind(move || descend(depth, depth / 2)).unwrap_err(),
               depth);
    }
    // The catch itself is deep, so that frames stay beyond it.
    for _ in 0..20 {
        climb(100, &mut || {
            for depth in 1..20 {
                caught(catch_unwind(move || descend(depth, 1)).unwrap_err(),
                       depth);
                drop(Nester(depth));
            }
        });
    }
    // A panic that leaves frames of the outer recursion, too.
    for depth in (1..DEEPEST).step_by(7) {
        let result = catch_unwind(AssertUnwindSafe(|| {
            climb(depth, &mut || {
                descend(depth, 0);
            })
        }));
        caught(result.unwrap_err(), depth);
    }
}

fn threads() {
    for round in 0..4 {
        let handles: Vec<_> = (0..16)
            .map(|number| {
                thread::spawn(move || {
                    for depth in 1..30 {
                        let error = catch_unwind(move || descend(depth, 2));
                        caught(error.unwrap_err(), depth);
                    }
                    descend(number * 12 + round, 3)
                })
            })
            .collect();
        for handle in handles {
            caught(handle.join().unwrap_err(), 0);
        }
    }
}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        climb(30, &mut || panic!("while another is under way"));
    }
}

fn report() {
    println!("made {}", MADE.load(SeqCst));
    println!("dropped {}", DROPPED.load(SeqCst));
    println!("payloads {}", PAYLOADS.load(SeqCst));
    println!("payloads_gone {}", PAYLOADS_GONE.load(SeqCst));
    println!("caught {}", CAUGHT.load(SeqCst));
    println!("bytes {}", BYTES.load(SeqCst));
}

fn main() {
    let what = std::env::args().nth(1).unwrap_or_default();
    if what == "unwind" || what == "threads" {
        std::panic::set_hook(Box::new(|_| {}));
    }
    match what.as_str() {
        "unwind" => unwind(),
        "threads" => threads(),
        "trace" => {
            let result = catch_unwind(|| {
                climb(12, &mut || panic!("with a backtrace"));
            });
            println!("{}", result.is_err());
        }
        "drop" => {
            climb(20, &mut || {
                let _bomb = Bomb;
                climb(20, &mut || panic!("the first"));
            });
        }
        "plain" => {
            climb(60, &mut || {
                let text: Option<String> = black_box(None);
                text.unwrap();
            });
        }
        _ => std::process::exit(2),
    }
    report();
}
