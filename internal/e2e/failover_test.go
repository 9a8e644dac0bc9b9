package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/bunstore/pgtest"
	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/e2e/baresip"
	"github.com/callwright/callwright/internal/e2e/server"
	"github.com/callwright/callwright/transport/oas/callsoas"
)

// readOnlyFor is how long the database refuses writes: long enough for all retries to reach their longest backoff.
const readOnlyFor = 10 * time.Second

// TestDatabaseFailover makes a PostgreSQL server read-only, freezes, restarts and kills it, and promotes a standby in its place, during a
// call and requests. The call must continue, requests must receive an answer or a Retry-After, and /readyz must report the outage.
// Afterwards the same server process must accept writes and place calls.
func TestDatabaseFailover(t *testing.T) {
	t.Parallel()
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
	first := pgtest.NewServer(t)
	second := first.Standby(t)
	s := start(t, ca.CertFile(), "--database-url", first.DSN(second))
	s.AttachOutbound(t, ours.String(), phone.Server())
	visitors := newVisitors(t, s)
	ready := func(status int) func() bool {
		return func() bool {
			got, _ := s.Get(t, "/readyz")
			return got == status
		}
	}
	for _, outage := range []struct {
		name       string
		lasts      time.Duration
		begin, end func()
	}{
		{"read-only", readOnlyFor, func() { first.SetReadOnly(t, true) }, func() { first.SetReadOnly(t, false) }},
		{"frozen", 0, first.Freeze, first.Resume},
		{"restarted", 0, func() { first.Stop(t) }, func() { first.Start(t) }},
		{"killed", 0, first.Kill, func() { first.Start(t) }},
		{"replaced by its standby", 0, first.Kill, func() { second.Promote(t) }},
	} {
		established := len(phone.Events("CALL_ESTABLISHED"))
		running := s.Call(t, appointment())
		phone.Await(t, "CALL_ESTABLISHED", established+1)
		says(t, s, running, greeting)
		closed := len(phone.Events("CALL_CLOSED"))

		began := time.Now()
		outage.begin()
		visitors.await(t, outage.name+": a visitor to be told to come again", func(v visit) bool { return v.status == http.StatusServiceUnavailable })
		await.That(t, outage.name+": /readyz to refuse", ready(http.StatusServiceUnavailable))
		await.That(t, outage.name+": the outage to be long enough", func() bool { return time.Since(began) >= outage.lasts })
		outage.end()
		ended := time.Now()
		visitors.await(t, outage.name+": a visitor to be served", func(v visit) bool { return v.began.After(ended) && v.status == http.StatusCreated })
		served := time.Since(ended)
		await.That(t, outage.name+": /readyz to answer", ready(http.StatusOK))
		t.Logf("%s: writes again after %v, ready after %v", outage.name, served.Round(time.Millisecond), time.Since(ended).Round(time.Millisecond))

		if len(phone.Events("CALL_CLOSED")) != closed {
			t.Errorf("%s: the running call has ended", outage.name)
		}
		next := s.Call(t, brief())
		phone.Await(t, "CALL_ESTABLISHED", established+2)
		t.Logf("%s: a new call is answered after %v", outage.name, time.Since(ended).Round(time.Millisecond))
		s.StopCall(t, running)
		for _, id := range []string{running, next} {
			if r := s.Ended(t, id); r.Status != callsoas.CallStatusCompleted {
				t.Errorf("%s: a call ended as %s, %q", outage.name, r.Status, r.ErrorMessage.Value)
			}
		}
	}
	visitors.stop()
	s.Stop(t)
}

// TestBehindPgBouncer checks that calls are completed if the database is behind PgBouncer in transaction mode.
func TestBehindPgBouncer(t *testing.T) {
	t.Parallel()
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
	s := start(t, ca.CertFile(), "--database-url", pgtest.PooledDSN(t))
	s.AttachOutbound(t, ours.String(), phone.Server())
	if status, body := s.Get(t, "/readyz"); status != http.StatusOK {
		t.Errorf("/readyz is %d, %s", status, body)
	}
	for range 3 {
		if r := s.Ended(t, s.Call(t, brief())); r.Status != callsoas.CallStatusCompleted {
			t.Errorf("a call ended as %s, %q", r.Status, r.ErrorMessage.Value)
		}
	}
	s.Stop(t)
}

// visit is a request that writes: the time when it began, and the status of its answer.
type visit struct {
	began  time.Time
	status int
}

// visitors send writing requests concurrently until stop is called.
type visitors struct {
	visits chan visit
	stop   func()
}

func newVisitors(t *testing.T, s *server.Server) *visitors {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	v := &visitors{visits: make(chan visit)}
	var running sync.WaitGroup
	for range 3 {
		running.Go(func() {
			for ctx.Err() == nil {
				v.come(ctx, t, s)
			}
		})
	}
	v.stop = func() { cancel(); running.Wait() }
	t.Cleanup(v.stop)
	return v
}

// come sends a request, and checks that the answer is a success, or 503 with a Retry-After.
func (v *visitors) come(ctx context.Context, t *testing.T, s *server.Server) {
	began := time.Now()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/v1/pathway/create", strings.NewReader(`{"name":"x"}`))
	if err != nil {
		t.Error(err)
		return
	}
	req.Header.Set("Authorization", "Bearer "+s.Key)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		if ctx.Err() == nil {
			t.Errorf("a visitor got no answer: %v", err)
		}
		return
	}
	defer res.Body.Close()
	var body bytes.Buffer
	_, _ = body.ReadFrom(res.Body)
	var answer struct {
		Errors []struct {
			Error string `json:"error"`
		} `json:"errors"`
	}
	parsed := json.Unmarshal(body.Bytes(), &answer) == nil
	wait, _ := strconv.Atoi(res.Header.Get("Retry-After"))
	switch {
	case ctx.Err() != nil:
		return
	case res.StatusCode == http.StatusCreated:
	case res.StatusCode != http.StatusServiceUnavailable || wait < 1 || !parsed || len(answer.Errors) == 0 ||
		!strings.EqualFold(answer.Errors[0].Error, "SERVICE_UNAVAILABLE"):
		t.Errorf("a visitor got %d, Retry-After %q, %s", res.StatusCode, res.Header.Get("Retry-After"), body.String())
	}
	select {
	case v.visits <- visit{began, res.StatusCode}:
	case <-ctx.Done():
	}
}

// await waits until wanted returns true for a visit.
func (v *visitors) await(t *testing.T, what string, wanted func(visit) bool) {
	t.Helper()
	late, cancel := context.WithTimeout(t.Context(), await.Limit)
	defer cancel()
	for {
		select {
		case got := <-v.visits:
			if wanted(got) {
				return
			}
		case <-late.Done():
			t.Fatalf("waiting for %s", what)
		}
	}
}
