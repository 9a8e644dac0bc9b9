package assert

import (
	"context"

	"github.com/callwright/callwright/agents/llm"
)

// Judge judges conversations by criteria that rules cannot decide. Package judge implements it with a language model.
// agenttesttest.RunJudge tests implementations.
type Judge interface {
	// Judge judges a conversation by a criterion. The opinion depends only on the evidence and the criterion, as far as a model permits,
	// and Judge does not change them. If Judge fails, Verdict is empty, and the error is the model's *llm.Failure or the error of ctx. If
	// the evidence does not suffice for an opinion, Verdict is CannotJudge, and there is no error. A conversation without words never
	// passes. Judge returns an error when ctx is done. It is safe for concurrent use.
	Judge(ctx context.Context, e *Evidence, c Criterion) (Opinion, error)
}

// Criterion is a criterion for a judge. It contains neither the persona of the caller nor the name of the scenario.
type Criterion struct {
	Assertion    string // id of the assertion
	Prompt       string // the criterion in the client's words
	Instructions string // for CustomLLM: the client's own rules for the judge
	Model        string // model name; empty means the judge's default
	Output       Output
	Labels       []string // for OutputCategorical: all categories
	PassLabels   []string // for OutputCategorical: the labels with which an assertion passes
	PassOnTrue   bool     // for OutputBoolean: the answer true passes, else the answer false
	Threshold    float64  // for OutputScore and OutputTone: the lowest passing score
	Samples      int      // number of votes: 1, 3 or 5; 0 means the judge's default
	Symmetric    bool     // request all votes concurrently; else request further votes only if the first vote does not pass
}

// Output is the form of a judge's answer.
type Output string

// The Output of a judge.
const (
	OutputBoolean     Output = "boolean"
	OutputScore       Output = "score"
	OutputCategorical Output = "categorical"
	OutputTone        Output = "tone"
)

// JudgeVerdict is the decision of a judge on a criterion.
type JudgeVerdict string

// The JudgeVerdict of an Opinion.
const (
	JudgePass   JudgeVerdict = "pass"
	JudgeFail   JudgeVerdict = "fail"
	CannotJudge JudgeVerdict = "cannot_judge"
)

// Opinion is the answer of a judge about a conversation. If Verdict is CannotJudge, Score, Label and Tone may be absent.
type Opinion struct {
	Verdict   JudgeVerdict // majority of the samples; a Score of at least Threshold passes, and a Label in PassLabels passes
	Score     *float64     // for OutputScore and OutputTone: the median of the samples, from 0 to 1
	Label     string       // for OutputCategorical: one of Criterion.Labels
	Code      Code         // for JudgeFail: one of JudgeCodes; else empty
	Reasoning string       // human-readable; never empty
	Quotes    []Quote
	Tone      *Tone    // for OutputTone
	Samples   []Sample // the votes, all of them if Symmetric; may be empty if CannotJudge
	Agreement float64  // share of the samples that agree with Verdict or, if set, with Label, from 0 to 1
	Usage     llm.Usage
}

// JudgeCodes returns the codes from which a judge chooses when a conversation does not pass.
func JudgeCodes() []Code {
	return []Code{
		CodeWrongInformation, CodeMissingStep, CodeInstructionBroken, CodeNotUnderstood, CodeRepetition, CodeWrongTone, CodeWrongEnd, CodeOther,
	}
}
