// Package memstore keeps everything in memory: for tests, and for programs that embed a domain and need nothing to
// outlive them. It passes the same conformance suites as the databases.
package memstore

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/discovery"
	"github.com/callwright/callwright/sip/ladder"
	"github.com/callwright/callwright/sip/testcall"
	"github.com/callwright/callwright/triage"
)

// Store is all of the memory. Its parts are the stores of the domains.
type Store struct {
	mu   sync.Mutex
	data data
	work chan struct{} // holds a token when there may be a task to run
}

// data is what a transaction that fails gives back. Its values are never changed in place.
type data struct {
	orgs       map[callwright.OrgID]callwright.Organization
	keys       map[string]callwright.APIKey // by prefix
	trunks     map[trunkKey]sip.Trunk
	numbers    map[numberKey]agents.InboundNumber
	calls      map[string]call.Call
	callEvents map[string]callEvents // by call
	answers    map[answerKey]answer
	tasks      map[int64]queued

	statuses      map[string]leasedStatus       // by trunk
	registrations map[string]leasedRegistration // by trunk

	records     map[string]sip.CallRecord
	ladders     map[string][]ladder.Event // by the record's id
	nodes       map[string]time.Time      // when each was last heard of
	discoveries map[string]discovery.Discovery
	testCalls   map[string]testcall.Call

	webAgents map[string]agents.WebAgent
	pathways  map[string]pathway.Pathway
	versions  map[versionKey]pathway.Version
	chats     map[string]pathway.Chat

	issues       map[string]triage.Issue
	issueNumbers map[callwright.OrgID]int  // the last that was given out
	feeds        map[string][]triage.Entry // by issue, the oldest first
	entryPlaces  map[string]entryPlace     // by entry: where to look for it; not given back
	comments     map[string]triage.Comment
	attached     map[string]triage.Resource
	flags        map[string]triage.Flag
	relations    map[string]triage.Relation // with the ids of the issues only
	sessions     map[string]triage.Session
	reports      map[reportKey]string // ids of issues
	seen         map[seenKey]time.Time
}

func (d data) clone() data {
	return data{
		orgs: maps.Clone(d.orgs), keys: maps.Clone(d.keys), trunks: maps.Clone(d.trunks), numbers: maps.Clone(d.numbers),
		calls: maps.Clone(d.calls), callEvents: maps.Clone(d.callEvents), answers: maps.Clone(d.answers),
		tasks: maps.Clone(d.tasks), statuses: maps.Clone(d.statuses), registrations: maps.Clone(d.registrations),
		records: maps.Clone(d.records), ladders: maps.Clone(d.ladders), nodes: maps.Clone(d.nodes),
		discoveries: maps.Clone(d.discoveries), testCalls: maps.Clone(d.testCalls),
		webAgents: maps.Clone(d.webAgents), pathways: maps.Clone(d.pathways), versions: maps.Clone(d.versions),
		chats: maps.Clone(d.chats), issues: maps.Clone(d.issues), issueNumbers: maps.Clone(d.issueNumbers),
		feeds: maps.Clone(d.feeds), entryPlaces: d.entryPlaces, comments: maps.Clone(d.comments),
		attached: maps.Clone(d.attached), flags: maps.Clone(d.flags), relations: maps.Clone(d.relations),
		sessions: maps.Clone(d.sessions), reports: maps.Clone(d.reports), seen: maps.Clone(d.seen),
	}
}

// New makes an empty store.
func New() *Store {
	return &Store{work: make(chan struct{}, 1), data: data{
		orgs: map[callwright.OrgID]callwright.Organization{}, keys: map[string]callwright.APIKey{},
		trunks: map[trunkKey]sip.Trunk{}, numbers: map[numberKey]agents.InboundNumber{},
		calls: map[string]call.Call{}, callEvents: map[string]callEvents{}, answers: map[answerKey]answer{},
		tasks: map[int64]queued{}, statuses: map[string]leasedStatus{}, registrations: map[string]leasedRegistration{},
		records: map[string]sip.CallRecord{}, ladders: map[string][]ladder.Event{}, nodes: map[string]time.Time{},
		discoveries: map[string]discovery.Discovery{}, testCalls: map[string]testcall.Call{},
		webAgents: map[string]agents.WebAgent{}, pathways: map[string]pathway.Pathway{},
		versions: map[versionKey]pathway.Version{}, chats: map[string]pathway.Chat{},
		issues: map[string]triage.Issue{}, issueNumbers: map[callwright.OrgID]int{}, feeds: map[string][]triage.Entry{},
		entryPlaces: map[string]entryPlace{}, comments: map[string]triage.Comment{},
		attached: map[string]triage.Resource{}, flags: map[string]triage.Flag{},
		relations: map[string]triage.Relation{}, sessions: map[string]triage.Session{}, reports: map[reportKey]string{},
		seen: map[seenKey]time.Time{},
	}}
}

// inside marks a context that is in a transaction of this store.
type inside struct{ store *Store }

// Do runs fn alone: transactions do not overlap. See callwright.Atomic.
func (s *Store) Do(ctx context.Context, fn func(ctx context.Context) error) (err error) {
	if ctx.Value(inside{s}) != nil {
		return fn(ctx)
	}
	s.mu.Lock()
	before := s.data.clone()
	committed := false
	defer func() {
		if !committed {
			s.data = before
		}
		s.mu.Unlock()
		if committed {
			s.wake()
		}
	}()
	if err := fn(context.WithValue(ctx, inside{s}, true)); err != nil {
		return err
	}
	committed = true
	return nil
}

// with gives f the data, in the transaction of ctx or alone. f changes nothing before it can no longer fail.
func (s *Store) with(ctx context.Context, f func(d *data) error) error {
	if ctx.Value(inside{s}) != nil {
		return f(&s.data)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return f(&s.data)
}
