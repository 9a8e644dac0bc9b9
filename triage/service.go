package triage

import (
	"github.com/callwright/callwright"
	"github.com/callwright/callwright/node"
)

// Config configures a Service.
type Config struct {
	Store  Store             `required:"always"`
	Atomic callwright.Atomic `required:"always"` // runs transactions of Store
	Work   callwright.Work   `required:"always"` // runs analyses and the sweep of silent sessions

	Resolvers map[ResourceType]ResourceResolver // by type; other types cause CodeNotImplemented
	Analyst   Analyst                           // if nil, Analyze fails; external agents may still work on issues
	Cursors   *Cursors                          // if nil, a random key signs cursors, which are valid only in this process
	Watchers  int                               // maximum number of open Watchers; 0 means 1000

	callwright.Runtime
}

// Service manages issues and their feeds.
type Service struct {
	cfg      Config
	watchers node.Watchers
	searches node.Budget // limits concurrent searches
}

// The kinds of durable work.
const (
	taskSweep = "triage.sweep"

	taskAnalyze callwright.TaskKind[analyzeArgs] = "triage.analyze"
)

// maxWatchers is the default of Config.Watchers.
const maxWatchers = 1000

// New returns a service, and registers its durable work. It returns an error if the configuration is incomplete.
func New(c Config) (*Service, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	if c.Cursors == nil {
		c.Cursors = newProcessCursors()
	}
	if c.Watchers == 0 {
		c.Watchers = maxWatchers
	}
	s := &Service{
		cfg: c, watchers: node.Watchers{Total: c.Watchers, Share: MaxWatchers},
		searches: node.Budget{Total: maxSearches, Share: 1, Wait: searchWait, Busy: "too many searches run at once: try again"},
	}
	taskAnalyze.Handle(c.Work, callwright.QueueModels, c.Logger, s.analyze)
	c.Work.Every(callwright.QueueUpkeep, taskSweep, sweepEvery, s.sweep)
	return s, nil
}
