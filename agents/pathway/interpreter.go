package pathway

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/dialogue"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/request"
)

// Interpreter leads conversations along graphs: see Step. It is a plain value without state between turns, and leads any number of
// concurrent conversations. Its fields must not change while it is in use.
type Interpreter struct {
	Model     llm.Model      `required:"always"`
	Requests  request.Client // if nil, requests fail
	Knowledge Knowledge      // nil means no knowledge bases

	callwright.Runtime
}

// check returns an error if a required field is missing.
func (r Interpreter) check() error { return callwright.PrepareConfig(&r) }

// Agent contains the settings of a conversation's agent, which are the same in all turns.
type Agent struct {
	Org           callwright.OrgID
	Persona       string // instructions that precede the nodes' instructions; may contain {{variables}}
	Language      string // BCP 47; empty means unspecified
	Model         string // model of nodes that name none; empty means the adapter's default
	Fallback      string // name of the model that replies if that model fails: see llm.ReplyRequest
	Temperature   *float64
	TransferTo    string         // E.164 number or SIP URI for transfer nodes that name none; may be empty
	FirstSentence string         // spoken before the words of the first node; may contain {{variables}}
	Facts         []request.Fact // facts about variables, in addition to the graph's facts
	Lines         dialogue.Lines
	Silences      *int // see dialogue.Idle.Times
}

// Knowledge searches an organization's knowledge bases. agentstest.RunKnowledge tests it.
type Knowledge interface {
	// Find returns the passages of a knowledge base that help to answer a question, best first, at most limit. No passage is blank. A
	// passage may contain additional text, such as a title. Find returns none if no passage fits. The question may be any text, blank or of
	// 20,000 bytes. Equal questions have equal results. base is case-sensitive. Find returns CodeNotFound if the organization has no such
	// knowledge base, and an error if ctx ends or has ended. It is safe for concurrent use.
	Find(ctx context.Context, org callwright.OrgID, base, question string, limit int) ([]string, error)
}
