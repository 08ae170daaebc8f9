use serde::{Deserialize, Serialize};

/// The machine that figures were measured on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's model name.
    pub cpu: String,
    /// Threads that can run at once.
    pub cores: usize,
    /// GPU adapter of a drawing table; `none` for other tables.
    pub gpu: String,
}

impl Machine {
    /// Describes this machine, as far as the operating system reports it.
    pub fn here() -> Self {
        let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name"));
        let cpu =
            model.map_or(std::env::consts::ARCH, |rest| rest.trim_start_matches([' ', '\t', ':']));
        Self {
            cpu: cpu.to_owned(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            gpu: "none".to_owned(),
        }
    }
}
