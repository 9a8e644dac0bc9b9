package judge

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/callwright/callwright/agenttest/assert"
)

// vote is one vote of the model on a ballot.
type vote struct {
	assert.Sample

	code   assert.Code // may be empty
	quotes []assert.Quote
	tone   *assert.Tone
}

// score sets the score and the verdict that follows from it. A nil score means that the model cannot judge.
func (v *vote) score(score *float64, threshold float64) {
	switch v.Score = score; {
	case score == nil:
		v.Verdict = assert.CannotJudge
	case *score >= threshold:
		v.Verdict = assert.JudgePass
	default:
		v.Verdict = assert.JudgeFail
	}
}

// label sets the label and the verdict that follows from it.
func (v *vote) label(label string, passing []string) {
	v.Label, v.Verdict = label, assert.JudgeFail
	if slices.Contains(passing, label) {
		v.Verdict = assert.JudgePass
	}
}

// parts returns pointers to the scores of a tone: those of the aspects, and then Overall.
func parts(t *assert.Tone) []*float64 {
	return []*float64{&t.Naturalness, &t.Conciseness, &t.Empathy, &t.Flow, &t.BackChanneling, &t.TopicTransitions, &t.Overall}
}

// decide combines 1, 3 or 5 votes into one opinion.
func decide(votes []vote) assert.Opinion {
	o := assert.Opinion{Verdict: assert.CannotJudge}
	for i := range votes {
		o.Samples = append(o.Samples, votes[i].Sample)
	}
	agreeing := winners(votes)
	if len(agreeing) == 0 {
		agreeing = where(votes, func(v *vote) bool { return v.Verdict == assert.CannotJudge })
		o.Agreement = share(agreeing, votes)
		o.Reasoning = "The votes do not agree: " + tally(votes) + "."
		return o
	}
	o.Agreement = share(agreeing, votes)
	o.Verdict, o.Label = agreeing[0].Verdict, agreeing[0].Label
	if scored := where(votes, func(v *vote) bool { return v.Score != nil }); o.Verdict != assert.CannotJudge && len(scored) > 0 {
		median := median(scored, func(v *vote) float64 { return *v.Score })
		o.Score = &median
		o.Tone = tones(where(votes, func(v *vote) bool { return v.tone != nil }))
	}
	speaker := speaker(agreeing, o.Score)
	o.Reasoning, o.Quotes = speaker.Reasoning, speaker.quotes
	if o.Tone != nil {
		o.Tone.Issues, o.Tone.Examples = speaker.tone.Issues, speaker.tone.Examples
	}
	if o.Verdict == assert.JudgeFail {
		if o.Code = speaker.code; o.Code == "" {
			o.Code = assert.CodeOther
		}
	}
	return o
}

// winners returns the votes for the most frequent verdict or label, or none if several are the most frequent. If there are only three
// verdicts and 1, 3 or 5 votes, the winners are always more than half.
func winners(votes []vote) []*vote {
	var most []*vote
	tie := false
	for i := range votes {
		like := where(votes, votes[i].agrees)
		switch {
		case len(like) > len(most):
			most, tie = like, false
		case len(like) == len(most) && like[0] != most[0]:
			tie = true
		}
	}
	if tie {
		return nil
	}
	return most
}

// agrees reports whether two votes have the same verdict and the same label.
func (v *vote) agrees(other *vote) bool { return v.Verdict == other.Verdict && v.Label == other.Label }

// speaker returns the vote that represents the agreeing votes: the one whose score is closest to the median or, without scores, the first.
func speaker(agreeing []*vote, score *float64) *vote {
	if score == nil {
		return agreeing[0]
	}
	return slices.MinFunc(agreeing, func(a, b *vote) int {
		return cmp.Compare(math.Abs(*a.Score-*score), math.Abs(*b.Score-*score))
	})
}

// tones returns a tone with the median of each score, or nil without votes.
func tones(votes []*vote) *assert.Tone {
	if len(votes) == 0 {
		return nil
	}
	t := &assert.Tone{}
	for i, part := range parts(t) {
		*part = median(votes, func(v *vote) float64 { return *parts(v.tone)[i] })
	}
	return t
}

// median returns the median of the votes' values. For an even number of votes, it is the mean of the two middle values.
func median(votes []*vote, of func(*vote) float64) float64 {
	all := make([]float64, len(votes))
	for i, v := range votes {
		all[i] = of(v)
	}
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

func where(votes []vote, is func(*vote) bool) []*vote {
	var out []*vote
	for i := range votes {
		if is(&votes[i]) {
			out = append(out, &votes[i])
		}
	}
	return out
}

func share(some []*vote, votes []vote) float64 { return float64(len(some)) / float64(len(votes)) }

// tally returns the numbers of votes by verdict or label, for a sentence.
func tally(votes []vote) string {
	var parts []string
	for i := range votes {
		like := where(votes, votes[i].agrees)
		if like[0] != &votes[i] {
			continue
		}
		said := votes[i].Label
		if said == "" {
			said = string(votes[i].Verdict)
		}
		parts = append(parts, fmt.Sprintf("%d for %s", len(like), said))
	}
	return strings.Join(parts, ", ")
}
