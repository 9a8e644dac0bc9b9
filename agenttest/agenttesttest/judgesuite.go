package agenttesttest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
)

// judgeTime is the time limit of each opinion in RunJudge.
const judgeTime = 10 * time.Second

// JudgeHarness creates the judges that RunJudge tests.
type JudgeHarness struct {
	New func(t *testing.T) assert.Judge // must judge every Output without an error, and must not pass a conversation without words
	// Failing returns a judge whose model always fails with the given class. If nil, the suite omits these tests.
	Failing func(t *testing.T, class llm.Class) assert.Judge
}

// RunJudge tests an assert.Judge. It does not test the quality of the opinions: see MeasureJudge. Each opinion must arrive within 10
// seconds.
func RunJudge(t *testing.T, h JudgeHarness) {
	t.Helper()
	for _, output := range []assert.Output{assert.OutputBoolean, assert.OutputScore, assert.OutputCategorical, assert.OutputTone} {
		c := judgeCriterion(output)
		t.Run("Judges/"+string(output), func(t *testing.T) { judges(t, h.New(t), c) })
	}
	c := judgeCriterion(assert.OutputBoolean)
	t.Run("TakesVotes", func(t *testing.T) {
		c := c
		c.Samples, c.Symmetric = 5, true
		if o := judges(t, h.New(t), c); len(o.Samples) != 5 {
			t.Errorf("there are %d votes, want 5", len(o.Samples))
		}
	})
	t.Run("PassesNothingWithoutWords", func(t *testing.T) {
		for _, e := range []*assert.Evidence{{}, {Turns: []assert.Turn{{Role: llm.RoleAgent, Text: " \n"}}}} {
			if o, err := h.New(t).Judge(t.Context(), e, c); err == nil && o.Verdict == assert.JudgePass {
				t.Errorf("a conversation without words passes: %+v", o)
			}
		}
	})
	t.Run("SideBySide", func(t *testing.T) {
		j := h.New(t)
		var wait sync.WaitGroup
		for range 8 {
			wait.Go(func() { judges(t, j, c) })
		}
		wait.Wait()
	})
	t.Run("EndsWithItsContext", func(t *testing.T) { judgeEnds(t, h.New(t), c) })
	if h.Failing == nil {
		return
	}
	for _, class := range []llm.Class{llm.ClassQuota, llm.ClassPermanent, llm.ClassTooLong, llm.ClassUnsupported} {
		t.Run("Fails/"+string(class), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), judgeTime)
			defer cancel()
			if o, err := h.Failing(t, class).Judge(ctx, judgedTalk(), c); err == nil || llm.ClassOf(err) != class || o.Verdict != "" {
				t.Errorf("got %+v, error %v", o, err)
			}
		})
	}
}

// judgedTalk returns the conversation that the suite's judges judge.
func judgedTalk() *assert.Evidence {
	e := Talk("Hello, this is the shop.", "Two pizzas, please.", "Two pizzas. Goodbye.")
	e.Org, e.Run, e.Variables = "a", "run", map[string]any{"count": int64(2)}
	return e
}

// judgeCriterion returns a criterion with the given output.
func judgeCriterion(output assert.Output) assert.Criterion {
	c := assert.Criterion{Assertion: "a", Output: output, PassOnTrue: true, Threshold: 0.7}
	if output != assert.OutputTone {
		c.Prompt = "The agent says goodbye."
	}
	if output == assert.OutputCategorical {
		c.Labels, c.PassLabels = []string{"good", "bad"}, []string{"good"}
	}
	return c
}

// judges checks that an opinion is well formed and that the judge does not change its input, and returns the opinion.
func judges(t *testing.T, j assert.Judge, c assert.Criterion) assert.Opinion {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), judgeTime)
	defer cancel()
	e := judgedTalk()
	before := fmt.Sprintf("%+v %+v", *e, c)
	o, err := j.Judge(ctx, e, c)
	if err != nil {
		t.Errorf("%s: %v", c.Output, err)
		return o
	}
	if after := fmt.Sprintf("%+v %+v", *e, c); after != before {
		t.Errorf("the conversation or the criterion became %s", after)
	}
	if len(o.Samples) == 0 || o.Agreement < 0 || o.Agreement > 1 || o.Reasoning == "" {
		t.Errorf("got %+v", o)
	}
	if failed := o.Verdict == assert.JudgeFail; failed != slices.Contains(assert.JudgeCodes(), o.Code) || !failed && o.Code != "" {
		t.Errorf("the verdict is %s with the code %q", o.Verdict, o.Code)
	}
	passed := o.Verdict == assert.JudgePass
	switch {
	case o.Verdict == assert.CannotJudge:
	case !passed && o.Verdict != assert.JudgeFail:
		t.Errorf("the verdict is %q", o.Verdict)
	case c.Output == assert.OutputCategorical && (!slices.Contains(c.Labels, o.Label) || passed != slices.Contains(c.PassLabels, o.Label)):
		t.Errorf("the verdict is %s with the label %q", o.Verdict, o.Label)
	case c.Output == assert.OutputTone && o.Tone == nil:
		t.Error("there is no tone")
	case c.Output == assert.OutputTone || c.Output == assert.OutputScore:
		if o.Score == nil || !(*o.Score >= 0 && *o.Score <= 1) || passed != (*o.Score >= c.Threshold) {
			t.Errorf("the verdict is %s, the score %v", o.Verdict, o.Score)
		}
	}
	for _, q := range o.Quotes {
		if q.Verified && (q.Turn < 0 || q.Turn >= len(e.Turns)) {
			t.Errorf("a verified quote stands in no turn: %+v", q)
		}
	}
	return o
}

// judgeEnds checks that a judge whose context is done returns an error within judgeTime.
func judgeEnds(t *testing.T, j assert.Judge, c assert.Criterion) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := j.Judge(ctx, judgedTalk(), c)
		ended <- err
	}()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("a judge whose context has ended has an opinion")
		}
	case <-time.After(judgeTime):
		t.Error("the judge does not end with its context")
	}
}
