package judge

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
)

// These constants limit the texts in an opinion, in bytes.
const (
	maxReasoning = 2000 // of a vote; for tone, the reasoning about the aspects may add as much again
	maxText      = 1000 // of a quote, an issue and an example
)

// answer is the JSON form of a model's answer, as its schema describes it.
type answer struct {
	Evidence  []quote             `json:"evidence"`
	Reasoning string              `json:"reasoning"`
	Verdict   assert.JudgeVerdict `json:"verdict"`
	Score     *float64            `json:"score"`
	Label     *string             `json:"label"`
	Code      *assert.Code        `json:"failure_code"`
	Scores    map[string]aspect   `json:"scores"`
	Issues    []string            `json:"issues"`
	Examples  []example           `json:"examples"`
	Overall   *float64            `json:"overall"`
}

type quote struct {
	Turn  int    `json:"turn"`
	Quote string `json:"quote"`
}

type aspect struct {
	Reasoning string   `json:"reasoning"`
	Score     *float64 `json:"score"`
}

type example struct {
	Turn      int    `json:"turn"`
	Category  string `json:"category"`
	Text      string `json:"text"`
	Sentiment string `json:"sentiment"`
}

// check returns an error for contradictions and omissions in an answer that the schema cannot detect.
func (a *answer) check(output assert.Output) error {
	switch {
	case strings.TrimSpace(a.Reasoning) == "":
		return errors.New("the reasoning is empty")
	case output == assert.OutputBoolean && a.Verdict == assert.JudgeFail && a.Code == nil:
		return errors.New("the verdict is fail, so the failure_code must not be null")
	case output == assert.OutputBoolean && a.Verdict == assert.JudgePass && a.Code != nil:
		return errors.New("the verdict is pass, so the failure_code must be null")
	}
	for _, name := range aspects {
		if output == assert.OutputTone && a.Overall != nil && a.Scores[name].Score == nil {
			return fmt.Errorf("overall has a score, so %s must have one", name)
		}
	}
	return nil
}

// fold returns a text in the form in which quotes are compared: cleaned as for the model, in Unicode's form NFC, and with each run of white
// space replaced by a blank.
func fold(text string) string {
	return strings.Join(strings.Fields(norm.NFC.String(llm.Clean(text))), " ")
}

// says reports whether a turn contains these words. It returns false for blank words and for an index without a turn.
func (b *ballot) says(turn int, words string) bool {
	words = fold(words)
	return words != "" && turn >= 0 && turn < len(b.question.Messages) && strings.Contains(fold(b.question.Messages[turn].Text), words)
}

// misquoted returns an error about the first quote of an answer that its turn does not contain, or nil if all quotes are correct.
func (b *ballot) misquoted(a *answer) error {
	wrong := func(turn int, words string) error {
		return fmt.Errorf("turn %d does not have the words %q: copy words exactly and name their turn, or leave the quote out", turn, callwright.Clip(words, 200))
	}
	for _, q := range a.Evidence {
		if !b.says(q.Turn, q.Quote) {
			return wrong(q.Turn, q.Quote)
		}
	}
	for _, e := range a.Examples {
		if !b.says(e.Turn, e.Text) {
			return wrong(e.Turn, e.Text)
		}
	}
	return nil
}

// read converts an answer to a vote.
func (b *ballot) read(a *answer) vote {
	c := &b.criterion
	v := vote{Sample: assert.Sample{Verdict: a.Verdict, Reasoning: text(a.Reasoning, maxReasoning)}}
	if a.Code != nil {
		v.code = *a.Code
	}
	for _, q := range a.Evidence {
		v.quotes = append(v.quotes, assert.Quote{Turn: q.Turn, Text: text(q.Quote, maxText), Verified: b.says(q.Turn, q.Quote)})
	}
	switch c.Output {
	case assert.OutputScore:
		v.score(a.Score, c.Threshold)
	case assert.OutputTone:
		v.score(a.Overall, c.Threshold)
		v.code = assert.CodeWrongTone
		b.readTone(a, &v)
	case assert.OutputCategorical:
		v.Verdict = assert.CannotJudge
		if a.Label != nil {
			v.label(*a.Label, c.PassLabels)
		}
	case assert.OutputBoolean:
	}
	return v
}

// readTone adds the tone rating, and the reasoning about each aspect, to a vote that has a score. It omits examples whose words their turn
// does not contain.
func (b *ballot) readTone(a *answer, v *vote) {
	if v.Score == nil {
		return
	}
	v.tone = &assert.Tone{}
	parts := parts(v.tone)
	var why strings.Builder
	why.WriteString(v.Reasoning)
	for i, name := range aspects {
		*parts[i] = *a.Scores[name].Score
		fmt.Fprintf(&why, "\n%s %.2f: %s", name, *parts[i], text(a.Scores[name].Reasoning, maxReasoning/len(aspects)))
	}
	v.tone.Overall = *v.Score
	v.Reasoning = why.String()
	for _, issue := range a.Issues {
		v.tone.Issues = append(v.tone.Issues, text(issue, maxText))
	}
	for _, e := range a.Examples {
		if b.says(e.Turn, e.Text) {
			v.tone.Examples = append(v.tone.Examples, assert.ToneExample{Turn: e.Turn, Category: e.Category, Text: text(e.Text, maxText), Sentiment: e.Sentiment})
		}
	}
}

// text returns a model's text, cleaned, trimmed and truncated to at most the given number of bytes.
func text(s string, most int) string { return callwright.Clip(strings.TrimSpace(llm.Clean(s)), most) }
