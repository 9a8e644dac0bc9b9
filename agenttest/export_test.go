package agenttest

// VerdictOf returns the state of a group whose runs have all ended.
func VerdictOf(b Batch) State { return b.state() }

// LookEvery is how long a node takes to notice what another one has cancelled.
const LookEvery = lookEvery
