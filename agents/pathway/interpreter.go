package pathway

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/dialogue"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/request"
)

// Interpreter leads conversations along graphs: see Step. It is a plain value without state between turns, and serves any number of
// concurrent conversations. Its fields must not change while it is used.
type Interpreter struct {
	Model     llm.Model      `required:"always"`
	Requests  request.Client // nil: requests fail
	Knowledge Knowledge      // nil: no knowledge bases

	callwright.Runtime
}

// check returns an error if a required field is missing.
func (r Interpreter) check() error { return callwright.PrepareConfig(&r) }

// Agent is the agent of a conversation. It is the same in all turns.
type Agent struct {
	Org           callwright.OrgID
	Persona       string // instructions before the nodes' instructions; may contain {{variables}}
	Language      string // BCP 47; empty: not stated
	Model         string // the model of nodes without their own; empty: the adapter's
	Temperature   *float64
	TransferTo    string         // E.164 number or SIP URI for transfer nodes without their own; empty: none
	FirstSentence string         // spoken before the words of the first node; may contain {{variables}}
	Facts         []request.Fact // about variables, in addition to the graph's
	Lines         dialogue.Lines
}

// Knowledge searches an organization's knowledge bases. agentstest.RunKnowledge tests it.
type Knowledge interface {
	// Find returns the passages of a knowledge base that help to answer a question, best first, at most limit, none of them blank,
	// each alone or with text around it, such as a title. It returns none if nothing fits. The question may be any text, blank or of
	// 20,000 bytes; the same question returns the same passages. CodeNotFound: the organization has no such knowledge base; base is case-sensitive. It returns an error when ctx
	// ends or has ended, and is safe for concurrent use.
	Find(ctx context.Context, org callwright.OrgID, base, question string, limit int) ([]string, error)
}
