package stats

// Source is the cause of the variation of a scenario's results.
type Source string

// The sources.
const (
	NoSource          Source = "" // no variation, or an unknown source
	FromJudge         Source = "judge"
	FromAgentOrCaller Source = "agent_or_caller"
	FromErrors        Source = "infrastructure"
)

// JudgedAgain is the number of repeated judgements of a conversation that find the source of a variation.
const JudgedAgain = 3

// Frozen is a run whose unchanged conversation was judged again.
type Frozen struct {
	State  State   // of the run: Passed or Failed
	Again  []State // Passed or Failed, of each time that gave a verdict
	Digest string  // equal for runs with equal speech and actions
}

// Varies reports whether judging the conversation again gave a different verdict.
func (f Frozen) Varies() bool {
	for _, again := range f.Again {
		if again != f.State {
			return true
		}
	}
	return false
}

// SourceOf returns the source of a scenario's variation. frozen are some of its passed and some of its failed runs, judged again.
//
// It is the judge if a verdict changes for the same conversation, or if equal conversations have different verdicts. It is the
// agent or the caller if the verdicts stay and the conversations differ: then at least one conversation of each verdict must have
// got the same verdict every time. Without passed or without failed runs, errors are the variation.
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
