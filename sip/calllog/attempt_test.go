package calllog_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/health"
	"github.com/callwright/callwright/sip/ladder"
)

// flaky is a call log whose Begin and Finish fail a given number of times, or hang.
type flaky struct {
	calllog.Store
	begins, ends int // number of calls of Begin and Finish that still fail
	hangs        bool
}

var errFlaky = errors.New("no database")

func (f *flaky) Begin(ctx context.Context, r calllog.Record) error {
	if f.hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	if f.begins--; f.begins >= 0 {
		return errFlaky
	}
	return f.Store.Begin(ctx, r)
}

func (f *flaky) Finish(ctx context.Context, org callwright.OrgID, id string, end calllog.End, steps []ladder.Event) error {
	if f.hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	if f.ends--; f.ends >= 0 {
		return errFlaky
	}
	return f.Store.Finish(ctx, org, id, end, steps)
}

func attempt() calllog.Record {
	return calllog.Record{
		ID: "c", Org: "a", TrunkID: "t", Number: one, Direction: sip.Outbound, From: "x\x00\xff\r\ny", To: strings.Repeat("ä", 400),
		SIPCallID: "\x01id", Attempt: 1, Server: "pbx.example.com:5061", StartedAt: start,
	}
}

func TestAttempt(t *testing.T) {
	t.Parallel()
	h := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // a call whose context has ended must still be stored
	r := attempt()
	h.Begin(ctx, r)
	got, _, err := h.Get(t.Context(), "a", "c")
	if err != nil || got.From != "xy" || got.SIPCallID != "id" || !utf8.ValidString(got.To) || len(got.To) != 512 || got.Node != "n1" {
		t.Errorf("began %+v, %v", got, err)
	}
	h.Answered(ctx, r, start.Add(time.Second))
	if got, _, err = h.Get(t.Context(), "a", "c"); err != nil || got.AnsweredAt == nil || got.EndedAt != nil {
		t.Errorf("answered %+v, %v", got, err)
	}
	h.clock.now = start.Add(time.Minute)
	r.SIPCode, r.Status, r.Reason = 200, "200 O\x00K", "b\x00ye"
	h.Finish(ctx, r, &health.Evidence{Alive: true, Reason: "200 O\nK"}, []ladder.Event{{Note: "connected"}})
	got, steps, err := h.Get(t.Context(), "a", "c")
	if err != nil || got.Status != "200 OK" || got.Reason != "bye" || got.Duration(start) != 59*time.Second || len(steps) != 1 {
		t.Errorf("ended %+v, %v, %v", got, steps, err)
	}
	if len(h.monitor.observed) != 1 || h.monitor.observed[0] != "t pbx.example.com:5061" || h.monitor.reasons[0] != "200 OK" {
		t.Errorf("observed %v, %v", h.monitor.observed, h.monitor.reasons)
	}
	if h.printed.Len() > 0 {
		t.Errorf("logged %s", h.printed)
	}
}

func TestObservedServers(t *testing.T) {
	t.Parallel()
	h := open(t)
	r := attempt()
	h.Finish(t.Context(), r, nil, nil) // no evidence
	r.Direction = sip.Inbound
	h.Finish(t.Context(), r, &health.Evidence{}, nil)
	if len(h.monitor.observed) != 0 {
		t.Errorf("observed %v", h.monitor.observed)
	}
}

func TestFailingStore(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		log    flaky
		kept   bool
		logged int
		most   time.Duration
	}{
		"a lost beginning":  {flaky{begins: 1}, true, 1, 0},
		"a late beginning":  {flaky{begins: 2}, true, 1, 200 * time.Millisecond},
		"a late end":        {flaky{ends: 2}, true, 0, 600 * time.Millisecond},
		"no end at all":     {flaky{ends: 9}, true, 1, 600 * time.Millisecond},
		"nothing at all":    {flaky{begins: 9, ends: 9}, false, 2, 600 * time.Millisecond},
		"nothing, and slow": {flaky{hangs: true}, false, 2, 8600 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := open(t, func(c *calllog.Config) {
					test.log.Store = c.Store
					c.Store = &test.log
				})
				began := time.Now()
				h.Begin(t.Context(), attempt())
				h.Finish(t.Context(), attempt(), nil, nil)
				if took := time.Since(began); took != test.most {
					t.Errorf("took %v", took)
				}
				got, _, err := h.store.Get(t.Context(), "a", "c")
				if ended := err == nil && got.EndedAt != nil; (err == nil) != test.kept || test.kept && test.log.ends < 0 != ended {
					t.Errorf("got %+v, %v", got, err)
				}
				if n := strings.Count(h.printed.String(), "level=ERROR"); n != test.logged {
					t.Errorf("logged %s", h.printed)
				}
			})
		})
	}
}
