package sipua_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/sipua"
	"github.com/callwright/callwright/agents/call"
)

// lines collects the text of a log. It is safe for concurrent use.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// with returns the log lines that contain a text.
func (l *lines) with(text string) (found []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.text.String()) {
		if strings.Contains(line, text) {
			found = append(found, line)
		}
	}
	return found
}

// TestCallIDsInLog checks that both sides log the end of a call with the call's id in the API.
func TestCallIDsInLog(t *testing.T) {
	t.Parallel()
	placed, taken := new(lines), new(lines)
	logTo := func(l *lines) func(*sipua.Config) {
		return func(c *sipua.Config) { c.Logger = slog.New(slog.NewTextHandler(l, nil)) }
	}
	caller, callee := newAgent(t, logTo(placed)), newAgent(t, logTo(taken))
	caller.callsTo(t, callee.Addr().String())
	ids := make(chan string, 1)
	ctx := within(t)
	go func() {
		p, err := callee.Accept(ctx)
		if err != nil {
			t.Errorf("accept: %v", err)
			close(ids)
			return
		}
		ids <- p.Caller().ID
		if err := p.Reject(call.CauseBusy); err != nil {
			t.Errorf("reject: %v", err)
		}
	}()
	_, err := caller.Dial(ctx, call.DialRequest{CallID: "call-1", Org: org, From: alice, To: bob}, nil)
	if e := endingOf(t, err); e.Cause != call.CauseBusy {
		t.Errorf("%+v", e)
	}
	if found := placed.with("call ended"); len(found) != 1 || !strings.Contains(found[0], " call_id=call-1 ") {
		t.Errorf("of the call that was placed there is %q", found)
	}
	id := <-ids
	if callee.Close(ctx) != nil { // waits until the end of the call is logged
		t.Error("close")
	}
	if found := taken.with("call ended"); len(found) != 1 || id == "" || !strings.Contains(found[0], " call_id="+id+" ") {
		t.Errorf("of the call that was taken there is %q, want the id %s", found, id)
	}
}

// TestRefusedCallsInLog checks that a source's refused calls are logged once, with the reason that the response does not contain.
func TestRefusedCallsInLog(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		err            error
		status         int
		target, reason string
	}{
		"unattached": {callwright.NotFound("number"), 403, "", `reason="the number has no inbound trunk"`},
		"forbidden":  {callwright.ErrForbidden, 403, "", `reason="the trunk does not admit the source address"`},
		"no number":  {nil, 403, "sip:%0a@x.test", `to=%0a source=127.0.0.1 status=403 reason="the request names no phone number"`},
		"no Contact of ours": {
			nil, 403, "sip:" + bob.String() + "-" + strings.Repeat("q", 33) + "@x.test",
			"to=" + bob.String() + `-… source=127.0.0.1 status=403 reason="the request names no phone number"`,
		},
		"database": {callwright.ErrUnavailable, 503, "", `reason="the number cannot be looked up"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := new(lines)
			a := newAgent(t, func(c *sipua.Config) { c.Logger = slog.New(slog.NewTextHandler(log, nil)) })
			a.routes.inbound = tt.err
			c := newCaller(t, a)
			want := "to=" + bob.String() + " source=127.0.0.1 status="
			if tt.target != "" {
				c.target, c.uri, want = tt.target, tt.target, "to="
			}
			for range 5 {
				c.callID += "x"
				c.ask("INVITE", offerSDP("RTP/SAVP"))
				c.response(tt.status)
			}
			found := log.with("inbound call refused")
			if len(found) != 1 || !strings.Contains(found[0], tt.reason+" refused=1\n") || !strings.Contains(found[0], want) ||
				!strings.Contains(found[0], "level=INFO") {
				t.Errorf("%q", found)
			}
		})
	}
}
