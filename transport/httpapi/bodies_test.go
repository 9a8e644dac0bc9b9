package httpapi_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/httpapi"
)

// list returns a JSON list that contains n copies of item.
func list(n int, item string) string {
	return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
}

func TestBodiesWithTooManyValues(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	const want = "the body must have at most 100000 JSON values"
	start := `{"phone_number":"` + theirNumber + `","task":"x","request_data":{"a":`
	for name, c := range map[string]struct{ path, body string }{
		"objects":   {"/v1/calls", start + list(49_999, `{"a":1}`) + `}}`},
		"lists":     {"/v1/calls", start + list(300_000, "[]") + `}}`},
		"blanks":    {"/v1/calls", start + list(100_000, "[ \n]") + `}}`},
		"numbers":   {"/v1/calls", start + list(100_000, "0") + `}}`},
		"in a list": {"/v1/sip/attach", `{"phone_number":"+14155550155","service":"sip","directions":` + list(54_000, `{"type":"inbound"}`) + `}`},
		"nodes":     {"/v1/pathway/create", `{"name":"x","edges":[],"nodes":` + list(300_000, "{}") + `}`},
		"no JSON":   {"/v1/calls", strings.Repeat(",", 200_000)},
	} {
		if answer := h.want(400, "POST", c.path, c.body); at(t, answer, "errors", 0, "message") != want {
			t.Errorf("%s: got %.200v, want %q", name, answer, want)
		}
	}
	// A body at the limit passes, and commas and brackets in a string are not counted.
	h.want(200, "POST", "/v1/calls", start+list(99_994, "0")+`}}`)
	h.want(200, "POST", "/v1/calls", start+list(99_994, "[]")+`}}`)
	h.want(200, "POST", "/v1/calls", start+`"`+strings.Repeat(`,[\"`, 100_000)+`"}}`)
}

// TestTheLargestPathwayPasses checks that the limit of values admits a pathway with the maximum number of nodes and edges.
func TestTheLargestPathwayPasses(t *testing.T) {
	t.Parallel()
	h := open(t)
	nodes := make([]string, 500)
	for i := range nodes {
		nodes[i] = fmt.Sprintf(`{"id":"n%d","type":"Default","data":{"name":"Node %d","text":"Hello.","tags":%s},"position":{"x":1,"y":2}}`,
			i, i, list(40, `{"key":"value"}`))
	}
	nodes[0] = strings.Replace(nodes[0], `"name"`, `"isStart":true,"name"`, 1)
	edges := make([]string, 2000)
	for i := range edges {
		edges[i] = fmt.Sprintf(`{"id":"e%d","source":"n%d","target":"n%d","type":"custom","animated":true,"data":{"label":"%d","description":"Go on."}}`,
			i, i%500, (i+1+i/500)%500, i)
	}
	h.Handler = h.unchecked // comparing such a large body with the contract is slow
	answer := h.do("POST", "/v1/pathway/create", `{"name":"Large","nodes":[`+strings.Join(nodes, ",")+`],"edges":[`+strings.Join(edges, ",")+`]}`)
	if answer.Code != http.StatusCreated {
		t.Errorf("got %d %s", answer.Code, answer.Body)
	}
}

// gated is an Atomic whose transactions wait until open is closed. inside counts the transactions that have begun.
type gated struct {
	callwright.Atomic
	open   chan struct{}
	inside atomic.Int32
}

func (g *gated) Do(ctx context.Context, fn func(ctx context.Context) error) error {
	g.inside.Add(1)
	<-g.open
	return g.Atomic.Do(ctx, fn)
}

// crowd makes concurrent requests in a synctest bubble, and counts their answers by status.
type crowd struct {
	h        *house
	statuses map[int]*atomic.Int32
}

func (c *crowd) send(key, path, body string, headers ...header) {
	r := httptest.NewRequestWithContext(context.Background(), "POST", path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", key)
	for _, x := range headers {
		r.Header.Set(x.name, x.value)
	}
	c.serve(r)
}

func (c *crowd) serve(r *http.Request) {
	go func() {
		answer := httptest.NewRecorder()
		c.h.unchecked.ServeHTTP(answer, r)
		if answer.Code == http.StatusServiceUnavailable && answer.Header().Get("Retry-After") == "" {
			c.h.t.Errorf("503 without Retry-After: %s", answer.Body)
		}
		c.statuses[answer.Code].Add(1)
	}()
}

func newCrowd(h *house) *crowd {
	return &crowd{h, map[int]*atomic.Int32{200: {}, 201: {}, 400: {}, 404: {}, 501: {}, 503: {}}}
}

// TestBodiesAtOnceAreBounded checks the bound of decoded bodies in memory. Several organizations send the largest bodies while the database
// does not answer.
func TestBodiesAtOnceAreBounded(t *testing.T) {
	t.Parallel()
	g := new(gated)
	h := open(t, func(c *httpapi.Config) { g.Atomic, c.Atomic = c.Atomic, g })
	h.attach()
	keys := []string{h.key}
	for i := range 9 {
		_, key := h.tenant(fmt.Sprintf("t%d", i), callwright.EntitlementSIP)
		keys = append(keys, key)
	}
	heavy := `{"phone_number":"` + theirNumber + `","task":"x","request_data":{"a":` + list(49_900, `{"abcdefghi":123}`) + `}}`
	synctest.Test(t, func(t *testing.T) {
		g.open = make(chan struct{})
		c := newCrowd(h)
		waiting := func(want int32, what string) {
			t.Helper()
			synctest.Wait()
			if got := g.inside.Load(); got != want {
				t.Errorf("%s: %d requests are at work, want %d", what, got, want)
			}
		}
		for i := range 10 {
			c.send(keys[0], "/v1/calls", heavy, header{"Idempotency-Key", fmt.Sprint(i)})
		}
		waiting(1, "one organization")
		for i := range 90 {
			c.send(keys[1+i%9], "/v1/calls", heavy, header{"Idempotency-Key", fmt.Sprint(i)})
		}
		waiting(4, "ten organizations")
		for i := range 10 {
			c.send(keys[i], "/v1/calls", aCall, header{"Idempotency-Key", "small"})
		}
		waiting(14, "with small requests")
		<-time.After(time.Minute)
		if n := c.statuses[503].Load(); n != 96 {
			t.Errorf("%d requests were answered 503, want 96", n)
		}
		close(g.open)
		synctest.Wait()
		c.send(keys[0], "/v1/calls", heavy)
		synctest.Wait()
		if n := c.statuses[503].Load(); n != 96 {
			t.Error("what was taken is not given back")
		}
	})
}

// TestBodiesThatComeAtOnceAreBounded checks the bound of bodies that are being received. Organizations begin to send large bodies and never
// finish.
func TestBodiesThatComeAtOnceAreBounded(t *testing.T) {
	t.Parallel()
	h := open(t)
	_, other := h.tenant("other", callwright.EntitlementSIP)
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(h)
		var ends []*io.PipeWriter
		var came atomic.Int64
		begin := func(key string, announced int64) {
			reader, writer := io.Pipe()
			ends = append(ends, writer)
			r := httptest.NewRequestWithContext(context.Background(), "POST", "/v1/calls", reader)
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Authorization", key)
			r.ContentLength = announced
			c.serve(r)
			go func() {
				for range 100 {
					n, _ := writer.Write([]byte(strings.Repeat(" ", 10_000)))
					came.Add(int64(n))
				}
			}()
			synctest.Wait()
		}
		for i := range 40 {
			begin(h.key, []int64{-1, 1 << 20}[i%2]) // chunked or of known length
		}
		if got := came.Load() >> 20; got > 17 {
			t.Errorf("%d MiB of bodies of one organization are in memory", got)
		}
		begin(other, 1<<20)
		h.want(400, "POST", "/v1/calls", `{}`)
		<-time.After(time.Minute)
		if n := c.statuses[503].Load(); n != 24 {
			t.Errorf("%d requests were answered 503, want 24", n)
		}
		for _, end := range ends {
			_ = end.Close()
		}
		synctest.Wait()
		if n := c.statuses[400].Load(); n != 17 {
			t.Errorf("%d bodies were read to their end, want 17", n)
		}
	})
}
