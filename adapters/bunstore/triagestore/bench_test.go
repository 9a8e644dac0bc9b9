package triagestore_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/adapters/bunstore/triagestore"
	"github.com/callwright/callwright/triage"
)

// BenchmarkFeedPage reads pages of 50 of an issue's feed. The duration should not depend on the length of the feed. With
// CALLWRIGHT_BENCH_LONG=1 the longest feed has 10,000,000 entries, which require minutes to store and 10 GB of disk space.
func BenchmarkFeedPage(b *testing.B) {
	counts := []int{10_000, 1_000_000}
	if os.Getenv("CALLWRIGHT_BENCH_LONG") == "1" {
		counts = append(counts, 10_000_000)
	}
	for _, name := range []string{"sqlite", "postgres"} {
		for _, count := range counts {
			b.Run(fmt.Sprintf("%s/%d", name, count), func(b *testing.B) {
				db := storetest.Open(b, storetest.Databases[name](b))
				fillIssues(b, db, 1)
				fillFeed(b, db, "i1000000", count)
				middle := callwright.Keyset{At: feedStart.Add(time.Duration(count/4) * time.Second), ID: "j"}
				for place, before := range map[string]callwright.Keyset{"first": {}, "middle": middle} {
					b.Run(place, func(b *testing.B) {
						b.ReportAllocs()
						for b.Loop() {
							page, err := triagestore.Store{DB: db}.Entries(b.Context(), "o", "i1000000", before, 50)
							if err != nil || len(page) != 50 {
								b.Fatal(len(page), err)
							}
						}
					})
				}
			})
		}
	}
}

// BenchmarkDelete deletes an issue with 100,000 entries, while the feed of another issue has as many.
func BenchmarkDelete(b *testing.B) {
	const count = 100_000
	for _, name := range []string{"sqlite", "postgres"} {
		b.Run(name, func(b *testing.B) {
			db := storetest.Open(b, storetest.Databases[name](b))
			fillIssues(b, db, 1000)
			fillFeed(b, db, "i1000999", count)
			store, n := triagestore.Store{DB: db}, 0
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				issue := fmt.Sprint("i", 1000001+n)
				n++
				fillFeed(b, db, issue, count)
				b.StartTimer()
				if err := store.DeleteIssue(b.Context(), "o", issue); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkAppend appends an agent's steps through the service, in batches of 1, 10 and 100.
func BenchmarkAppend(b *testing.B) {
	for _, name := range []string{"sqlite", "postgres"} {
		for _, batch := range []int{1, 10, 100} {
			b.Run(fmt.Sprintf("%s/%d", name, batch), func(b *testing.B) {
				s := triageService(b, storetest.Open(b, storetest.Databases[name](b)))
				issue, left, session := opened(b, s, "a")[0], 0, triage.Session{}
				steps := make([]triage.Step, batch)
				for i := range steps {
					steps[i] = triage.Step{Type: triage.TypeThought, Detail: strings.Repeat("The caller waits for an answer. ", 6)}
				}
				b.ReportAllocs()
				for b.Loop() {
					if left < batch {
						b.StopTimer()
						session, left = another(b, s, issue, session.ID), triage.MaxSessionSteps-10
						b.StartTimer()
					}
					if _, err := s.Append(b.Context(), "o", issue, session.ID, steps...); err != nil {
						b.Fatal(err)
					}
					left -= batch
				}
				b.ReportMetric(float64(b.N*batch)/b.Elapsed().Seconds(), "entries/s")
			})
		}
	}
}

// another stops a session, unless its id is empty, and starts the next session.
func another(b *testing.B, s *triage.Service, issue, session string) triage.Session {
	b.Helper()
	if session != "" {
		if _, err := s.Append(b.Context(), "o", issue, session, triage.Step{Type: triage.TypeSessionStopped}); err != nil {
			b.Fatal(err)
		}
	}
	next, err := s.StartSession(b.Context(), "o", triage.System(), issue, triage.SessionDraft{AgentName: "Analyst"})
	if err != nil {
		b.Fatal(err)
	}
	return next
}

// BenchmarkComment measures one comment of a person, on an issue without a description and on one with the longest description.
func BenchmarkComment(b *testing.B) {
	for _, name := range []string{"sqlite", "postgres"} {
		for _, length := range []int{0, triage.MaxDetail} {
			b.Run(fmt.Sprintf("%s/%d", name, length), func(b *testing.B) {
				s, who := triageService(b, storetest.Open(b, storetest.Databases[name](b))), triage.Actor{Kind: triage.ActorUser, ID: "u", Label: "Ann"}
				issue, err := s.Create(b.Context(), "o", who, triage.Draft{Title: "a", Description: strings.Repeat("d", length)})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				for b.Loop() {
					draft := triage.CommentDraft{Detail: "I have heard the recording: nobody speaks for four seconds."}
					if _, err := s.Comment(b.Context(), "o", who, issue.ID, draft); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkIssuePage reads pages of 50 of 100,000 issues, with several filters and orders.
func BenchmarkIssuePage(b *testing.B) {
	const count = 100_000
	for _, name := range []string{"sqlite", "postgres"} {
		b.Run(name, func(b *testing.B) {
			db := storetest.Open(b, storetest.Databases[name](b))
			fillIssues(b, db, count)
			s := triageService(b, db)
			for what, f := range map[string]triage.Filter{
				"by activity": {}, "by severity": {Sort: triage.SortSeverity},
				"backlog":                  {Statuses: []triage.Status{triage.StatusBacklog}},
				"in progress":              {Statuses: []triage.Status{triage.StatusInProgress, triage.StatusInReview}},
				"none":                     {Statuses: []triage.Status{triage.StatusInReview}},
				"in progress, by severity": {Sort: triage.SortSeverity, Statuses: []triage.Status{triage.StatusInProgress}},
				"search":                   {Search: "zürich"}, "search for nothing": {Search: "50%"},
			} {
				b.Run(strings.ReplaceAll(what, " ", "-"), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						page, err := s.List(b.Context(), "o", triage.Query{Filter: f})
						if err != nil || len(page.Items) != 50 && what != "none" && what != "search for nothing" {
							b.Fatal(len(page.Items), err)
						}
					}
				})
			}
		})
	}
}
