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

// Config configures a Service.
type Config struct {
	Store  Store             `required:"always"`
	Atomic callwright.Atomic `required:"always"` // transactions of the store

	// These check the references of versions.
	Pathways  Pathways                     // nil: a persona with conditions is CodeUnavailable
	Knowledge pathway.Knowledge            // nil: a persona with knowledge bases is refused
	Requests  callwright.URLs              // of tools; nil: a persona with tools is CodeUnavailable
	Voices    tts.VoiceChecker             // nil: every voice is accepted
	Languages conversation.LanguageChecker // nil: every language is accepted

	Numbers Numbers         // nil: no inbound number names a persona
	Work    callwright.Work // deletes the rows of deleted personas after KeepDeleted; nil: they stay

	callwright.Runtime
}

// Pathways loads the graphs to which conversations are handed over; pathway.Service implements it.
type Pathways interface {
	// Load returns a version's graph and its number, 0 for the draft; CodeNotFound, with the field pathway_id or pathway_version,
	// when it is absent.
	Load(ctx context.Context, org callwright.OrgID, id string, sel pathway.Selector) (*graph.Graph, int, error)
}

// Numbers returns the inbound numbers at which personas answer.
type Numbers interface {
	// NumbersOf returns the inbound numbers of each of the personas, in order and at most MaxNumbers of each. A persona without
	// numbers need not be in the map.
	NumbersOf(ctx context.Context, org callwright.OrgID, ids []string) (map[string][]callwright.PhoneNumber, error)
}

// Service stores personas and their versions.
type Service struct{ cfg Config }

// The removal of deleted personas.
const (
	taskDelete  = "persona.forget"
	deleteEvery = time.Hour
	deleteBatch = 100
	maxDeleted  = 100 // batches in one run
)

// New checks the configuration. It registers periodic work with c.Work.
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

// deleteOld is periodic work. It deletes the rows of personas that were deleted KeepDeleted ago.
func (s *Service) deleteOld(ctx context.Context, _ callwright.Task, _ int) error {
	for range maxDeleted {
		n, err := s.cfg.Store.DeleteOldPersonas(ctx, s.cfg.Clock.Now().Add(-KeepDeleted), deleteBatch)
		if err != nil || n < deleteBatch {
			return err
		}
	}
	return nil
}

// change reads a persona in a transaction, calls change and stores the result, and retries after a conflict. It returns the record
// afterwards.
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
