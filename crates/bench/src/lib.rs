//! Benchmark tables: drystone compared with naive rendering and with the best crates.
//!
//! ```text
//!  drystone-bench TABLE ─► tables ─► one folder a table ─► Run: A B C  B C A  C A B …
//!                                                             │ medians
//!                          text with ratios, JSON  ◄── Table ◄┘
//! ```
//! A table is a list of cases. In each case, several contenders do the same work. They run
//! interleaved, round by round, in one process, so that other load on the machine affects all of
//! them equally. Every contender checks its own result: a wrong result is an error, not a fast
//! time.
//!
//! # Examples
//! ```
//! use drystone_bench::{Contender, Figure, Options, Run};
//!
//! let options = Options { rounds: 3, ..Options::default() };
//! let mut run = Run::new("sums", &options);
//! let add = || Ok(vec![Figure::time_ns_per_op((1..=100u64).sum::<u64>() as f64, 100)]);
//! run.case("hundred", || Ok(vec![Contender::new("loop", add)]))?;
//! assert_eq!(run.table.rows()[0].median, 50.5);
//! # Ok::<(), drystone_bench::Error>(())
//! ```
//!
//! # Limits
//! Times are wall-clock times of one thread. Compare only figures of the same run.
#![deny(unsafe_code)]

mod arenas;
mod chart;
mod drawing;
mod error;
mod json;
mod meshing;
mod noise_field;
mod plain_memory;
mod polygons;
mod pool_table;
mod random;
mod rounds;
mod spaces;
mod table;
mod tables;
mod text;
mod turnover;
mod versions;
mod world;

pub use chart::write_svg;
pub use drawing::article::{ArticleDevice, FatDevice, MergedDevice};
pub use error::{Error, Failure};
pub use json::{read_json, write_json};
pub use random::Random;
pub use rounds::{Contender, Figure, Options, Run};
pub use table::{Machine, Row, Table};
pub use tables::{TABLES, TableEntry, find_table};
pub use versions::version_of;
