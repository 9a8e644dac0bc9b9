package stats

// Source is the source of the variation in a scenario's results.
type Source string

// These constants are the sources that SourceOf returns.
const (
	NoSource          Source = "" // the results do not vary, or the source is unknown
	FromJudge         Source = "judge"
	FromAgentOrCaller Source = "agent_or_caller"
	FromErrors        Source = "infrastructure"
)

// JudgedAgain is the number of repeated judgments of a conversation by which the source of a variation is determined.
const JudgedAgain = 3

// Frozen is a run whose unchanged conversation was judged again.
type Frozen struct {
	State  State   // state of the run: Passed or Failed
	Again  []State // Passed or Failed for each repeated judgment that resulted in a verdict
	Digest string  // equal for runs with equal words and actions
}

// Varies reports whether a repeated judgment resulted in another verdict than the run.
func (f Frozen) Varies() bool {
	for _, again := range f.Again {
		if again != f.State {
			return true
		}
	}
	return false
}

// SourceOf returns the source of a scenario's variation. frozen contains some of its passed and some of its failed runs, which were judged
// again.
//
// The source is the judge if repeated verdicts on a conversation differ, or if verdicts on equal conversations differ. It is the agent or
// the caller if verdicts do not change and the conversations differ: for each verdict, all judgments of at least one conversation must
// agree. If the scenario is not flaky, but some of its runs were errors and others have a verdict, the source is the errors. Otherwise
// SourceOf returns NoSource.
func SourceOf(s Scenario, frozen []Frozen) Source {
	if !s.IsFlaky {
		if s.Errors > 0 && s.Passed+s.Failed > 0 {
			return FromErrors
		}
		return NoSource
	}
	verdicts := map[string]State{}
	stable := map[State]bool{}
	for _, f := range frozen {
		before, known := verdicts[f.Digest]
		if f.Varies() || known && before != f.State {
			return FromJudge
		}
		verdicts[f.Digest] = f.State
		if len(f.Again) == JudgedAgain {
			stable[f.State] = true
		}
	}
	if stable[Passed] && stable[Failed] {
		return FromAgentOrCaller
	}
	return NoSource
}
