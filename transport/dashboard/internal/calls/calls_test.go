package calls_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/request"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/health"
	"github.com/callwright/callwright/sip/ladder"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/transport/dashboard/internal/calls"
	"github.com/callwright/callwright/transport/dashboard/pagetest"
)

// somebody is a page.Authenticator that identifies every request as the same user.
type somebody struct{}

func (somebody) Authenticate(*http.Request) (callwright.Principal, error) {
	return callwright.Principal{Org: org, KeyID: "k", KeyName: "Robin"}, nil
}

// routes is a call.Routes with one number for outbound calls.
type routes struct{}

func (routes) Caller(_ context.Context, _ callwright.OrgID, from callwright.PhoneNumber) (callwright.PhoneNumber, error) {
	if from != "" && from != "+14155550100" {
		return "", callwright.Invalid("from", "is not attached for outbound calls")
	}
	return "+14155550100", nil
}

// monitor is a calllog.Monitor that ignores evidence.
type monitor struct{}

func (monitor) Observe(context.Context, callwright.OrgID, string, string, health.Evidence) {}

func running(c *call.Call) {
	c.Queue, c.Status, c.EndedAt, c.Ending = call.QueueStarted, "", nil, nil
}

func TestList(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.want(http.StatusOK, "/calls", "There are no calls yet", "!Running now")
	h.call("c1", func(*call.Call) {})
	h.call("c2", running)
	h.call("foreign", func(c *call.Call) { c.Org = "other" })
	h.call("c3", func(c *call.Call) {
		c.Inbound, c.From, c.Status, c.Ending.Cause = true, `<script>alert(1)</script>`, call.StatusFailed, call.CauseInternal
	})
	for path, texts := range map[string][]string{
		"/calls":                                           {"Running now", `href="/calls/c1"`, `href="/calls/c2"`, "the other side hung up", "&lt;script&gt;", "!<script>alert", "!foreign", "data-live", `aria-sort="descending"`, `href="?ascending=true"`},
		"/calls?status=failed":                             {`href="/calls/c3"`, "!/calls/c1", "!/calls/c2", "Calls found"},
		"/calls?completed=false":                           {`href="/calls/c2"`, "!/calls/c1"},
		"/calls?inbound=true":                              {`href="/calls/c3"`, "!/calls/c1"},
		"/calls?to_number=14155550199":                     {"No call matches"},
		"/calls?from_number=14155550100":                   {`href="/calls/c1"`, "!/calls/c3"},
		"/calls?start_date=2026-03-02&end_date=2026-03-02": {`href="/calls/c1"`},
		"/calls?start_date=2026-03-03":                     {"No call matches"},
		"/calls?duration_gt=0.5&duration_lt=2":             {`href="/calls/c1"`, "!/calls/c2"},
	} {
		h.want(http.StatusOK, path, texts...)
	}
	h.want(http.StatusOK, "/calls?ascending=true&inbound=false", `aria-sort="ascending"`, `href="?inbound=false"`)
	for path, texts := range map[string][]string{
		"/calls?status=fine":       {"must be one of", `id="fault-status"`, "The search did not run"},
		"/calls?duration_gt=NaN":   {`id="fault-duration_gt"`},
		"/calls?start_date=monday": {`id="fault-start_date"`, `value="monday"`},
		"/calls?inbound=maybe":     {`id="fault-inbound"`},
	} {
		h.want(http.StatusUnprocessableEntity, path, texts...)
	}
	h.want(http.StatusBadRequest, "/calls?after=nothing")
}

// TestListOfADay checks that a date in the filter is a day in the browser's time zone: in Tokyo, a day begins nine hours before the day in
// UTC.
func TestListOfADay(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.call("morning", func(c *call.Call) { c.CreatedAt = time.Date(2026, 3, 2, 14, 59, 59, 0, time.UTC) })
	h.call("evening", func(c *call.Call) { c.CreatedAt = time.Date(2026, 3, 2, 15, 0, 0, 0, time.UTC) })
	day := "/calls?start_date=2026-03-02&end_date=2026-03-02"
	h.want(http.StatusOK, day, "Since (UTC)", "Until (UTC)", "/calls/morning", "/calls/evening")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.URL+day, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.AddCookie(&http.Cookie{Name: "callwright_zone", Value: "Asia/Tokyo"})
	h.check(pagetest.Do(t, h.client, r), http.StatusOK, day, "Since (Asia/Tokyo)", "Until (Asia/Tokyo)", "/calls/morning", "!/calls/evening")
}

func TestListPages(t *testing.T) {
	t.Parallel()
	h := open(t)
	for i := range 60 {
		h.call(fmt.Sprintf("c%02d", i), func(c *call.Call) { c.CreatedAt = created.Add(time.Duration(i) * time.Second) })
	}
	text := h.want(http.StatusOK, "/calls?status=completed", `href="/calls/c59"`, `href="/calls/c10"`, "!/calls/c09")
	_, next, _ := strings.Cut(text, `<a href="?after=`)
	next, _, _ = strings.Cut(next, `"`)
	h.want(http.StatusOK, "/calls?after="+strings.ReplaceAll(next, "&amp;", "&"), `href="/calls/c09"`, `href="/calls/c00"`, "!/calls/c10", `!rel="next"`)
}

// TestListThatGrows adds a call to a full page of a live list. The update must contain the link to the next page together with the new
// rows.
func TestListThatGrows(t *testing.T) {
	t.Parallel()
	h := open(t)
	add := func(i int) {
		h.call(fmt.Sprintf("c%02d", i), func(c *call.Call) { c.CreatedAt = created.Add(time.Duration(i) * time.Second) })
	}
	for i := range 50 {
		add(i)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r := must(http.NewRequestWithContext(ctx, http.MethodGet, h.URL+"/calls", http.NoBody))
	r.Header.Set("Accept", "text/event-stream")
	answer := must(h.client.Do(r)) //nolint:bodyclose // the next line closes it
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	until := func(want string) (passed string) {
		t.Helper()
		for lines.Scan() {
			if passed += lines.Text(); strings.Contains(lines.Text(), want) {
				return passed
			}
		}
		t.Fatalf("%v before %q in\n%s", lines.Err(), want, passed)
		return ""
	}
	if text := until(`href="/calls/c00"`); strings.Contains(text, `rel="next"`) {
		t.Errorf("a list of one page has a pager:\n%s", text)
	}
	add(50)
	until(`href="/calls/c50"`)
	if text := until(`rel="next"`); strings.Contains(text, `href="/calls/c00"`) || !strings.Contains(text, `href="/calls/c01"`) {
		t.Errorf("the pager does not follow c01:\n%s", text)
	}
}

// TestListOfRareCalls checks that a search stops after call.MaxScan calls, and that the link on the page continues the search.
func TestListOfRareCalls(t *testing.T) {
	t.Parallel()
	h := open(t)
	for i := range call.MaxScan + 5 {
		h.call(fmt.Sprint("c", i), func(c *call.Call) {
			if c.CreatedAt = created.Add(time.Duration(i) * time.Second); i == 0 {
				c.Status = call.StatusBusy
			}
		})
	}
	text := h.want(http.StatusOK, "/calls?status=busy", "No call matches among the 4\u202f000 that were looked at", "back to", "!/calls/c0\"", `!rel="next"`)
	_, next, _ := strings.Cut(text, `href="?after=`)
	next, _, _ = strings.Cut(next, `"`)
	h.want(http.StatusOK, "/calls?after="+strings.ReplaceAll(next, "&amp;", "&"), `href="/calls/c0"`, "!Search further")
}

func TestCall(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.call("c1", func(c *call.Call) {
		c.Variables, c.Metadata = map[string]any{"day": "</pre><script>x"}, map[string]any{"ticket": "4711"}
		c.Agent.Webhook, c.RetryOf, c.RetriedBy = "https://example.com/secret-hook", "c0", "c9"
		c.Analysis = call.Analysis{Summary: "They agreed.", Disposition: "booked"}
		c.Delivery = call.Delivery{State: call.DeliveryGivenUp, Attempts: 7, LastFailure: "example.com answered 500"}
		c.ModelCalls = call.ModelCalls{All: 1203, Withdrawn: 2}
		c.Agent.LeastWait, c.Agent.Sources = 800*time.Millisecond, map[agents.Setting]agents.Source{agents.SettingLeastWait: agents.SourceAgent}
		c.Stats = call.Stats{Sent: 12345, Jitter: 1500 * time.Microsecond}
	})
	h.line("c1", call.Entry{Seq: 1, Speaker: call.SpeakerUser, Text: "<script>alert(1)</script>", Start: 62500 * time.Millisecond, End: 64 * time.Second, Interrupted: true})
	h.line("c1", call.Entry{Seq: 2, Speaker: call.SpeakerAssistant, Text: "Monday?", Start: 65 * time.Second, End: 66 * time.Second, Latency: conversation.Latency{
		EndOfTurn: 300 * time.Millisecond, Recognized: 450 * time.Millisecond, Playing: 900 * time.Millisecond,
	}, Holds: []conversation.Hold{{Start: 65500 * time.Millisecond, Length: 720 * time.Millisecond, Why: conversation.HoldBackChannel}}})
	log := pathway.Log{Turn: 1, Heard: "Monday", ModelCalls: 1, Withdrawn: pathway.Withdrawn{Answers: 2, Usage: llm.Usage{Input: 1200, Output: 7}, ModelCalls: 3}, Entries: []pathway.LogEntry{
		{Kind: pathway.LogDecision, Name: "Ask <b>", Chosen: "book", Text: "They named a day.", At: created},
		{Kind: pathway.LogLoop, Node: "a", At: created},
		{Kind: pathway.LogVisit, Node: "a", Name: "Terms <b>", Settings: map[string]float64{"interruptibility": 0}, At: created},
		{Kind: pathway.LogRequest, At: created, Request: &request.Log{Method: "POST", URL: "https://x.example/", Status: 503, Body: []byte(`{"a":"<i>"}`), Duration: time.Second}},
	}}
	if err := h.calls.AppendLog(t.Context(), org, "c1", log); err != nil {
		t.Fatal(err)
	}
	h.want(http.StatusOK, "/calls/c1",
		"<h1>Call to +14155550123</h1>", "the other side hung up", "&lt;script&gt;alert(1)", "!<script>alert", "!<script>x", "1:02.5", "(interrupted)",
		"(held at 1:05.5 for 720 ms: an acknowledgement)",
		`data-start="62500"`, "150 ms", "450 ms", "900 ms", `x="66" y="0" width="34"`, "0 ms, 1 model call; 2 early answers withdrawn before it, 3 model calls, 1\u202f200 tokens in, 7 out", "<dt>Model calls</dt><dd>1\u202f203, of which 2 for withdrawn early answers</dd>", "They named a day.", "<strong>looped</strong> a", ">Total</th>", "<dt>Retry of</dt>", "<dt>Retried by</dt>", "Ask &lt;b&gt;", "→ book", "503", "&lt;i&gt;", "They agreed.", "booked", "given up",
		"example.com answered 500", "!secret-hook", "12\u202f345", "1.5 ms", "4711", "Settings of the conversation: 2 set",
		"<code>min_endpointing_delay</code></small></th><td>800</td><td>the web agent</td>", "<code>interruptibility</code></small></th><td>Never</td><td>the node Terms &lt;b&gt;</td>",
		`<code>idle.times</code></small></th><td>2</td><td><span class="muted">default</span></td>`, "asked for a recording", "!<audio", "!Stop the call", "!data-live")
	h.call("c2", func(c *call.Call) {
		c.Status, c.ErrorMessage, c.Ending = call.StatusFailed, "<b>the line broke</b>", &call.HangupReason{Cause: call.CauseInternal}
	})
	h.want(http.StatusOK, "/calls/c2", "Why it failed", "&lt;b&gt;the line broke", "Nothing was said.")
	h.call("refused", func(c *call.Call) {
		c.Status, c.ErrorMessage = call.StatusFailed, "the call was declined"
		c.Ending = &call.HangupReason{Cause: call.CauseRejected, SIPCode: 603, Reason: "Not today"}
	})
	text := h.want(http.StatusOK, "/calls/refused", "Why it failed", "the call was declined (SIP 603)")
	for _, once := range []string{"the call was declined", "Not today", "<code>refused</code>"} {
		if n := strings.Count(text, once); n != 1 {
			t.Errorf("%q is there %d times", once, n)
		}
	}
	h.call("released", func(c *call.Call) {
		c.Carriage.RedirectedTo = "sip:+14155550177@pbx.example.com"
		c.Ending.SIPCode, c.Ending.Release = 487, `Q.850;cause=17;text="<i>Busy", SIP;cause=600`
	})
	h.want(http.StatusOK, "/calls/released", "487: given up before the answer", "<code>sip:+14155550177@pbx.example.com</code>", "busy, busy everywhere (Q.850;cause=17;text=&#34;&lt;i&gt;Busy&#34;")
	h.call("odd", func(c *call.Call) { c.Ending.SIPCode, c.Ending.Release = 417, `Q.850;cause=9999, X;cause=17` })
	h.want(http.StatusOK, "/calls/odd", "417: refused", "<dd>Q.850;cause=9999, X;cause=17</dd>")
	h.call("unrecorded", func(c *call.Call) { c.ErrorMessage = "the call was not recorded" })
	h.want(http.StatusOK, "/calls/unrecorded", "the call was not recorded", "!Why it failed")
	h.call("c3", running)
	h.want(http.StatusOK, "/calls/c3", "talking", "Stop the call", "data-live", "Nothing has been said yet.")
	h.call("foreign", func(c *call.Call) { c.Org = "other" })
	for _, id := range []string{"foreign", "none", "%00", strings.Repeat("x", 500)} {
		h.want(http.StatusNotFound, "/calls/"+id, "Not found")
		h.want(http.StatusNotFound, "/calls/"+id+"/recording", "Not found")
	}
}

// TestEndings checks how the list and the pages of calls describe the ends of calls.
func TestEndings(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		cause   call.Cause
		stopped bool
		want    []string
	}{
		"by the agent":             {call.CauseLocalHangup, false, []string{"the agent hung up", "!stopped by a user"}},
		"by a user":                {call.CauseLocalHangup, true, []string{"stopped by a user", "!the agent hung up"}},
		"just before a user would": {call.CauseRemoteHangup, true, []string{"the other side hung up", "!stopped by a user"}},
		"in another way":           {"odd", false, []string{"odd"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := open(t)
			h.call("c1", func(c *call.Call) { c.Ending.Cause, c.StopRequested = test.cause, test.stopped })
			h.want(http.StatusOK, "/calls", test.want...)
			h.want(http.StatusOK, "/calls/c1", test.want...)
		})
	}
}

func TestLinePath(t *testing.T) {
	t.Parallel()
	for seq, want := range map[int]string{1: "?lines=1#line-1", 100: "?lines=1#line-100", 101: "?lines=2#line-101"} {
		if got := calls.LinePath("c 1", seq); got != "/calls/c%201"+want {
			t.Errorf("line %d is at %s", seq, got)
		}
	}
}

func TestLongTranscript(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.call("c1", func(*call.Call) {})
	for i := 1; i <= 1001; i++ {
		h.line("c1", call.Entry{Seq: i, Speaker: call.SpeakerUser, Text: fmt.Sprintf("line %d.", i)})
	}
	text := h.want(http.StatusOK, "/calls/c1", "line 1.", "line 100.", "!line 101.", "Page 1 of 11")
	if n := strings.Count(text, `id="line-`); n != 100 {
		t.Errorf("the page has %d lines", n)
	}
	h.want(http.StatusOK, "/calls/c1?lines=11", "line 1001.", "!line 1000.", "Page 11 of 11")
	h.want(http.StatusBadRequest, "/calls/c1?lines=12", "from 1 to 11")
}

func TestRecording(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.call("c1", func(c *call.Call) { c.Recorded, c.Agent.Record = true, true })
	h.call("gone", func(c *call.Call) { c.Recorded, c.Agent.Record = true, true })
	h.call("unanswered", func(c *call.Call) { c.Agent.Record, c.StartedAt = true, nil })
	h.call("unwritten", func(c *call.Call) { c.Agent.Record = true })
	h.call("odd", func(c *call.Call) { c.Recorded, c.Agent.Record = true, true })
	h.record("odd", func(w io.Writer) error { _, err := io.WriteString(w, "RIFF....WAVE"); return err })
	h.record("c1", func(w io.Writer) error {
		return pcm.WriteWAV(w, pcm.Audio{Rate: 8000, Channels: 2, Samples: make([]int16, 2*8000*70)})
	})
	h.line("c1", call.Entry{Seq: 1, Speaker: call.SpeakerUser, Text: "<i>", Start: 1500 * time.Millisecond, End: 2 * time.Second})
	h.want(http.StatusOK, "/calls/c1", `<audio controls preload="none" id="recording" src="/calls/c1/recording">`, "1:10",
		"plays the recording from there, and so does its part of the waveform",
		`href="/calls/c1/recording#t=1.5" data-start="1500"`, `<a data-start="1500" data-end="2000" href="#line-1"`, "&lt;i&gt;", "!<i>")
	h.want(http.StatusOK, "/calls/odd", "<audio", "The waveform cannot be drawn", "plays the recording from there.")
	h.want(http.StatusOK, "/calls/gone", "no longer there", "!<audio")
	h.want(http.StatusOK, "/calls/unanswered", "nobody answered this call", "!<audio")
	h.want(http.StatusOK, "/calls/unwritten", "could not write it", "!<audio")
	h.want(http.StatusNotFound, "/calls/gone/recording")
	h.want(http.StatusOK, "/calls/c1/recording", "RIFF")
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, h.URL+"/calls/c1/recording", http.NoBody)
	r.Header.Set("Range", "bytes=8-11")
	answer := pagetest.Do(t, h.client, r)
	if text := h.check(answer, http.StatusPartialContent, "a range"); text != "WAVE" || answer.Header.Get("Content-Type") != "audio/wav" {
		t.Errorf("the range is %q of %s", text, answer.Header.Get("Content-Type"))
	}
}

func TestAttempts(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.call("c1", func(*call.Call) {})
	h.call("in", func(c *call.Call) { c.Inbound = true })
	end := calllog.End{EndedAt: new(created.Add(time.Second)), SIPCode: 503, Status: "503 <b>Away</b>", Cause: "overload", Technical: true}
	events := map[string][]ladder.Event{"in": {{At: created, Attempt: 1, Note: ladder.NoteConnected}}, "s1": {
		{At: created, Attempt: 1, Note: ladder.NoteConnected, Detail: "TLS 1.3"},
		{At: created, Attempt: 1, Sent: true, Method: "INVITE", CSeq: 7, Peer: "192.0.2.7:5061", Body: "PCMU; sendrecv"},
		{At: created.Add(time.Second), Attempt: 1, Method: "INVITE", Status: 503, Reason: "<b>Away</b>", Retransmit: true},
	}}
	for _, r := range []calllog.Record{
		{ID: "s1", ParentID: "c1", Server: "pbx.example.com:5061", SIPCallID: "<i>@x"}, {ID: "in", Source: "192.0.2.7"}, {ID: "other", ParentID: "c2"},
	} {
		r.Org, r.Number, r.StartedAt, r.Attempt = org, "+14155550100", created, 1
		if err := h.log.Begin(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if err := h.log.Finish(t.Context(), org, r.ID, end, events[r.ID]); err != nil {
			t.Fatal(err)
		}
	}
	h.want(http.StatusOK, "/calls/c1", "Attempt 1: pbx.example.com:5061", "the trunk failed", "503 &lt;b&gt;Away", "!<b>Away", "3 steps", "503 &lt;b&gt;Away&lt;/b&gt; (INVITE) (retransmission)", "&lt;i&gt;@x",
		"PCMU; sendrecv", "TLS 1.3", "7 INVITE", `href="#sip-1-3"`, `id="sip-1-3"`, "!Attempt 2")
	h.want(http.StatusOK, "/calls/in", "Attempt 1", "192.0.2.7", ">1 step<")
}

// record stores the recording of a call.
func (h *house) record(id string, fill func(io.Writer) error) {
	h.t.Helper()
	file, err := h.files.Create(h.t.Context(), org, id)
	if err != nil {
		h.t.Fatal(err)
	}
	if err := errors.Join(fill(file), file.Close()); err != nil {
		h.t.Fatal(err)
	}
}

// TestLargestPage checks that the pages of a call with 10,000 lines have at most 60 kB when compressed.
func TestLargestPage(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.call("c1", func(c *call.Call) { c.Recorded, c.Agent.Record = true, true })
	h.record("c1", func(w io.Writer) error {
		return pcm.WriteWAV(w, pcm.Audio{Rate: 8000, Channels: 2, Samples: make([]int16, 2*8000*10)})
	})
	words := rand.New(rand.NewPCG(1, 2))
	for i := 1; i <= 10_000; i++ {
		e := call.Entry{Seq: i, Speaker: call.SpeakerUser, Start: time.Duration(i) * time.Second, End: time.Duration(i+1) * time.Second}
		if i%2 == 0 {
			e.Speaker, e.Latency = call.SpeakerAssistant, conversation.Latency{
				EndOfTurn: time.Duration(words.IntN(300)) * time.Millisecond, Recognized: 400 * time.Millisecond, FirstStep: 600 * time.Millisecond,
				FirstAudio: 700 * time.Millisecond, Playing: time.Duration(800+words.IntN(900)) * time.Millisecond,
			}
		}
		for range 20 {
			e.Text += strconv.FormatUint(words.Uint64N(100_000), 36) + " "
		}
		h.line("c1", e)
	}
	for _, page := range []struct{ query, first, last, next string }{
		{"", `id="line-1"`, `id="line-100"`, "?lines=2#talk"}, {"?lines=50", `id="line-4901"`, `id="line-5000"`, "?lines=51#talk"},
		{"?lines=100", `id="line-9901"`, `id="line-10000"`, "?lines=99#talk"},
	} {
		text := h.want(http.StatusOK, "/calls/c1"+page.query, page.first, page.last, page.next, "of 100")
		var wire bytes.Buffer
		z := must(gzip.NewWriterLevel(&wire, gzip.BestSpeed))
		_, _ = io.WriteString(z, text)
		_ = z.Close()
		if wire.Len() > 60_000 {
			t.Errorf("%s has %d bytes on the wire, and %d in all", page.query, wire.Len(), len(text))
		}
	}
}
