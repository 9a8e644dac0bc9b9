package stats

// Source says where the variation of a scenario's results comes from.
type Source string

// The sources.
const (
	NoSource          Source = "" // there is no variation, or it is not known
	FromJudge         Source = "judge"
	FromAgentOrCaller Source = "agent_or_caller"
	FromErrors        Source = "infrastructure"
)

// JudgedAgain is how often a conversation is judged again to find the source of a variation.
const JudgedAgain = 3

// Frozen is a run whose conversation was judged again, as it was.
type Frozen struct {
	State  State   // of the run: Passed or Failed
	Again  []State // Passed or Failed, of each time that gave a verdict
	Digest string  // the same for runs in which the same was said and done
}

// Varies reports whether judging the conversation again gave another verdict.
func (f Frozen) Varies() bool {
	for _, again := range f.Again {
		if again != f.State {
			return true
		}
	}
	return false
}

// SourceOf returns the source of a scenario's variation. frozen are runs of it that were judged again, some of those that have
// passed and some of those that have failed.
//
// It is the judge if a verdict changes while the conversation stays, or if equal conversations have different verdicts. It is
// the agent or the caller if the verdicts stay and the conversations differ: then at least one conversation of each verdict must
// have got all verdicts again. Without passed or without failed runs, errors are the variation.
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
