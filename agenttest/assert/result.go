package assert

import "github.com/callwright/callwright/agents/llm"

// Outcome is the outcome of an assertion.
type Outcome string

// The outcomes.
const (
	Passed Outcome = "PASSED"
	Failed Outcome = "FAILED"
	Error  Outcome = "ERROR" // it could not be evaluated, independently of the agent
)

// Result is the result of an assertion.
type Result struct {
	Assertion string // its id
	Type      Type
	Name      string
	Required  bool
	Weight    float64
	Outcome   Outcome
	Score     *float64 // from 0 to 1; nil: it could not be evaluated
	Code      Code     // reason for not passing; empty: passed
	Reasoning string   // for people
	Expected  any      // a value that JSON can encode; nil: no comparison
	Actual    any
	Turn      *int    // index of the deciding turn; nil: no single one
	Node      string  // of Failed: id of the blamed visited node, see Blame; empty: no single one
	Quotes    []Quote // of a judged assertion
	Samples   []Sample
	Agreement *float64 // of the samples, from 0 to 1; nil: it was not judged
	Tone      *Tone    // of ServiceTone
	Usage     llm.Usage
}

// Code is the reason for which an assertion has not passed. The set is closed, so that failures can be counted by code.
type Code string

// The codes of assertions that a rule decides.
const (
	CodeNoMatch         Code = "no_match"         // the words or the value are not as expected
	CodeForbidden       Code = "forbidden_match"  // a forbidden text was said
	CodeVariableMissing Code = "variable_missing" // the variable has no value
	CodeNodeMissed      Code = "node_missed"      // a node was not visited
	CodeNodeForbidden   Code = "node_forbidden"   // a forbidden node was visited
	CodeWrongOrder      Code = "wrong_order"
	CodeWrongPath       Code = "wrong_path"
	CodeNoWebhook       Code = "webhook_missing"
	CodeManyWebhooks    Code = "webhook_too_often"
)

// The codes that a judge chooses from when it does not pass a conversation.
const (
	CodeWrongInformation  Code = "wrong_information"
	CodeMissingStep       Code = "missing_step"
	CodeInstructionBroken Code = "instruction_broken"
	CodeNotUnderstood     Code = "caller_not_understood"
	CodeRepetition        Code = "repetition"
	CodeWrongTone         Code = "wrong_tone"
	CodeWrongEnd          Code = "wrong_end"
	CodeOther             Code = "other"
)

// The codes of assertions that could not be evaluated.
const (
	CodeUnknownNode        Code = "unknown_node"         // the tested version lacks the node: the scenario is stale
	CodeTooLarge           Code = "too_large"            // the data exceeds the limits
	CodeInvalidConfig      Code = "invalid_config"       // Compile refuses the stored assertion
	CodeInterrupted        Code = "interrupted"          // the context of the evaluation has ended: no run stores such a result
	CodeCannotJudge        Code = "cannot_judge"         // the evidence does not decide the criterion
	CodeJudgeUnavailable   Code = "judge_unavailable"    // no model, or it has failed
	CodeJudgeInvalidOutput Code = "judge_invalid_output" // the model's answers were invalid after all attempts
)

// Quote is a quotation by a judge.
type Quote struct {
	Turn     int
	Text     string
	Verified bool // the turn with the index Turn contains the words
}

// Sample is one vote of a judge.
type Sample struct {
	Verdict   JudgeVerdict
	Score     *float64
	Label     string
	Reasoning string
	Model     string // the answering model, if reported
}

// Tone is the naturalness of an agent's speech. Scores are from 0 to 1.
type Tone struct {
	Naturalness, Conciseness, Empathy, Flow, BackChanneling, TopicTransitions, Overall float64

	Issues   []string
	Examples []ToneExample
	// Counted by rules, separate from the model's scores.
	WordsPerTurn      float64 // of the agent
	RepeatedSentences float64 // share of the agent's repeated sentences, from 0 to 1
}

// ToneExample is a turn that illustrates the tone.
type ToneExample struct {
	Turn      int
	Category  string
	Text      string
	Sentiment string // "positive", "neutral" or "negative"
}
