package e2e_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/callwright/callwright/internal/contracttest"
	"github.com/callwright/callwright/internal/e2e/server"
)

// phase is the progress of a request.
type phase int

// These constants are the phases of a request in which the server may be killed.
const (
	phaseConnected phase = iota // nothing is sent yet
	phaseSent                   // the whole request is sent
	phaseAnswered               // the answer has begun
	phases
)

// moment determines when a server is killed: as soon as count writing requests have reached a phase. The zero moment means never.
type moment struct {
	phase phase
	count int
}

// target is a server with its moment, and the acknowledged requests of the writers. Its methods are safe for concurrent use.
type target struct {
	t      *testing.T
	server *server.Server
	client *http.Client
	moment moment
	due    chan struct{} // closed when the moment has come and the server must be killed

	mu      sync.Mutex
	reached int
	acked   map[string]int // number of requests answered with 2xx, by operation
}

// aim returns a target for a server. acked contains the counts of earlier servers, and the target adds to it.
func aim(t *testing.T, s *server.Server, m moment, acked map[string]int) *target {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 100}
	t.Cleanup(transport.CloseIdleConnections)
	return &target{
		t: t, server: s, client: &http.Client{Transport: contracttest.Transport(t, transport)}, moment: m,
		due: make(chan struct{}), acked: acked,
	}
}

// reach counts a writing request that has reached the moment's phase, and closes due when the moment has come. It ignores other phases.
func (g *target) reach(p phase) {
	if p != g.moment.phase {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.reached++; g.reached == g.moment.count {
		close(g.due)
	}
}

// answer is the status and the body of an answer.
type answer struct {
	status int
	body   string
}

// good reports whether the status is 2xx.
func (a answer) good() bool { return a.status >= 200 && a.status < 300 }

// request is a request for an operation that writes.
type request struct {
	op     string
	target string
	body   string
	key    string // idempotency key; empty means none
}

// write sends a writing request. It returns false if the server was killed before it answered. A status that is neither 2xx nor allowed
// fails the test.
func (g *target) write(ctx context.Context, r request, allowed ...int) (answer, bool) {
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn:              func(httptrace.GotConnInfo) { g.reach(phaseConnected) },
		WroteRequest:         func(httptrace.WroteRequestInfo) { g.reach(phaseSent) },
		GotFirstResponseByte: func() { g.reach(phaseAnswered) },
	})
	a, ok := g.send(ctx, method(r.op), r)
	if !ok {
		return a, false
	}
	switch {
	case a.good():
		g.mu.Lock()
		g.acked[r.op]++
		g.mu.Unlock()
	case !slices.Contains(allowed, a.status):
		g.t.Errorf("%s %s %s is answered with %d %s", r.op, r.target, r.body, a.status, a.body)
	}
	return a, true
}

// read sends a GET request for a path. It returns false if the server was killed before it answered.
func (g *target) read(ctx context.Context, path string) (answer, bool) {
	return g.send(ctx, http.MethodGet, request{target: path})
}

// send sends a request. It returns false if there is no complete answer. In this case, the test fails unless the server was due to be
// killed or ctx has ended.
func (g *target) send(ctx context.Context, method string, r request) (answer, bool) {
	req, err := http.NewRequestWithContext(ctx, method, g.server.URL+r.target, strings.NewReader(r.body))
	if err != nil {
		g.t.Error(err)
		return answer{}, false
	}
	req.Header.Set("Authorization", g.server.Key)
	if r.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.key != "" {
		req.Header.Set("Idempotency-Key", r.key)
	}
	response, err := g.client.Do(req)
	var body []byte
	if err == nil {
		defer func() { _ = response.Body.Close() }()
		body, err = io.ReadAll(response.Body)
	}
	if err != nil {
		g.lost(ctx, fmt.Sprintf("%s %s: %v", method, r.target, err))
		return answer{}, false
	}
	return answer{response.StatusCode, string(body)}, true
}

// lost fails the test unless the server was due to be killed or ctx has ended. what describes the request without an answer.
func (g *target) lost(ctx context.Context, what string) {
	select {
	case <-g.due:
	case <-ctx.Done():
	default:
		g.t.Errorf("a running server does not answer: %s", what)
	}
}

// operation returns the operation of the contract with the given id. It panics if there is none.
func operation(id string) contracttest.Operation {
	all := contracttest.Operations()
	i := slices.IndexFunc(all, func(o contracttest.Operation) bool { return o.ID == id })
	if i < 0 {
		panic("the contract has no operation " + id)
	}
	return all[i]
}

func method(op string) string { return operation(op).Method }
