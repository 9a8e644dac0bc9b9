package proof_test

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/ladder"
	"github.com/callwright/callwright/sip/proof"
	"github.com/callwright/callwright/sip/testcall"
)

// line is a testcall.Line on which every call is answered, unless err is set.
type line struct {
	asked testcall.Placement
	leg   *leg
	err   error
}

func (l *line) Place(_ context.Context, p testcall.Placement, _ func(ladder.Event)) (testcall.Leg, error) {
	l.asked = p
	if l.err != nil {
		return nil, l.err
	}
	return l.leg, nil
}

const rate = 8000

// leg is a testcall.Leg that plays audio in real time.
type leg struct {
	testcall.Leg
	mu     sync.Mutex
	until  time.Time // time at which all queued audio is played
	loud   int       // number of samples that are not silent
	over   chan struct{}
	hungup bool
}

func (*leg) Rate() int { return rate }

func (l *leg) Write(ctx context.Context, samples []int16) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); l.until.Before(now) {
		l.until = now
	}
	l.until = l.until.Add(time.Duration(len(samples)) * time.Second / rate)
	for _, s := range samples {
		if s != 0 {
			l.loud++
		}
	}
	return ctx.Err()
}

func (l *leg) Queued() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(0, int(time.Until(l.until).Seconds()*rate))
}

func (l *leg) Read(ctx context.Context) ([]int16, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.over:
		return nil, io.EOF
	}
}

func (l *leg) Hangup(context.Context) error {
	l.hungup = true
	return nil
}

// speaker is a Speaker whose speech of any text is one second long.
type speaker struct{ err error }

func (s speaker) Speak(_ context.Context, _ string, rate int) ([]int16, error) {
	speech := make([]int16, rate)
	for i := range speech {
		speech[i] = 1000
	}
	return speech, s.err
}

var announcement = proof.Announcement{ID: "np_1", Org: "a", From: from, To: asked, Parts: []string{"The code is", "one", "one"}}

func TestAnnounce(t *testing.T) {
	t.Parallel()
	missing := callwright.Errorf(callwright.CodeUnavailable, "no engine")
	for name, c := range map[string]struct {
		line     line
		speaker  speaker
		hangsUp  time.Duration // time until the callee hangs up; 0 means never
		patience time.Duration // time until the caller's context ends
		takes    time.Duration
		loud     int
		message  string // message of the error; empty if none
	}{
		"is heard":          {patience: time.Minute, takes: 4500 * time.Millisecond, loud: 3 * rate},
		"callee hangs up":   {hangsUp: time.Second, patience: time.Minute, takes: time.Second, loud: 3 * rate},
		"busy":              {line: line{err: &testcall.Failure{Status: testcall.Busy, Reason: "the callee is busy"}}, patience: time.Minute, message: "the callee is busy"},
		"no voice":          {speaker: speaker{missing}, patience: time.Minute, message: "no engine"},
		"the server stops":  {patience: 2 * time.Second, takes: 2 * time.Second, loud: 3 * rate, message: "internal error"},
		"not placed at all": {line: line{err: errors.New("broken")}, patience: time.Minute, message: "internal error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := &leg{over: make(chan struct{})}
				c.line.leg = l
				if c.hangsUp > 0 {
					time.AfterFunc(c.hangsUp, func() { close(l.over) })
				}
				ctx, cancel := context.WithTimeout(t.Context(), c.patience)
				defer cancel()
				begun := time.Now()
				err := proof.Voice{Line: &c.line, Speaker: c.speaker}.Announce(ctx, announcement)
				if message := callwright.MessageOf(err); (err != nil) != (c.message != "") || err != nil && message != c.message {
					t.Errorf("got %v", err)
				}
				if took := time.Since(begun); took < c.takes || took > c.takes+100*time.Millisecond || l.loud != c.loud {
					t.Errorf("it took %v, with %d samples; want %v and %d", took, l.loud, c.takes, c.loud)
				}
				if p := c.line.asked; p.ID != "np_1" || p.Org != "a" || p.Number != from || p.To != asked {
					t.Errorf("placed %+v", p)
				}
				if l.hungup != (c.line.err == nil) {
					t.Errorf("hung up: %t", l.hungup)
				}
			})
		})
	}
}
