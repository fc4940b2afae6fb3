//! Makes the read requests of a language model, token by token.
//!
//! A token reads the dense part, then its experts in the order in which they lie on the drive, then
//! the key-value window. The requests of a token are spread evenly over the time of the token. A
//! token uses `active` experts on average. For each token, this number is randomly rounded up or
//! down.
//!
//! The experts of a token are drawn by systematic sampling. For this method, each expert gets a
//! section of a line. The length of a section is the probability that a token uses the expert.
//! Points at a distance of 1 are put on the line, and the first point is random. The token uses the
//! experts whose sections contain a point.

use vpass_drive::base::request::{Op, Request};

use super::law::ModelLaw;
use crate::synthetic::random::{Random, Rng, Streams, below};

/// Endless read requests of the tokens.
pub(super) struct Tokens {
    random: Random,
    /// Number of tokens so far, including the current token.
    pub(super) begun: u64,
    /// Requests of the current token, each with its first byte and its length.
    requests: Vec<(u64, u32)>,
    /// Number of requests of the current token that were handed out so far.
    done: usize,
}

impl Tokens {
    pub(super) fn new(seed: u64) -> Self {
        Self { random: Streams::new(seed).address, begun: 0, requests: vec![], done: 0 }
    }

    /// Returns the next request of the current token, or `None` at the end of the token. Request
    /// times follow a clock that runs only in the hours of use.
    pub(super) fn next(&mut self, law: &ModelLaw) -> Option<Request> {
        let (offset, bytes) = *self.requests.get(self.done)?;
        let token = (self.begun - 1) as f64 + self.done as f64 / self.requests.len() as f64;
        self.done += 1;
        let at = (token / law.config.tokens_per_second * 1e9) as u64;
        Some(Request::new(at, offset, bytes, Op::Read))
    }

    /// Draws the requests of the next token.
    pub(super) fn begin(&mut self, law: &ModelLaw) {
        (self.begun, self.done) = (self.begun + 1, 0);
        self.requests.clear();
        let (pinned, dense) = (law.pinned, law.config.dense_bytes());
        cut(&mut self.requests, law, pinned, dense);
        self.draw_experts(law);
        if law.read_share() < 1.0 {
            let share = law.read_share();
            let random = &mut self.random;
            self.requests.retain(|_| fraction(random) < share);
        }
        self.draw_window(law);
    }

    fn draw_experts(&mut self, law: &ModelLaw) {
        let mut next = fraction(&mut self.random);
        let mut sum = 0.0;
        for (place, (chance, miss)) in law.chances.iter().zip(&law.misses).enumerate() {
            sum += chance;
            if sum <= next {
                continue;
            }
            next += 1.0;
            if fraction(&mut self.random) < *miss {
                let (begin, end) = law.expert(place as u64);
                cut(&mut self.requests, law, begin, end);
            }
        }
    }

    fn draw_window(&mut self, law: &ModelLaw) {
        let mean = law.kv_reads_per_token();
        let reads = mean as u64 + u64::from(fraction(&mut self.random) < mean.fract());
        let size = law.config.request_size.0;
        let places = law.config.window_bytes() / size;
        let first = law.config.window_begin();
        for _ in 0..reads {
            self.requests.push((first + below(&mut self.random, places) * size, size as u32));
        }
    }
}

/// Divides the bytes from `begin` to `end` into requests. A new request begins at each multiple of
/// the request size.
fn cut(requests: &mut Vec<(u64, u32)>, law: &ModelLaw, begin: u64, end: u64) {
    let size = law.config.request_size.0;
    let mut at = begin;
    while at < end {
        let next = ((at / size + 1) * size).min(end);
        requests.push((at, (next - at) as u32));
        at = next;
    }
}

fn fraction(random: &mut Random) -> f64 {
    (random.next_u64() >> 11) as f64 * 2f64.powi(-53)
}
