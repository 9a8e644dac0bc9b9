package assert

import "github.com/callwright/callwright/agents/llm"

// Outcome is the outcome of an assertion for a run.
type Outcome string

// The Outcome of an assertion.
const (
	Passed Outcome = "PASSED"
	Failed Outcome = "FAILED"
	Error  Outcome = "ERROR" // the assertion could not be evaluated, regardless of the agent
)

// Result is the result of one assertion for a conversation.
type Result struct {
	Assertion string // id of the assertion
	Type      Type
	Name      string
	Required  bool
	Weight    float64
	Outcome   Outcome
	Score     *float64 // from 0 to 1; nil if the assertion could not be evaluated
	Code      Code     // reason for not passing; empty if Passed
	Reasoning string   // human-readable
	Expected  any      // a value that JSON can encode; nil if nothing was compared
	Actual    any
	Turn      *int    // index of the deciding turn; nil if no single turn decided
	Node      string  // for Failed: id of the blamed visited node, see Blame; empty if no single node is to blame
	Quotes    []Quote // for a judged assertion
	Samples   []Sample
	Agreement *float64 // share of the samples that agree, from 0 to 1; nil if not judged
	Tone      *Tone    // for ServiceTone
	Usage     llm.Usage
}

// Code is the reason why an assertion did not pass. The set of codes is closed, so that failures can be counted by code.
type Code string

// These constants are the codes of assertions that rules decide.
const (
	CodeNoMatch         Code = "no_match"         // the words or the value are not as expected
	CodeForbidden       Code = "forbidden_match"  // a text that must not occur was found
	CodeVariableMissing Code = "variable_missing" // the variable has no value
	CodeNodeMissed      Code = "node_missed"      // a node was not visited
	CodeNodeForbidden   Code = "node_forbidden"   // a forbidden node was visited
	CodeWrongOrder      Code = "wrong_order"
	CodeWrongPath       Code = "wrong_path"
	CodeNoWebhook       Code = "webhook_missing"
	CodeManyWebhooks    Code = "webhook_too_often"
)

// These constants are the codes from which a judge chooses when a conversation does not pass.
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

// These constants are the codes of assertions that could not be evaluated.
const (
	CodeUnknownNode        Code = "unknown_node"         // the tested version lacks the node: the scenario is stale
	CodeTooLarge           Code = "too_large"            // the data exceeds the limits
	CodeInvalidConfig      Code = "invalid_config"       // Compile refuses the stored assertion
	CodeInterrupted        Code = "interrupted"          // the context of the evaluation was done; no run stores such a result
	CodeCannotJudge        Code = "cannot_judge"         // the evidence does not decide the criterion
	CodeJudgeUnavailable   Code = "judge_unavailable"    // no model is configured, or the model failed
	CodeJudgeInvalidOutput Code = "judge_invalid_output" // the model's answers were invalid after all attempts
)

// Quote is a quotation from the conversation by a judge.
type Quote struct {
	Turn     int
	Text     string
	Verified bool // whether the turn with the index Turn contains the words
}

// Sample is one vote of a judge on a criterion.
type Sample struct {
	Verdict   JudgeVerdict
	Score     *float64
	Label     string
	Reasoning string
	Model     string // the model that answered, if reported
}

// Tone rates the naturalness of an agent's speech. Scores are from 0 to 1.
type Tone struct {
	Naturalness, Conciseness, Empathy, Flow, BackChanneling, TopicTransitions, Overall float64

	Issues   []string
	Examples []ToneExample
	// The following fields are counted by rules, independently of the model.
	WordsPerTurn      float64 // mean number of the agent's words per turn
	RepeatedSentences float64 // share of the agent's sentences that are repetitions, from 0 to 1
}

// ToneExample is a turn that illustrates the tone rating.
type ToneExample struct {
	Turn      int
	Category  string
	Text      string
	Sentiment string // "positive", "neutral" or "negative"
}
