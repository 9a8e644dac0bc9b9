// Package triagestore stores issues and their feeds in a memstore.Store.
package triagestore

import (
	"context"
	"maps"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/triage"
)

// data holds the rows of the stores of this package. Its values are never changed in place.
type data struct {
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

// New returns the data of an empty store.
func (data) New() data {
	return data{
		issues:       map[string]triage.Issue{},
		issueNumbers: map[callwright.OrgID]int{},
		feeds:        map[string][]triage.Entry{},
		entryPlaces:  map[string]entryPlace{},
		comments:     map[string]triage.Comment{},
		attached:     map[string]triage.Resource{},
		flags:        map[string]triage.Flag{},
		relations:    map[string]triage.Relation{},
		sessions:     map[string]triage.Session{},
		reports:      map[reportKey]string{},
		seen:         map[seenKey]time.Time{},
	}
}

// Clone returns a copy, which a transaction that fails restores.
func (d data) Clone() data {
	return data{issues: maps.Clone(d.issues), issueNumbers: maps.Clone(d.issueNumbers), feeds: maps.Clone(d.feeds), entryPlaces: d.entryPlaces, comments: maps.Clone(d.comments), attached: maps.Clone(d.attached), flags: maps.Clone(d.flags), relations: maps.Clone(d.relations), sessions: maps.Clone(d.sessions), reports: maps.Clone(d.reports), seen: maps.Clone(d.seen)}
}

// with calls f with the data, in the transaction of ctx or alone. f must not fail after its first change.
func with(ctx context.Context, s *memstore.Store, f func(d *data) error) error {
	return memory.With(ctx, s.Core(), f)
}
