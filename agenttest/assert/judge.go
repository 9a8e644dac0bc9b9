package assert

import (
	"context"

	"github.com/callwright/callwright/agents/llm"
)

// Judge judges by criteria that no rule can decide. Package judge implements one with a language model. agenttesttest.RunJudge
// tests it.
type Judge interface {
	// Judge judges a conversation by a criterion. The result depends only on these two, as far as a model allows, and does not
	// change them. With an error there is no opinion, and Verdict is empty: the error is the model's *llm.Failure, with its class,
	// or the error of ctx. Opinions without a basis in the evidence are CannotJudge, not an error. A conversation without words
	// never passes. Judge is safe for concurrent use, and returns an error when ctx ends or has ended.
	Judge(ctx context.Context, e *Evidence, c Criterion) (Opinion, error)
}

// Criterion is a criterion for a judge. It never contains the persona of the caller or the name of the scenario.
type Criterion struct {
	Assertion    string // its id
	Prompt       string // the criterion in the client's words
	Instructions string // of CustomLLM: the client's own rules for the judge
	Model        string // empty: the judge's
	Output       Output
	Labels       []string // of OutputCategorical
	PassLabels   []string // of OutputCategorical: the labels with which an assertion passes
	PassOnTrue   bool     // of OutputBoolean: true passes; else false passes
	Threshold    float64  // of OutputScore and OutputTone: least passing score
	Samples      int      // votes: 1, 3 or 5; 0: the judge's
	Symmetric    bool     // take all votes concurrently; else take more than one only after a vote that does not pass
}

// Output is the kind of a judge's answer.
type Output string

// The kinds.
const (
	OutputBoolean     Output = "boolean"
	OutputScore       Output = "score"
	OutputCategorical Output = "categorical"
	OutputTone        Output = "tone"
)

// JudgeVerdict is the decision of a judge.
type JudgeVerdict string

// The decisions.
const (
	JudgePass   JudgeVerdict = "pass"
	JudgeFail   JudgeVerdict = "fail"
	CannotJudge JudgeVerdict = "cannot_judge"
)

// Opinion is the answer of a judge about a conversation. Score, Label and Tone may be absent if Verdict is CannotJudge.
type Opinion struct {
	Verdict   JudgeVerdict // by majority of the samples; a Score of at least Threshold passes, a Label of PassLabels passes
	Score     *float64     // of OutputScore and OutputTone: the median of the samples, from 0 to 1
	Label     string       // of OutputCategorical: one of Labels
	Code      Code         // of JudgeFail: one of JudgeCodes; else empty
	Reasoning string       // not empty
	Quotes    []Quote
	Tone      *Tone    // of OutputTone
	Samples   []Sample // at least one; with Symmetric exactly Criterion.Samples
	Agreement float64  // share of the samples that agree with Verdict, or with Label, if any, from 0 to 1
	Usage     llm.Usage
}

// JudgeCodes returns the codes that a judge chooses from when it does not pass a conversation.
func JudgeCodes() []Code {
	return []Code{
		CodeWrongInformation, CodeMissingStep, CodeInstructionBroken, CodeNotUnderstood, CodeRepetition, CodeWrongTone, CodeWrongEnd, CodeOther,
	}
}
