package agenttest

// VerdictOf returns the state of a group whose runs have all ended.
func VerdictOf(b Batch) State { return b.state() }
