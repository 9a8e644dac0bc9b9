package ports_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore/portingstore"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/loa"
)

// noon is the time at which stored requests were created.
var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// put stores a request with its history, and returns the text of its page.
func (h *house) put(r porting.Request, history ...porting.Entry) string {
	h.t.Helper()
	r.ID, r.Org, r.CreatedAt, r.Revision, r.Entries = fmt.Sprintf("port_%d", h.puts), "acme", noon, 1, len(history)
	for i := range r.Numbers {
		r.Numbers[i].Number = callwright.PhoneNumber(fmt.Sprintf("+1206555%04d", 100*h.puts+i))
	}
	for i := range history {
		history[i].Number = i + 1
	}
	h.puts++
	if err := h.store.InsertRequest(h.t.Context(), r, history...); err != nil {
		h.t.Fatal(err)
	}
	return h.get(http.StatusOK, "/ports/"+r.ID)
}

// lacks checks that a page contains none of the texts.
func lacks(t *testing.T, text string, others ...string) {
	t.Helper()
	for _, other := range others {
		if strings.Contains(text, other) {
			t.Errorf("%q is in\n%s", other, text)
		}
	}
}

// TestWhoMustAct checks that the page names the party that must act, and omits the sentence if no party must act.
func TestWhoMustAct(t *testing.T) {
	t.Parallel()
	h := open(t)
	failed := func(code porting.FailureCode) porting.Request {
		return porting.Request{State: porting.Failed, Failure: &porting.Failure{Code: code}}
	}
	confirmed := porting.Request{State: porting.InProgress, Numbers: []porting.Number{{State: porting.NumberConfirmed, FOC: noon}}}
	for want, r := range map[string]porting.Request{
		"<strong>You</strong> must act. The losing carrier": failed(porting.PINInvalid),
		"<strong>The signer</strong> must act by <time":     {State: porting.WaitingForSignature, SignBy: noon},
		"<strong>The losing carrier</strong> must act by <": confirmed,
		"<strong>The operator</strong> must act. The":       failed(porting.GatewayError),
	} {
		has(t, h.put(r), want)
	}
	text := h.put(failed(porting.NumberNotPortable))
	has(t, text, `<p class="notice">The number cannot be ported.</p>`)
	lacks(t, text, "must act", "nobody")
	lacks(t, h.put(porting.Request{State: porting.Completed}), "must act", `<p class="notice">`)
	has(t, h.get(http.StatusOK, "/ports"), "<td>The signer</td>", "<td>Nobody</td>", `<th scope="col">By</th>`)
}

// TestStepsThatWereReached checks that the page of a canceled request omits the stages that were not reached, and that the page of an open
// request shows them.
func TestStepsThatWereReached(t *testing.T) {
	t.Parallel()
	h := open(t)
	made := porting.Entry{At: noon, To: porting.WaitingForSignature, Event: porting.Initiated, Actor: porting.API}
	end := porting.Entry{At: noon, From: porting.WaitingForSignature, To: porting.Canceled, Event: porting.CancelAsked, Actor: porting.API}
	text := h.put(porting.Request{State: porting.Canceled}, made, end)
	has(t, text, "<li>waiting for signature, <time", `<li aria-current="step">canceled, <time`)
	lacks(t, text, "<li>submitted", "<li>in progress")
	has(t, h.put(porting.Request{State: porting.WaitingForSignature}, made), "<li>submitted", "<li>in progress", "<li>completed")
}

// TestPartialPort checks that a partial port is not shown as a success, and that each rejected number is shown with the reason, or with a
// notice that the carrier gives none.
func TestPartialPort(t *testing.T) {
	t.Parallel()
	h := open(t)
	const good = `class="badge good"><span aria-hidden="true">✓</span> completed</span>`
	partial := h.put(porting.Request{State: porting.Completed, Numbers: []porting.Number{
		{State: porting.NumberPorted, PortedAt: noon}, {State: porting.NumberRejected, Failure: &porting.Failure{Code: porting.PINInvalid}},
		{State: porting.NumberRejected}, {State: porting.NumberCanceled},
	}})
	has(t, partial, `class="badge warn"><span aria-hidden="true">!</span> completed</span> partially ported`, "These numbers were not ported:",
		"<li>&#43;12065550001: The losing carrier refuses the PIN.", "<li>&#43;12065550002: The carrier gives no reason.</li>")
	lacks(t, partial, good, "<li>&#43;12065550000:", "<li>&#43;12065550003:")
	lacks(t, h.get(http.StatusOK, "/ports"), good)
	has(t, h.put(porting.Request{State: porting.Completed, Numbers: []porting.Number{{State: porting.NumberPorted}}}), good)
	lacks(t, h.get(http.StatusOK, "/ports/port_1"), "were not ported")
	has(t, h.get(http.StatusOK, "/ports"), good, `class="badge warn"`)
}

// TestCancelIsOffered checks that the page shows the cancel button exactly for requests that the domain can cancel.
func TestCancelIsOffered(t *testing.T) {
	t.Parallel()
	h := open(t)
	const button = "Cancel the request</button>"
	open := porting.Request{State: porting.InProgress, Sending: true, Numbers: []porting.Number{{State: porting.NumberInProgress}}}
	has(t, h.put(open), button)
	asked, ported := open, open
	asked.Numbers, asked.CancelAskedAt = []porting.Number{{State: porting.NumberRejected}}, noon
	ported.Numbers = []porting.Number{{State: porting.NumberPorted}}
	for _, r := range []porting.Request{asked, ported, {State: porting.Canceled}} {
		lacks(t, h.put(r), button)
	}
}

// TestHistoryPages checks that the pages of a long history lead from the newest entries to the oldest and back.
func TestHistoryPages(t *testing.T) {
	t.Parallel()
	h := open(t)
	history := make([]porting.Entry, 120)
	for i := range history {
		history[i] = porting.Entry{
			At: noon, From: porting.InProgress, To: porting.InProgress, Event: porting.Changed, Actor: porting.Carrier, Note: fmt.Sprintf("note %d.", i+1),
		}
	}
	h.put(porting.Request{State: porting.InProgress}, history...)
	for _, c := range []struct {
		query        string
		first, last  int
		older, newer string
	}{
		{"", 71, 120, `href="?before=71"`, ""},
		{"?before=71", 21, 70, `href="?before=21"`, `href="?"`},
		{"?before=21", 1, 20, "", `href="?before=71"`},
		{"?before=900", 71, 120, `href="?before=71"`, ""},
	} {
		text := h.get(http.StatusOK, "/ports/port_0"+c.query)
		has(t, text, fmt.Sprintf("note %d.", c.first), fmt.Sprintf("note %d.", c.last), c.older, c.newer)
		lacks(t, text, fmt.Sprintf("note %d.", c.first-1), fmt.Sprintf("note %d.", c.last+1))
		if strings.Contains(text, "← Older") != (c.older != "") || strings.Contains(text, "Newer →") != (c.newer != "") {
			t.Errorf("%q has other links than %q and %q:\n%s", c.query, c.older, c.newer, text)
		}
	}
	h.get(http.StatusBadRequest, "/ports/port_0?before=x")
	h.get(http.StatusBadRequest, "/ports/port_0?before=0")
}

// TestLongTrail checks that only the newest events of a long audit trail are shown. The events are invented, so the trail does not verify.
func TestLongTrail(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.put(porting.Request{State: porting.WaitingForSignature, SignBy: noon})
	events := make([]loa.Event, 60)
	for i := range events {
		events[i] = loa.Event{Number: i + 1, At: noon, Kind: loa.EventResent, Email: fmt.Sprintf("robin%d@example.com", i+1)}
	}
	letter := loa.Letter{Org: "acme", Request: "port_0", State: loa.Waiting, SHA256: "5ha", LinkHash: "x", CreatedAt: noon, Events: 60, Revision: 1}
	if err := (portingstore.Letters{Store: h.store.Store}).InsertLetter(t.Context(), letter, []byte(pdf), events...); err != nil {
		t.Fatal(err)
	}
	text := h.get(http.StatusOK, "/ports/port_0")
	has(t, text, "robin11@", "robin60@", "The evidence also has the events before these.", "does not verify</span> event 1 ")
	lacks(t, text, "robin10@", "No event before the head was changed or removed")
}
