package persona

import (
	"context"
	"time"

	"github.com/callwright/callwright/speech/tts"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
)

// Config configures a Service. Store and Atomic are required.
type Config struct {
	Store  Store             `required:"always"`
	Atomic callwright.Atomic `required:"always"` // runs the transactions of Store

	// These ports check the references of versions.
	Pathways  Pathways                     // if nil, a persona with conditions causes CodeUnavailable
	Knowledge pathway.Knowledge            // if nil, a persona with knowledge bases is refused
	Requests  callwright.URLs              // checks the URLs of tools; if nil, a persona with tools causes CodeUnavailable
	Voices    tts.VoiceChecker             // nil accepts every voice
	Languages conversation.LanguageChecker // nil accepts every language

	Numbers Numbers         // nil means that no inbound number refers to a persona
	Work    callwright.Work // deletes the rows of deleted personas after KeepDeleted; if nil, the rows remain

	callwright.Runtime
}

// Pathways loads the graphs to which conversations are handed over. pathway.Service implements it.
type Pathways interface {
	// Load returns a version's graph and its number, which is 0 for the draft. It returns CodeNotFound with the field pathway_id or
	// pathway_version if the pathway or the version is absent.
	Load(ctx context.Context, org callwright.OrgID, id string, sel pathway.Selector) (*graph.Graph, int, error)
}

// Numbers finds the inbound numbers at which personas answer.
type Numbers interface {
	// NumbersOf returns the inbound numbers of each persona in ascending order, at most MaxNumbers of each. The map may omit personas
	// without numbers.
	NumbersOf(ctx context.Context, org callwright.OrgID, ids []string) (map[string][]callwright.PhoneNumber, error)
}

// Service stores personas and their versions, and returns the version in production for calls.
type Service struct{ cfg Config }

// The settings of the task that deletes the rows of deleted personas.
const (
	taskDelete  = "persona.forget"
	deleteEvery = time.Hour
	deleteBatch = 100
	maxDeleted  = 100 // batches per run of the task
)

// New returns a Service. If c.Work is set, New registers the task that deletes the rows of deleted personas. The error names all
// missing required fields.
func New(c Config) (*Service, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	s := &Service{cfg: c}
	if c.Work != nil {
		c.Work.Every(callwright.QueueUpkeep, taskDelete, deleteEvery, s.deleteOld)
	}
	return s, nil
}

// deleteOld runs periodically. It deletes the rows of personas that were deleted longer than KeepDeleted ago.
func (s *Service) deleteOld(ctx context.Context, _ callwright.Task, _ int) error {
	for range maxDeleted {
		n, err := s.cfg.Store.DeleteOldPersonas(ctx, s.cfg.Clock.Now().Add(-KeepDeleted), deleteBatch)
		if err != nil || n < deleteBatch {
			return err
		}
	}
	return nil
}

// change reads a persona in a transaction, calls the function change and stores the result. After a conflict it retries the transaction. It
// returns the changed persona with its versions.
func (s *Service) change(
	ctx context.Context, org callwright.OrgID, id string, change func(ctx context.Context, p *Persona) error,
) (r Record, err error) {
	err = callwright.Retry(ctx, func(ctx context.Context) error {
		return s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
			p, err := s.cfg.Store.Persona(ctx, org, id)
			if err != nil {
				return err
			}
			if err := change(ctx, &p); err != nil {
				return err
			}
			p.UpdatedAt = s.cfg.Clock.Now()
			if err := s.cfg.Store.UpdatePersona(ctx, p); err != nil {
				return err
			}
			p.Revision++
			r, err = s.record(ctx, p)
			return err
		})
	})
	if err != nil {
		return Record{}, err
	}
	return r, nil
}
