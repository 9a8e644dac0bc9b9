package trunks

import (
	"context"
	"html/template"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/ladder"
	"github.com/callwright/callwright/sip/testcall"
	"github.com/callwright/callwright/transport/dashboard/internal/chart"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// testCall holds the data of a test call's page.
type testCall struct {
	Call *testcall.Call
	Now  time.Time
}

// startTest starts a test call over a number's trunk, and redirects to its page.
func (p pages) startTest(ctx context.Context, r *page.Request) (page.Answer, error) {
	n, err := number(r)
	if err != nil {
		return nil, err
	}
	if _, err := p.record(ctx, r, n); err != nil {
		return nil, err
	}
	c, err := p.cfg.TestCalls.Start(ctx, r.Org(), n.String())
	if err != nil {
		return nil, err
	}
	return page.SeeOther{To: toTrunk(n.String(), "test", c.ID)}, nil
}

// test shows a test call, with live updates until the call has ended. The test calls of another number are not found.
func (p pages) test(ctx context.Context, r *page.Request) (page.Answer, error) {
	n, err := number(r)
	if err != nil {
		return nil, err
	}
	c, err := p.testCall(ctx, r, n, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	v := &page.View{Page: "test", Title: "Test call over " + n.String(), Data: testCall{&c, p.now()}}
	if c.EndedAt == nil {
		v.Live, v.Every = []string{"test"}, time.Second
	}
	return v, nil
}

// testCall returns a test call of a number. It returns CodeNotFound if the number has no test call with this id.
func (p pages) testCall(ctx context.Context, r *page.Request, n callwright.PhoneNumber, id string) (testcall.Call, error) {
	c, err := p.cfg.TestCalls.Get(ctx, r.Org(), id)
	if err == nil && c.Number != n {
		err = callwright.NotFound("call")
	}
	return c, err
}

// Since returns the time from the start of the call to an event.
func (t testCall) Since(e testcall.Event) time.Duration { return max(0, e.At.Sub(t.Call.StartedAt)) }

// Picture draws the events of the call as a timeline.
func (t testCall) Picture() template.HTML {
	picture := chart.Timeline{ID: "timeline", Title: "Steps of the test call"}
	for _, e := range t.Call.Timeline {
		shown := chart.Event{At: e.At, Label: strings.TrimSuffix(e.Name+": "+e.Detail, ": ")}
		switch e.Name {
		case "answered", "completed":
			shown.State = chart.Good
		case "refused", "failed", ladder.NoteUnresolved, ladder.NoteUnconnected:
			shown.State = chart.Bad
		}
		picture.Events = append(picture.Events, shown)
	}
	return picture.SVG()
}

// record returns the attachment of a number, or CodeNotFound if the number is not attached.
func (p pages) record(ctx context.Context, r *page.Request, n callwright.PhoneNumber) (sip.Record, error) {
	record, err := p.cfg.Trunks.Get(ctx, r.Org(), n.String())
	if err == nil && record == (sip.Record{}) {
		err = callwright.NotFound("number")
	}
	return record, err
}

// complete shows the last page of a set-up.
func (p pages) complete(ctx context.Context, r *page.Request) (page.Answer, error) {
	n, err := number(r)
	if err != nil {
		return nil, err
	}
	record, err := p.record(ctx, r, n)
	if err != nil {
		return nil, err
	}
	tested := false
	if id := r.Query("test"); id != "" {
		c, err := p.testCall(ctx, r, n, id)
		if err != nil {
			return nil, err
		}
		tested = c.Result == testcall.Connected
	}
	now := "Test call"
	if tested || record.Outbound == nil {
		now = "Complete"
	}
	data := map[string]any{
		"Steps": steps(now, record.Outbound != nil, false), "Number": n.String(), "Inbound": record.Inbound != nil,
		"Outbound": record.Outbound != nil, "Tested": tested, "CallPages": p.cfg.CallPages,
	}
	return &page.View{Page: "complete", Title: "Complete the set-up of " + n.String(), Data: data}, nil
}
