use drystone_voxel::NodePos;

/// Nodes of a source that come over a network, for callers that must not wait.
///
/// A caller asks which nodes are [missing](Self::missing), [requests](Self::request) them, shows what is
/// there, and asks again later. Requests of nodes that are no longer requested are cancelled.
pub trait Arrivals {
    /// Appends to `missing` the nodes that have to arrive before `node` can be read without waiting. They
    /// are `node` itself, or other nodes that it is made from. Appends none if it can be read.
    ///
    /// # Cost
    /// A few lookups. Never waits for the network.
    fn missing(&self, node: NodePos, missing: &mut Vec<NodePos>);

    /// Requests missing nodes, the most urgent first. They replace those of the previous call, which are
    /// cancelled unless they are among the new ones.
    ///
    /// # Cost
    /// O(nodes) lookups. Never waits for the network.
    fn request(&self, nodes: &[NodePos]);

    /// Returns the state of the connection.
    fn state(&self) -> ArrivalState;
}

/// State of a connection to a source that comes over a network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArrivalState {
    /// Number of requests that wait for an answer.
    pub waiting_requests: usize,
    /// Number of requests so far.
    pub request_count: u64,
    /// Number of bytes that were received so far, without headers.
    pub received_bytes: u64,
    /// Why the last request failed. `None` after one that succeeded.
    pub failure: Option<ArrivalFailure>,
}

/// Reason why nothing arrives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrivalFailure {
    /// Description of what happened and what to do, without the address.
    pub problem: String,
    /// Whether no further request is sent. False if requests are repeated until the problem has passed.
    pub is_final: bool,
}

impl ArrivalFailure {
    /// A problem that may pass.
    pub fn passing(problem: impl Into<String>) -> Self {
        Self { problem: problem.into(), is_final: false }
    }

    /// A problem that remains.
    pub fn lasting(problem: impl Into<String>) -> Self {
        Self { problem: problem.into(), is_final: true }
    }
}
