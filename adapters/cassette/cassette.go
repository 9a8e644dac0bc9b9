// Package cassette records the answers of a language model and replays them, so that tests and demonstrations run without the model, at no
// cost and with the same result each time.
//
// A recording is found by its whole request: the task, the model, the messages, the instructions, the schema, every parameter, Trial and
// Attempt. The organization is ignored. The file contains one recording per line, as JSON; if it contains several for one request, the last
// one is used. Credentials are removed from all texts before the texts are looked up or written. Replies that were not read to their end
// are not recorded. Neither are failures, because most of them are transient.
//
// Every recording is appended in one write, so several processes may record into one file without damaging each other's lines. However, a
// process reads the file only at its start. A line that a crash has truncated is ignored, and the next recording begins on a new line.
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

// The modes of a Model.
const (
	Replay        Mode = "replay"         // recordings are replayed; a request without a recording fails with llm.ClassPermanent
	RecordMissing Mode = "record_missing" // recordings are replayed; other requests are sent to the model and recorded
	Record        Mode = "record"         // every request is sent to the model and recorded
	Off           Mode = "off"            // every request is sent to the model; none is recorded
)

// Config configures a Model. Path is required unless Mode is Off. Model is required unless Mode is Replay and Called is set.
type Config struct {
	Mode   Mode
	Path   string                   // path of the file, whose folder must exist
	Model  llm.Model                // the recorded model; may be nil for Replay if Called is set
	Called string                   // the model's name, which is part of every request; if empty, Model.Name()
	Redact func(text string) string // removes private values from texts, in addition to credentials; may be nil

	callwright.Runtime
}

// Model records and replays the answers of another model. It is safe for concurrent use.
type Model struct {
	config Config
	mu     sync.Mutex
	kept   map[string]recording // recordings by key
}

var (
	_ llm.Model  = (*Model)(nil)
	_ llm.Hinter = (*Model)(nil)
)

// New reads the recordings and returns a Model. It returns CodeBadRequest for an invalid configuration, and CodeUnavailable if the file
// cannot be read, or cannot be written although the mode requires it.
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
		return nil, callwright.Invalid("model", "is required unless the mode is replay and the field Called names the model")
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

// Name returns Config.Called, or the name of the recorded model.
func (m *Model) Name() string { return m.config.Called }

// Hints returns the hints of the recorded model, or nil if it does not implement llm.Hinter.
func (m *Model) Hints(r llm.ReplyRequest, options []llm.Option) []string {
	if h, ok := m.config.Model.(llm.Hinter); ok {
		return h.Hints(r, options)
	}
	return nil
}

// Reply replays a recorded reply, part by part. In the modes Record and Off, and in the mode RecordMissing if there is no recording, Reply
// instead passes the request to the model, and records the reply unless the mode is Off.
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

// record passes the request to the model, yields the parts of the reply, and records the reply if it is complete.
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

// Answer returns a recorded answer. In the modes Record and Off, and in the mode RecordMissing if there is no recording, Answer instead
// passes the question to the model, and records the answer unless the mode is Off.
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

// find returns the recording of a request. It returns false and no error if the request must be sent to the model.
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
		return rec, false, &llm.Failure{Class: llm.ClassPermanent, Message: "the cassette contains no recording of this request (the mode record_missing adds it): " + m.nearest(asked)}
	}
	return rec, found, nil
}

func (m *Model) since(began time.Time) float64 {
	return float64(m.config.Clock.Now().Sub(began).Microseconds()) / 1000
}

// ended returns an llm.Failure if the context is canceled, and otherwise nil.
func ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return &llm.Failure{Class: llm.ClassTransient, Message: "the request was canceled or timed out", Cause: err}
	}
	return nil
}

// unwritable returns the failure of a recording that could not be written.
func unwritable(err error) error {
	return &llm.Failure{Class: llm.ClassPermanent, Message: "the answer can't be written to the cassette", Cause: fmt.Errorf("writing the cassette: %w", err)}
}
