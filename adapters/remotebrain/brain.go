package remotebrain

import (
	"context"
	"io"
	"iter"
	"maps"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/conversation/expect"
	"github.com/callwright/callwright/agents/dialogue"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/request"
)

// Sender posts the requests. webhook.Sender implements it.
type Sender interface {
	// Stream posts a JSON body that is signed with the organization's secret, and returns the body of the answer as soon as its header has
	// arrived. id is the id of the message. It connects to permitted addresses only. ctx bounds the request and the body, which the caller
	// closes. CodeUnavailable means that the request may be repeated, after RetryAfter; any other error is permanent. No error contains more
	// of the URL than its host.
	Stream(ctx context.Context, org callwright.OrgID, id, url string, body []byte) (io.ReadCloser, error)
}

// Config configures a Brain for one conversation.
type Config struct {
	Sender       Sender `required:"always"`
	URL          string `required:"always"` // of the service
	Conversation string `required:"always"` // id of the conversation

	Org        callwright.OrgID
	Language   string // BCP 47 tag; empty means unknown
	From, To   string // E.164; empty means unknown
	Direction  string // Inbound, Outbound or empty
	TransferTo string // target of transfers without a target; empty means none
	Variables  map[string]any
	Lines      dialogue.Lines    // only Apology and Goodbye are said; an empty one is replaced by a sentence in Language
	Silences   *int              // see dialogue.Idle.Times; the service is not asked about the next silence
	Observe    func(pathway.Log) // called for the log of every turn, after the answer; may be nil

	callwright.Runtime
}

// Brain lets a service lead one conversation. It is not safe for concurrent use.
type Brain struct {
	cfg Config
	state
	budget dialogue.EarlyBudget
}

// state is the state of a conversation, which a withdrawn turn does not change.
type state struct {
	talk      dialogue.Talk
	turn      int            // number of the last turn
	variables map[string]any // Config.Variables, and those that the service has set
	sizes     map[string]int // bytes of the variables that the service has set, by name
	size      int            // sum of sizes
	early     bool           // whether the service answers early turns
}

var _ conversation.EarlyBrain = (*Brain)(nil)

// New returns the brain of one conversation. It returns an error if a required field is missing.
func New(c Config) (*Brain, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	c.Lines = c.Lines.Filled(c.Language)
	if c.Observe == nil {
		c.Observe = func(pathway.Log) {}
	}
	b := &Brain{cfg: c}
	b.variables, b.sizes = map[string]any{}, map[string]int{}
	maps.Copy(b.variables, c.Variables)
	return b, nil
}

// AnswersEarly implements conversation.EarlyBrain: it reports whether the service answers early turns, according to its last answer, and
// dialogue.EarlyBudget allows a further request.
func (b *Brain) AnswersEarly() bool { return b.early && b.budget.Allows() }

// Respond lets the service answer a turn. If the service fails, the agent apologizes, and the error is the stream's last element. It has
// CodeUnavailable, or CodeForbidden if the service refuses the request, and no part of the URL.
func (b *Brain) Respond(ctx context.Context, t conversation.Turn) iter.Seq2[conversation.Step, error] {
	return func(yield func(conversation.Step, error) bool) {
		before, began := b.state, b.cfg.Clock.Now()
		x := b.exchange(t)
		x.answer = b.talk.Answer(func(s conversation.Step) bool { return yield(s, nil) })
		x.answer.Commit = func() error { return t.Commit(ctx) }
		var err error
		if t.Kind == conversation.TurnSilence && b.talk.Patience(t, "", b.cfg.Silences) == dialogue.Goodbye {
			x.answer.Courtesy(dialogue.Goodbye, "", b.cfg.Lines)
		} else {
			err = x.run(ctx)
		}
		failed := err != nil && ctx.Err() == nil
		if failed {
			b.cfg.Logger.WarnContext(ctx, "remote brain failed", "conversation", b.cfg.Conversation, "turn", b.turn, "error", err)
			x.answer.Text(b.cfg.Lines.Apology)
		}
		goesOn, withdrawn := x.answer.Certain(), t.Withdraw()
		b.budget.Count(withdrawn, len(x.requests))
		if withdrawn {
			b.state = before
			b.cfg.Observe(pathway.Log{Withdrawn: pathway.Withdrawn{Answers: 1, ModelCalls: len(x.requests)}})
			return
		}
		b.observe(t, x, began)
		if failed && goesOn {
			yield(nil, err)
		}
	}
}

// observe passes the log of a turn to Config.Observe.
func (b *Brain) observe(t conversation.Turn, x *exchange, began time.Time) {
	now := b.cfg.Clock.Now()
	log := pathway.Log{
		Turn: b.turn, Heard: t.Text, Said: x.answer.Said(), Duration: now.Sub(began), ModelCalls: len(x.requests),
	}
	for i, r := range x.requests {
		if i == len(x.requests)-1 && len(x.set) > 0 {
			r.Variables = x.set
		}
		log.Entries = append(log.Entries, pathway.RequestEntries(r, now)...)
	}
	b.cfg.Observe(log)
}

// exchange returns the exchange for the next turn, and adds the turn to the state.
func (b *Brain) exchange(t conversation.Turn) *exchange {
	x := &exchange{brain: b, early: t.Early != nil, opening: !b.talk.Opened, url: withoutQuery(b.cfg.URL)}
	rest := b.talk.Hear(t)
	b.turn++
	x.request = Request{
		Protocol: Protocol, Conversation: b.cfg.Conversation, Language: b.cfg.Language, From: b.cfg.From, To: b.cfg.To,
		Direction: b.cfg.Direction, TransferTo: b.cfg.TransferTo, Variables: b.variables,
		Turn: Turn{
			Number: b.turn, Kind: string(t.Kind), Text: t.Text, Digits: expect.DigitsIn(b.cfg.Language, t.Text), Interrupted: t.Interrupted, Heard: t.Heard, Unheard: rest,
		},
	}
	x.request.Messages, x.request.Omitted = messages(b.talk)
	return x
}

// messages returns the last messages of a talk, within MaxMessages bytes, and the number of the earlier ones.
func messages(talk dialogue.Talk) (list []Message, omitted int) {
	const overhead = 40 // bytes of a message's JSON without its text
	size, from := 0, len(talk.Messages)
	for ; from > 0; from-- {
		if size += len(talk.Messages[from-1].Text) + overhead; size > MaxMessages {
			break
		}
	}
	list = []Message{}
	for _, m := range talk.Messages[from:] {
		list = append(list, Message{Role: string(m.Role), Text: m.Text})
	}
	return list, from
}

// withoutQuery returns a URL without its query and fragment, for logs.
func withoutQuery(url string) string {
	if i := strings.IndexAny(url, "?#"); i >= 0 {
		return url[:i]
	}
	return url
}

// log returns the log of a request.
func (x *exchange) log(began time.Time, status int, err error) request.Log {
	l := request.Log{Name: "brain", Method: "POST", URL: x.url, Status: status, Duration: x.brain.cfg.Clock.Now().Sub(began)}
	if err != nil {
		l.Error = callwright.MessageOf(err)
	}
	return l
}
