package triage

import (
	"errors"
	"log/slog"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/node"
)

// Config holds what a Service needs. Store, Atomic and Work are required, the rest is optional.
type Config struct {
	Store  Store             // required
	Atomic callwright.Atomic // required: transactions of the store
	Work   callwright.Work   // required: runs analyses and the sweep of silent sessions

	Resolvers map[ResourceType]ResourceResolver // resources of a type without one are CodeNotImplemented
	Analyst   Analyst                           // nil: there is no analysis; agents from outside may still work on issues
	Cursors   *Cursors                          // nil: a key of this process's own: its cursors end with it, and hold on no other node
	Watchers  int                               // how many Watchers may be open at once; 0: 1000

	Clock  callwright.Clock // nil: the machine's
	IDs    callwright.IDs   // nil: UUIDs
	Logger *slog.Logger     // nil: discards
}

// Service keeps issues and their feeds.
type Service struct {
	cfg      Config
	watchers node.Watchers
	searches node.Budget // that read texts
}

// The kinds of durable work.
const (
	taskSweep = "triage.sweep"

	taskAnalyze callwright.TaskKind[analyzeArgs] = "triage.analyze"
)

// maxWatchers is the default of Config.Watchers.
const maxWatchers = 1000

// New checks the configuration and registers the service's durable work.
func New(c Config) (*Service, error) {
	switch {
	case c.Store == nil:
		return nil, errors.New("triage: Config.Store is required")
	case c.Atomic == nil:
		return nil, errors.New("triage: Config.Atomic is required")
	case c.Work == nil:
		return nil, errors.New("triage: Config.Work is required")
	}
	if c.Cursors == nil {
		c.Cursors = newProcessCursors()
	}
	if c.Watchers == 0 {
		c.Watchers = maxWatchers
	}
	if c.Clock == nil {
		c.Clock = callwright.SystemClock{}
	}
	if c.IDs == nil {
		c.IDs = new(callwright.UUIDs)
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Service{
		cfg: c, watchers: node.Watchers{Total: c.Watchers, Share: MaxWatchers},
		searches: node.Budget{Total: maxSearches, Share: 1, Wait: searchWait, Busy: "too many searches run at once: try again"},
	}
	taskAnalyze.Handle(c.Work, callwright.QueueModels, c.Logger, s.analyze)
	c.Work.Every(callwright.QueueUpkeep, taskSweep, sweepEvery, s.sweep)
	return s, nil
}
