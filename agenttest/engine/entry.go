package engine

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/callwright/callwright/agents/llm"
)

// maxReply is the maximum size of a reply or an answer in bytes. maxParts is the maximum number of parts of a reply; consecutive texts
// count as one part.
const (
	maxReply = 1 << 20
	maxParts = 1000
)

// entry is the JSON form of an answer in a journal: a reply, an answer to a question, or a failure. Its texts are valid UTF-8, so that they
// do not change when they are read again.
type entry struct {
	Parts   []part    `json:"parts,omitempty"`
	Answer  answer    `json:"answer,omitzero"`
	Class   llm.Class `json:"class,omitempty"` // of a failure; else empty
	Message string    `json:"message,omitempty"`

	Replacement string    `json:"replacement,omitempty"` // Model.Name of the model that answered in place of the requested one; else empty
	Cause       llm.Class `json:"cause,omitempty"`       // class of the failure of the requested model, if another one answered
}

// part is a part of a reply. Consecutive texts of a model are joined in one part.
type part struct {
	Text   string     `json:"text,omitempty"`
	Action llm.Action `json:"action,omitempty"`
	Call   *call      `json:"call,omitempty"`
	Expect []string   `json:"expect,omitempty"`
	Usage  *usage     `json:"usage,omitempty"`

	pieces *strings.Builder // pieces of an incomplete Text; nil if Text is complete
}

// call is a tool call. Arguments is a string because models may produce invalid JSON.
type call struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Extra     string `json:"extra,omitempty"`
}

// answer is an answer to a question. Text is a string because models may produce invalid JSON.
type answer struct {
	Text  string `json:"text"`
	Model string `json:"model,omitempty"`
	Usage usage  `json:"usage"`
}

type usage struct {
	Input  int `json:"input"`
	Output int `json:"output"`
	Cached int `json:"cached,omitempty"`
}

func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

func tooLong() error {
	return &llm.Failure{Class: llm.ClassInvalid, Message: fmt.Sprintf("the model's answer must have at most %d bytes and %d parts other than text", maxReply, maxParts)}
}

// collect reads a reply to its end, and returns its entry. It returns the error of the reply, or an error if the reply exceeds maxReply or
// maxParts.
func collect(reply iter.Seq2[llm.ReplyPart, error]) (*entry, error) {
	e := &entry{Parts: make([]part, 0, 2)} // most replies consist of a text and its usage
	size := 0
	for p, err := range reply {
		if err != nil {
			return nil, err
		}
		size += sizeOf(p)
		if p.Cause != "" {
			e.Replacement, e.Cause = valid(p.Model), p.Cause
		}
		if size > maxReply || len(e.Parts) > maxParts {
			return nil, tooLong()
		}
		if p.Text != "" {
			e.say(p.Text)
		}
		if p.Action != "" || p.Call != nil || len(p.Expect) > 0 || p.Usage != nil {
			e.Parts = append(e.Parts, partOf(p))
		}
	}
	for i := range e.Parts {
		if p := &e.Parts[i]; p.pieces != nil {
			p.Text, p.pieces = p.pieces.String(), nil
		}
		e.Parts[i].Text = valid(e.Parts[i].Text)
	}
	return e, nil
}

// say appends a text to the last part if that is a text, else adds a part.
func (e *entry) say(text string) {
	if n := len(e.Parts); n > 0 && e.Parts[n-1].Text != "" {
		last := &e.Parts[n-1]
		if last.pieces == nil {
			last.pieces = &strings.Builder{}
			last.pieces.WriteString(last.Text)
		}
		last.pieces.WriteString(text)
		return
	}
	e.Parts = append(e.Parts, part{Text: text})
}

// sizeOf returns the size of a reply's part in bytes.
func sizeOf(p llm.ReplyPart) int {
	size := len(p.Text)
	for _, phrase := range p.Expect {
		size += len(phrase)
	}
	if p.Call != nil {
		size += len(p.Call.ID) + len(p.Call.Name) + len(p.Call.Arguments)
	}
	return size
}

// partOf returns the stored form of a reply's part, without its text.
func partOf(p llm.ReplyPart) part {
	out := part{Action: llm.Action(valid(string(p.Action)))}
	if len(p.Expect) > 0 {
		out.Expect = slices.Clone(p.Expect)
		for i, phrase := range out.Expect {
			out.Expect[i] = valid(phrase)
		}
	}
	if p.Call != nil {
		out.Call = &call{valid(p.Call.ID), valid(p.Call.Name), valid(string(p.Call.Arguments)), valid(string(p.Call.Extra))}
	}
	if p.Usage != nil {
		out.Usage = new(usage(*p.Usage))
	}
	return out
}

// part returns the llm.ReplyPart that p stores.
func (p part) part() llm.ReplyPart {
	out := llm.ReplyPart{Text: p.Text, Action: p.Action, Expect: p.Expect}
	if p.Call != nil {
		out.Call = &llm.ToolCall{ID: p.Call.ID, Name: p.Call.Name, Arguments: json.RawMessage(p.Call.Arguments)}
		if p.Call.Extra != "" {
			out.Call.Extra = json.RawMessage(p.Call.Extra)
		}
	}
	if p.Usage != nil {
		out.Usage = new(llm.Usage(*p.Usage))
	}
	return out
}

// answered returns the entry of an answer to a question. It returns an error if the answer exceeds maxReply.
func answered(a llm.Answer) (*entry, error) {
	if len(a.JSON) > maxReply {
		return nil, tooLong()
	}
	e := &entry{Answer: answer{Text: valid(string(a.JSON)), Model: valid(a.Model), Usage: usage(a.Usage)}}
	if a.Cause != "" {
		e.Replacement, e.Cause = valid(a.Model), a.Cause
	}
	return e, nil
}

func (a answer) answer() llm.Answer {
	return llm.Answer{JSON: json.RawMessage(a.Text), Model: a.Model, Usage: llm.Usage(a.Usage)}
}

// failure returns the stored failure, or nil if the entry contains none.
func (e *entry) failure() error {
	if e.Class == "" {
		return nil
	}
	return &llm.Failure{Class: e.Class, Message: e.Message}
}

// usage returns the tokens that the model reported.
func (e *entry) usage() llm.Usage {
	u := llm.Usage(e.Answer.Usage)
	for _, p := range e.Parts {
		if p.Usage != nil {
			u = u.Add(llm.Usage(*p.Usage))
		}
	}
	return u
}

// estimate estimates the tokens of a request and its answer, for a model that reported none. size is the size of the request in bytes.
func (e *entry) estimate(size int) llm.Usage {
	said := len(e.Answer.Text)
	for _, p := range e.Parts {
		said += len(p.Text)
	}
	return llm.Usage{Input: size / bytesPerWord, Output: said / bytesPerWord}
}
