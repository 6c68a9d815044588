//! The right to follow the network, held by one process at a time.

use std::any::Any;

use crate::change::Fence;

/// A lease that is held. Passes on when it is dropped, or its process ends or stands still.
pub struct Lease {
    fence: Fence,
    _guard: Box<dyn Any + Send + Sync>,
}

impl Lease {
    pub(crate) fn new(fence: Fence, guard: impl Any + Send + Sync) -> Self {
        Self { fence, _guard: Box::new(guard) }
    }

    /// What a batch carries to be written under this lease. Once the lease passed on, the store refuses it.
    #[must_use]
    pub fn fence(&self) -> Fence {
        self.fence.clone()
    }
}

impl std::fmt::Debug for Lease {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lease").field("fence", &self.fence).finish_non_exhaustive()
    }
}

/// Ends a task when dropped.
pub(crate) struct EndsWhenDropped(pub(crate) tokio::task::JoinHandle<()>);

impl Drop for EndsWhenDropped {
    fn drop(&mut self) {
        self.0.abort();
    }
}
