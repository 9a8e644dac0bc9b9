package analyst

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/triage"
)

// Limits of a conclusion, in bytes unless noted.
const (
	maxCause    = 8_000
	maxQuestion = 2_000
	maxSummary  = 500
	maxAnswers  = 16_000 // of all people's answers in the question
	maxEvidence = 50     // number of citations
)

const concludeRules = `An issue of a platform for telephone agents was looked into. The evidence has the issue, what was seen in each ` +
	`resource that was read, with the lines and facts that this rests on, and what people have answered to the question that ` +
	`they were asked, if they were.

Say why the issue happened, if the evidence shows it: outcome root_cause, with the cause, what would keep it from happening ` +
	`again, how sure that is, the lines and facts that show it (a line by its number, with fact null; a fact by its name, ` +
	`with line null), and one sentence that sums it up. Cite nothing else, and guess nothing. Where the evidence does not show ` +
	`why, the outcome is unknown, and the sentence says what is missing.`

const questionRule = ` Where people could tell what is missing, the outcome is question: ask one.`

// concludeSchema is the JSON schema of a conclusion. Its verb %s is replaced by the list of allowed outcomes.
const concludeSchema = `{
	"type": "object",
	"properties": {
		"outcome": {"type": "string", "enum": [%s]},
		"root_cause": {"type": "string"},
		"suggestion": {"type": "string"},
		"confidence": {"type": "string", "enum": ["low", "medium", "high"]},
		"evidence": {"type": "array", "items": {
			"type": "object",
			"properties": {
				"resource_id": {"type": "string"},
				"line": {"type": ["integer", "null"]},
				"fact": {"type": ["string", "null"]}
			},
			"required": ["resource_id", "line", "fact"],
			"additionalProperties": false
		}},
		"summary": {"type": "string"},
		"question": {"type": "string"}
	},
	"required": ["outcome", "root_cause", "suggestion", "confidence", "evidence", "summary", "question"],
	"additionalProperties": false
}`

// conclusion is the JSON form of the model's final answer.
type conclusion struct {
	Outcome    string     `json:"outcome"`
	Cause      string     `json:"root_cause"`
	Suggestion string     `json:"suggestion"`
	Confidence string     `json:"confidence"`
	Evidence   []citation `json:"evidence"`
	Summary    string     `json:"summary"`
	Question   string     `json:"question"`
}

// citation is the JSON form of a reference to evidence in a conclusion: a resource, and a line or a fact of it.
type citation struct {
	Resource string  `json:"resource_id"`
	Line     *int    `json:"line"`
	Fact     *string `json:"fact"`
}

// finish asks the model for the root cause. If the model has not asked people before, it may ask them a question instead. If no resource
// could be read, finish ends the analysis with an error.
func (a *Analyst) finish(ctx context.Context, c triage.Case, s *state) (triage.Progress, error) {
	if len(s.Notes) == 0 {
		return stopped("Nothing could be analyzed: none of the attached resources could be read."), nil
	}
	rules, outcomes := concludeRules, `"root_cause", "unknown"`
	if s.Question == "" {
		rules, outcomes = rules+questionRule, outcomes+`, "question"`
	}
	var answer conclusion
	if err := a.ask(ctx, c, s, rules, map[string]any{
		"issue": describe(c.Issue), "flags": describeFlags(c.Flags), "seen": s.Notes, "question": s.Question, "answers": latest(c.Answers),
	}, fmt.Sprintf(concludeSchema, outcomes), &answer); err != nil {
		return triage.Progress{}, err
	}
	answer.Cause, answer.Suggestion = clip(answer.Cause, maxCause), clip(answer.Suggestion, maxCause)
	answer.Summary, answer.Question = clip(answer.Summary, maxSummary), clip(answer.Question, maxQuestion)
	switch {
	case answer.Outcome == "question" && answer.Question != "":
		s.Question = answer.Question
		return response(answer.Question, triage.SessionAwaitingInput), nil
	case answer.Outcome == "unknown" && answer.Summary != "":
		return response(answer.Summary, triage.SessionComplete), nil
	case answer.Outcome == "root_cause" && answer.Cause != "" && answer.Summary != "":
		return a.found(answer, *s)
	default:
		return triage.Progress{}, &llm.Failure{Class: llm.ClassInvalid, Message: "a member that the outcome requires is empty"}
	}
}

func response(text string, next triage.SessionStatus) triage.Progress {
	return triage.Progress{Steps: []triage.Step{{Type: triage.TypeResponse, Detail: text}}, Next: next}
}

// found returns the progress that completes the analysis with the root cause as an artifact. Without verified evidence, the confidence is
// low.
func (a *Analyst) found(answer conclusion, s state) (triage.Progress, error) {
	evidence, unverified := verify(answer.Evidence, s.Notes)
	if len(evidence) == 0 {
		answer.Confidence = "low"
	}
	payload, err := json.Marshal(map[string]any{
		"root_cause": inert(answer.Cause), "suggestion": inert(answer.Suggestion), "confidence": answer.Confidence, "evidence": evidence,
	})
	if err != nil {
		return triage.Progress{}, err
	}
	p := response(answer.Summary, triage.SessionComplete)
	p.Steps = slices.Insert(p.Steps, 0, triage.Step{
		Type: triage.TypeArtifact, Detail: "Root cause, confidence " + answer.Confidence + ".",
		Metadata: map[string]any{"unverified": unverified, "tokens": s.Tokens, "model": a.cfg.Model.Name()},
		Artifact: &triage.Artifact{
			Type: "root_cause", Title: "Root cause", Renderer: "markdown", Status: triage.ArtifactReady, Payload: payload,
		},
	})
	return p, nil
}

// inert escapes a text so that Markdown renders it without links, images and HTML. A caller may have manipulated the model into writing
// them, and a browser that loads them would send evidence to another server.
func inert(text string) string {
	return strings.NewReplacer(`\`, `\\`, "[", `\[`, "<", `\<`).Replace(text)
}

// proof is a verified citation in an artifact: a line or a fact, with its text.
type proof struct {
	Type triage.ResourceType `json:"resource_type"`
	ID   string              `json:"resource_id"`
	Line *int                `json:"line,omitempty"`
	Fact string              `json:"fact,omitempty"`
	Text string              `json:"text"`
}

// verify returns the distinct citations that the notes contain, at most maxEvidence, and the number of citations that the notes do not
// contain.
func verify(citations []citation, notes []note) (kept []proof, unverified int) {
	kept = []proof{}
	for _, c := range citations {
		p, ok := c.find(notes)
		switch {
		case !ok:
			unverified++
		case len(kept) < maxEvidence && !slices.ContainsFunc(kept, p.same):
			kept = append(kept, p)
		}
	}
	return kept, unverified
}

// find returns the line or fact of the notes that c cites, and reports whether the notes contain it. It ignores Fact if Line is set.
func (c citation) find(notes []note) (proof, bool) {
	for _, n := range notes {
		if n.ID != c.Resource {
			continue
		}
		for _, q := range n.Lines {
			if c.Line != nil && *c.Line == q.Line {
				return proof{Type: n.Type, ID: n.ID, Line: &q.Line, Text: q.Text}, true
			}
		}
		for _, f := range n.Facts {
			if c.Line == nil && c.Fact != nil && *c.Fact == f.Name {
				return proof{Type: n.Type, ID: n.ID, Fact: f.Name, Text: f.Text}, true
			}
		}
	}
	return proof{}, false
}

// same reports whether two proofs quote the same line or fact.
func (p proof) same(q proof) bool {
	return p.Type == q.Type && p.ID == q.ID && p.Fact == q.Fact && (p.Line == nil) == (q.Line == nil) && (p.Line == nil || *p.Line == *q.Line)
}

// latest returns the latest answers of people that fit into maxAnswers, in order. It truncates the earliest of them.
func latest(answers []string) []string {
	out, left := []string{}, maxAnswers
	for _, text := range slices.Backward(answers) {
		if left <= 0 {
			break
		}
		text = clip(text, left)
		out, left = append(out, text), left-len(text)
	}
	slices.Reverse(out)
	return out
}
