package siptest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/sip/proof"
)

// RunProofStore tests a proof.Store. newStore returns an empty store.
func RunProofStore(t *testing.T, newStore func(t *testing.T) proof.Store) {
	t.Helper()
	callwrighttest.RunRows(t, callwrighttest.RowsHarness[proof.Store, proof.Proof]{
		New:     newStore,
		Org:     func(p *proof.Proof) *callwright.OrgID { return &p.Org },
		Version: func(p *proof.Proof) *int64 { return &p.Version },
		Insert: func(s proof.Store, ctx context.Context, p proof.Proof) error {
			_, _, err := s.Insert(ctx, p, manyProofs, at)
			return err
		},
		Find: func(s proof.Store, ctx context.Context, p proof.Proof) (proof.Proof, error) {
			return s.Latest(ctx, p.Org, p.Number)
		},
		Change: func(p *proof.Proof, writer int) {
			p.State, p.Reason, p.Hash, p.CalledAt, p.Tries, p.ExpiresAt = proof.StateWaiting, "", "", nil, writer, at.Add(time.Hour)
		},
		Replace:   proof.Store.Update,
		DeleteOld: proof.Store.DeleteOld,
		Time:      func(p proof.Proof) time.Time { return p.CreatedAt },
	})
	tests := map[string]func(*testing.T, proof.Store){
		"adds up to the limits":           addsProofs,
		"adds up to the limits in a race": addsProofsInRace,
		"returns the newest of a number":  returnsLatestProof,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newStore(t))
		})
	}
}

// numberProof returns a waiting proof of organization a that was created the given number of seconds after the time in the variable at.
func numberProof(id string, number callwright.PhoneNumber, seconds int) proof.Proof {
	made := at.Add(time.Duration(seconds) * time.Second)
	return proof.Proof{ID: id, Org: "a", Number: number, State: proof.StateWaiting, CreatedAt: made, ExpiresAt: made.Add(time.Hour), Version: 1}
}

var manyProofs = proof.Limits{Number: 1000, Org: 1000}

func insertProofs(t *testing.T, s proof.Store, all ...proof.Proof) {
	t.Helper()
	for _, p := range all {
		if added, _, err := s.Insert(t.Context(), p, manyProofs, at); err != nil || !added {
			t.Fatalf("insert %s: added %t, %v", p.ID, added, err)
		}
	}
}

func wantLatestProof(t *testing.T, s proof.Store, want proof.Proof) {
	t.Helper()
	if got, err := s.Latest(t.Context(), want.Org, want.Number); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
	}
}

func addsProofs(t *testing.T, s proof.Store) {
	insertProofs(t, s, numberProof("p1", "+1", 1), numberProof("p2", "+1", 2), numberProof("p3", "+2", 3))
	if _, _, err := s.Insert(t.Context(), numberProof("p1", "+9", 4), manyProofs, at); !errors.Is(err, callwright.ErrConflict) {
		t.Errorf("a taken id gave %v, want a conflict", err)
	}
	for _, c := range []struct {
		what   string
		number callwright.PhoneNumber
		org    callwright.OrgID
		limits proof.Limits
		since  int
		oldest int // creation time of the oldest proof that counts towards the limit, in seconds after the time in the variable at; 0 if p is added
	}{
		{"the number's limit", "+1", "a", proof.Limits{Number: 2, Org: 9}, 0, 1},
		{"the number's limit for another organization", "+1", "b", proof.Limits{Number: 2, Org: 9}, 0, 1},
		{"the organization's limit", "+3", "a", proof.Limits{Number: 9, Org: 3}, 0, 1},
		{"both limits", "+1", "a", proof.Limits{Number: 1, Org: 2}, 0, 2},
		{"one that is too old to count", "+1", "a", proof.Limits{Number: 2, Org: 9}, 1, 0},
		{"another number of another organization", "+4", "c", proof.Limits{Number: 1, Org: 1}, 0, 0},
		{"limits that are alike", "+4", "d", proof.Limits{Number: 2, Org: 2}, 0, 0},
	} {
		p := numberProof(c.what, c.number, 10)
		p.Org = c.org
		added, oldest, err := s.Insert(t.Context(), p, c.limits, at.Add(time.Duration(c.since)*time.Second))
		if err != nil || added != (c.oldest == 0) || !added && !oldest.Equal(at.Add(time.Duration(c.oldest)*time.Second)) {
			t.Errorf("%s: added %t, oldest %v, %v", c.what, added, oldest, err)
		}
		if _, err := s.Latest(t.Context(), "b", "+1"); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("%s: what was not added is there: %v", c.what, err)
		}
	}
}

func addsProofsInRace(t *testing.T, s proof.Store) {
	var added atomic.Int32
	var racing sync.WaitGroup
	for i := range 12 {
		racing.Go(func() {
			p := numberProof(fmt.Sprint("p", i), "+1", i+1)
			p.Org = callwright.OrgID(fmt.Sprint("o", i%3))
			switch ok, _, err := s.Insert(t.Context(), p, proof.Limits{Number: 5, Org: 9}, at); {
			case err != nil:
				t.Errorf("insert: %v", err)
			case ok:
				added.Add(1)
			}
		})
	}
	racing.Wait()
	if n := added.Load(); n != 5 {
		t.Errorf("%d were added, want 5", n)
	}
}

func returnsLatestProof(t *testing.T, s proof.Store) {
	newest := numberProof("p1", "+1", 3)
	insertProofs(t, s, numberProof("p3", "+1", 1), newest, numberProof("p2", "+1", 2), numberProof("p4", "+2", 4))
	wantLatestProof(t, s, newest)
	if _, err := s.Latest(t.Context(), "a", "+3"); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("a number without a proof gave %v, want not found", err)
	}
}

// RunSpeaker tests a proof.Speaker at 8, 16 and 48 kHz.
func RunSpeaker(t *testing.T, newSpeaker func(t *testing.T) proof.Speaker) {
	t.Helper()
	s := newSpeaker(t)
	for _, rate := range []int{8000, 16000, 48000} {
		word, err := s.Speak(t.Context(), "seven", rate)
		if err != nil {
			t.Fatalf("at %d Hz: %v", rate, err)
		}
		if lasts := time.Duration(len(word)) * time.Second / time.Duration(rate); lasts < 100*time.Millisecond || lasts > 5*time.Second {
			t.Errorf("at %d Hz a word lasts %v", rate, lasts)
		}
		loudest := int16(0)
		for _, sample := range word {
			loudest = max(loudest, sample)
		}
		if loudest < 1000 {
			t.Errorf("at %d Hz it is silent", rate)
		}
	}
}
