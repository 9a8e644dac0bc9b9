// Package cassette records the answers of a language model and replays them, so that tests and demonstrations run
// without the model, at no cost and always alike.
//
// A recording is found by its whole request: the task, the model, the messages, the instructions, the schema, every
// parameter, Trial and Attempt; the organization does not count. The file has one recording a line, as JSON; of several
// for one request the last counts. Credentials are taken out of everything before it is looked up or written. Failures
// are not recorded, because most of them are transient, and neither are replies that were not read to their end.
//
// Every recording is appended in one write, so several processes may record into one file: none damages the lines of another
// process, but a process reads them only at its start. A line that a crash has truncated is not read, and the next recording
// begins a line of its own.
package cassette

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
)

// Mode determines whether requests are replayed, recorded or passed on.
type Mode string

// The modes.
const (
	Replay        Mode = "replay"         // only recordings answer; a request without one is llm.ClassPermanent
	RecordMissing Mode = "record_missing" // recordings answer; requests without one go to the model and are recorded
	Record        Mode = "record"         // every request goes to the model and is recorded
	Off           Mode = "off"            // every request goes to the model
)

// Config configures a cassette. Path is required unless Mode is Off.
type Config struct {
	Mode   Mode
	Path   string                   // of the file, whose folder must exist
	Model  llm.Model                // may be nil for Replay when Called is set
	Called string                   // the model's name, which is part of every request; empty: as the model says
	Redact func(text string) string // deletes private values from every text, in addition to credentials; nil: removes nothing

	callwright.Runtime
}

// Model is a recorder around a model. It is safe for concurrent use.
type Model struct {
	config Config
	mu     sync.Mutex
	kept   map[string]recording // by key
}

var (
	_ llm.Model  = (*Model)(nil)
	_ llm.Hinter = (*Model)(nil)
)

// New reads the recordings. An invalid configuration is CodeBadRequest, a file that can't be read, or
// written where that is needed, CodeUnavailable.
func New(config Config) (*Model, error) {
	if err := callwright.PrepareConfig(&config); err != nil {
		return nil, err
	}
	switch config.Mode {
	case Replay, RecordMissing, Record, Off:
	default:
		return nil, callwright.Invalid("mode", "must be replay, record_missing, record or off")
	}
	switch {
	case config.Model == nil && (config.Mode != Replay || config.Called == ""):
		return nil, callwright.Invalid("model", "is required, or Called in the mode replay")
	case config.Path == "" && config.Mode != Off:
		return nil, callwright.Invalid("path", "is required unless the mode is off")
	}
	if config.Called == "" {
		config.Called = config.Model.Name()
	}
	m := &Model{config: config, kept: map[string]recording{}}
	if config.Mode == Off {
		return m, nil
	}
	return m, m.load()
}

// Name returns the name of the model that is, or was, recorded.
func (m *Model) Name() string { return m.config.Called }

// Hints returns the hints of the model, if it has any.
func (m *Model) Hints(r llm.ReplyRequest, options []llm.Option) []string {
	if h, ok := m.config.Model.(llm.Hinter); ok {
		return h.Hints(r, options)
	}
	return nil
}

// Reply plays a recorded reply back, part by part, or has the model reply.
func (m *Model) Reply(ctx context.Context, r llm.ReplyRequest) iter.Seq2[llm.ReplyPart, error] {
	if m.config.Mode == Off {
		return m.config.Model.Reply(ctx, r)
	}
	return func(yield func(llm.ReplyPart, error) bool) {
		asked := m.request(kindReply, r)
		rec, found, err := m.find(ctx, asked)
		switch {
		case err != nil:
			yield(llm.ReplyPart{}, err)
		case found:
			for _, p := range rec.Parts {
				if err := ended(ctx); err != nil {
					yield(llm.ReplyPart{}, err)
					return
				}
				if !yield(p.part(), nil) {
					return
				}
			}
		default:
			m.record(ctx, asked, r, yield)
		}
	}
}

// record passes the request to the model and records the reply when it is complete.
func (m *Model) record(ctx context.Context, asked request, r llm.ReplyRequest, yield func(llm.ReplyPart, error) bool) {
	began := m.config.Clock.Now()
	var parts []llm.ReplyPart
	for p, err := range m.config.Model.Reply(ctx, r) {
		if !yield(p, err) || err != nil {
			return
		}
		parts = append(parts, p)
	}
	if err := m.store(recording{Key: asked.key, Request: asked.text, Parts: m.redactParts(parts), Took: m.since(began)}); err != nil {
		yield(llm.ReplyPart{}, err)
	}
}

// Answer returns a recorded answer, or has the model answer.
func (m *Model) Answer(ctx context.Context, q llm.Question) (llm.Answer, error) {
	if m.config.Mode == Off {
		return m.config.Model.Answer(ctx, q)
	}
	asked := m.request(kindAnswer, q)
	rec, found, err := m.find(ctx, asked)
	if err != nil {
		return llm.Answer{}, err
	}
	if found {
		a := rec.Answer
		return llm.Answer{JSON: json.RawMessage(a.Text), Model: a.Model, Usage: llm.Usage(a.Usage)}, nil
	}
	began := m.config.Clock.Now()
	a, err := m.config.Model.Answer(ctx, q)
	if err != nil {
		return llm.Answer{}, err
	}
	kept := answer{Text: m.redact(string(a.JSON)), Model: a.Model, Usage: usage(a.Usage)}
	return a, m.store(recording{Key: asked.key, Request: asked.text, Answer: &kept, Took: m.since(began)})
}

// find looks a request up. false without an error means that the model must answer.
func (m *Model) find(ctx context.Context, asked request) (recording, bool, error) {
	if err := ended(ctx); err != nil {
		return recording{}, false, err
	}
	if m.config.Mode == Record {
		return recording{}, false, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	rec, found := m.kept[asked.key]
	if !found && m.config.Mode == Replay {
		return rec, false, &llm.Failure{Class: llm.ClassPermanent, Message: "there is no recording of this request: " + m.nearest(asked)}
	}
	return rec, found, nil
}

func (m *Model) since(began time.Time) float64 {
	return float64(m.config.Clock.Now().Sub(began).Microseconds()) / 1000
}

// ended returns the failure of a context that has ended.
func ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return &llm.Failure{Class: llm.ClassTransient, Message: "the request has ended", Cause: err}
	}
	return nil
}

// unwritable returns the failure to keep a recording.
func unwritable(err error) error {
	return &llm.Failure{Class: llm.ClassPermanent, Message: "the answer can't be recorded", Cause: fmt.Errorf("writing the cassette: %w", err)}
}
