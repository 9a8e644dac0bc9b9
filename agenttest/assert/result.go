package assert

import "github.com/callwright/callwright/agents/llm"

// Outcome is what came of an assertion.
type Outcome string

// The outcomes.
const (
	Passed Outcome = "PASSED"
	Failed Outcome = "FAILED"
	Error  Outcome = "ERROR" // it could not be evaluated, which says nothing about the agent
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
	Code      Code     // why it has not passed; empty if it has
	Reasoning string   // for people
	Expected  any      // what JSON can encode; nil: there is nothing to compare
	Actual    any
	Turn      *int    // index of the turn that decided; nil: no single one
	Node      string  // of Failed: id of the visited node that it is blamed on, see Blame; empty: no single one
	Quotes    []Quote // of a judged assertion
	Samples   []Sample
	Agreement *float64 // of the samples, from 0 to 1; nil: it was not judged
	Tone      *Tone    // of ServiceTone
	Usage     llm.Usage
}

// Code says why an assertion has not passed. The set is closed, so that failures can be counted by it.
type Code string

// The codes of assertions that a rule decides.
const (
	CodeNoMatch         Code = "no_match"         // the words or the value are not as expected
	CodeForbidden       Code = "forbidden_match"  // what must not be said was said
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
	CodeUnknownNode        Code = "unknown_node"         // the tested version has no such node: the scenario is stale
	CodeTooLarge           Code = "too_large"            // there is more to look at than the limits allow
	CodeInvalidConfig      Code = "invalid_config"       // a stored assertion is none that Compile takes
	CodeInterrupted        Code = "interrupted"          // the context of the evaluation has ended: no run keeps such a result
	CodeCannotJudge        Code = "cannot_judge"         // the evidence does not decide the criterion
	CodeJudgeUnavailable   Code = "judge_unavailable"    // there is no model, or it has failed
	CodeJudgeInvalidOutput Code = "judge_invalid_output" // the model's answers were invalid after all attempts
)

// Quote is what a judge cites.
type Quote struct {
	Turn     int
	Text     string
	Verified bool // the words stand in the turn with the index Turn
}

// Sample is one vote of a judge.
type Sample struct {
	Verdict   JudgeVerdict
	Score     *float64
	Label     string
	Reasoning string
	Model     string // the model that answered, if it tells
}

// Tone is how naturally an agent spoke. Scores are from 0 to 1.
type Tone struct {
	Naturalness, Conciseness, Empathy, Flow, BackChanneling, TopicTransitions, Overall float64

	Issues   []string
	Examples []ToneExample
	// What rules have counted, beside the model's scores and not mixed with them.
	WordsPerTurn      float64 // of the agent
	RepeatedSentences float64 // share of the agent's sentences that it had said before, from 0 to 1
}

// ToneExample is a turn that shows something about the tone.
type ToneExample struct {
	Turn      int
	Category  string
	Text      string
	Sentiment string // "positive", "neutral" or "negative"
}
