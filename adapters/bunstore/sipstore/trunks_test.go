package sipstore_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/adapters/bunstore/sipstore"
	"github.com/callwright/callwright/sip"
)

// TestChangesOfOneNumber attaches, updates and detaches one number concurrently: each change either succeeds or finds the number detached.
func TestChangesOfOneNumber(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		s := trunks(t, open(t))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		const number, times = "+15551234567", 20
		endpoint, mode := "pbx.example.com", sip.AuthRegister
		outbound := sip.DirectionInput{Type: sip.Outbound, Endpoint: &endpoint}
		inbound := sip.DirectionInput{
			Type: sip.Inbound, Endpoint: &endpoint, AuthMode: &mode,
			Register: &sip.Credentials{Username: "u", Password: "12345678"},
		}
		changes := []func() error{
			func() error {
				done, err := s.Attach(ctx, "a", sip.Attachment{
					Numbers: []string{number}, Directions: []sip.DirectionInput{outbound, inbound},
				})
				for _, f := range done.Failed {
					err = errors.Join(err, errors.New("attach: "+f.Err.Error()))
				}
				return err
			},
			func() error {
				_, err := s.Update(ctx, "a", number, outbound)
				return unlessAbsent(err)
			},
			func() error {
				_, err := s.Detach(ctx, "a", number, []sip.Direction{sip.Inbound, sip.Outbound})
				return unlessAbsent(err)
			},
		}
		var wg sync.WaitGroup
		for _, change := range append(changes, changes...) {
			wg.Go(func() {
				for range times {
					if err := change(); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if r, err := s.Get(ctx, "a", number); err != nil || (r.Inbound == nil) != (r.Outbound == nil) {
			t.Errorf("%+v, %v is left, which no change makes", r, err)
		}
	})
}

func unlessAbsent(err error) error {
	if errors.Is(err, callwright.ErrNotFound) {
		return nil
	}
	return err
}

// trunks returns a service on a database, without calls and without probes of servers.
func trunks(t *testing.T, db *bunstore.DB) *sip.Service {
	t.Helper()
	s, err := sip.New(sip.Config{
		Store: sipstore.Trunks{DB: db}, Atomic: db,
		Statuses: sipstore.Statuses{DB: db}, Registrations: sipstore.Registrations{DB: db}, Codecs: []string{"PCMU"},
		DerivationKey: callwright.Secret(strings.Repeat("k", 32)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
