package triage_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/triage"
)

// searched is a store that counts concurrent searches. The constant searching is the duration of each search.
type searched struct {
	triage.Store

	mu   sync.Mutex
	now  map[callwright.OrgID]int // running searches of each organization; the key "" counts all
	most map[callwright.OrgID]int // maximum of concurrent searches of each organization; the key "" counts all
}

// searching is the duration of a search.
const searching = 3 * time.Second

func (s *searched) FindIssues(ctx context.Context, org callwright.OrgID, f triage.Filter) ([]triage.Issue, error) {
	if f.Search != "" {
		s.count(org, 1)
		time.Sleep(searching)
		s.count(org, -1)
	}
	return s.Store.FindIssues(ctx, org, f)
}

func (s *searched) count(org callwright.OrgID, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, of := range []callwright.OrgID{org, ""} {
		s.now[of] += n
		s.most[of] = max(s.most[of], s.now[of])
	}
}

// TestSearchesAreFew checks that at most one search of each organization, and at most two in total, run concurrently. Others wait, and fail
// after 5 seconds. Lists without a search do not wait.
func TestSearchesAreFew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &searched{now: map[callwright.OrgID]int{}, most: map[callwright.OrgID]int{}}
		h := open(t, func(c *triage.Config) {
			store.Store = c.Store
			c.Store = store
		})
		begin := time.Now()
		list := func(org callwright.OrgID, search string) (took time.Duration, err error) {
			_, err = h.List(t.Context(), org, triage.Query{Filter: triage.Filter{Search: search}})
			return time.Since(begin), err
		}
		greedy := make(chan error, 5)
		for range cap(greedy) {
			go func() {
				_, err := list("greedy", "words")
				greedy <- err
			}()
		}
		synctest.Wait()
		if took, err := list("greedy", ""); err != nil || took > 0 {
			t.Errorf("a list without a search took %v: %v", took, err)
		}
		if took, err := list("acme", "words"); err != nil || took != searching {
			t.Errorf("another organization's search took %v: %v", took, err)
		}
		failed := 0
		for range cap(greedy) {
			if err := <-greedy; err != nil {
				failed++
				wantError(t, err, callwright.CodeUnavailable, "")
			}
		}
		if failed != 3 || store.most["greedy"] != 1 || store.most[""] != 2 {
			t.Errorf("%d searches failed; at most %d of the organization and %d in all ran at once", failed, store.most["greedy"], store.most[""])
		}
	})
}
