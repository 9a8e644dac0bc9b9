package testcall_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/sipstore"
	"github.com/callwright/callwright/sip/ladder"
	"github.com/callwright/callwright/sip/testcall"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// phone is a service under test with its fakes.
type phone struct {
	*testcall.Service
	t      *testing.T
	store  *store
	line   *line
	work   *work
	log    *bytes.Buffer
	config testcall.Config
}

// placing returns a service whose line calls place for each call.
func placing(
	t *testing.T, place func(ctx context.Context, p testcall.Placement, observe func(ladder.Event)) (testcall.Leg, error),
) *phone {
	t.Helper()
	p := &phone{
		t: t, store: &store{Store: sipstore.TestCalls{Store: memstore.New()}}, line: &line{place: place},
		work: &work{every: map[string]callwright.Handler{}}, log: new(bytes.Buffer),
	}
	p.config = testcall.Config{
		Store: p.store, Trunks: trunks{}, Line: p.line, Work: p.work, Runtime: callwright.Runtime{Logger: slog.New(slog.NewTextHandler(p.log, nil))},
	}
	p.with(nil)
	return p
}

// with replaces the service with a service that uses another prompt.
func (p *phone) with(prompt testcall.Prompt) {
	p.t.Helper()
	p.config.Prompt = prompt
	var err error
	if p.Service, err = testcall.New(p.config); err != nil {
		p.t.Fatal(err)
	}
}

func (p *phone) start() testcall.Call {
	p.t.Helper()
	c, err := p.Start(p.t.Context(), "a", ours.String())
	if err != nil {
		p.t.Fatal(err)
	}
	return c
}

func (p *phone) get(id string) testcall.Call {
	p.t.Helper()
	c, err := p.Get(p.t.Context(), "a", id)
	if err != nil {
		p.t.Fatal(err)
	}
	return c
}

// run starts a call and returns it after 80 seconds, when every call has ended.
func (p *phone) run() testcall.Call {
	p.t.Helper()
	c := p.start()
	time.Sleep(80 * time.Second)
	synctest.Wait()
	return p.get(c.ID)
}

// steps formats a timeline: the names of the steps with their details, without times.
func steps(c testcall.Call) string {
	names := make([]string, len(c.Timeline))
	for i, e := range c.Timeline {
		names[i] = e.Name
		if e.Detail != "" {
			names[i] += " (" + e.Detail + ")"
		}
	}
	return strings.Join(names, "; ")
}

func note(name, detail string) ladder.Event {
	return ladder.Event{At: time.Now(), Attempt: 1, Note: name, Detail: detail, Transport: "TLS 1.3"}
}

func answer(status int) ladder.Event {
	return ladder.Event{At: time.Now(), Attempt: 1, Method: "INVITE", Status: status, Reason: "Their\r\nWords"}
}

// TestAnsweredCall checks the status and the timeline of a call at each step, from its start until the service has hung up.
func TestAnsweredCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLeg()
		p := placing(t, func(_ context.Context, _ testcall.Placement, observe func(ladder.Event)) (testcall.Leg, error) {
			observe(ladder.Event{At: time.Now(), Note: "resolved", Detail: "203.0.113.7:5061"})
			observe(note("connected", "certificate verified"))
			observe(ladder.Event{At: time.Now(), Sent: true, Method: "INVITE"})
			observe(answer(100))
			time.Sleep(time.Second)
			observe(answer(180))
			observe(answer(180))
			retransmitted := answer(183)
			retransmitted.Retransmit = true
			observe(retransmitted)
			time.Sleep(2 * time.Second)
			observe(answer(200))
			time.AfterFunc(2600*time.Millisecond, func() { observe(note(ladder.NoteEnded, "local_hangup")) })
			return l, nil
		})
		c := p.start()
		if c.Status != testcall.Initiated || c.Result != testcall.Pending || steps(c) != "initiated" ||
			!strings.HasPrefix(c.ID, "tc_") || strings.Contains(c.ID, "-") {
			t.Errorf("at its start it is %+v", c)
		}
		time.Sleep(500 * time.Millisecond)
		way := "initiated; resolved (203.0.113.7:5061); connected (TLS 1.3, certificate verified); trying (SIP 100)"
		if c = p.get(c.ID); c.Status != testcall.Initiated || steps(c) != way || p.store.updates.Load() != 1 {
			t.Errorf("while it is tried it is %s: %s, after %d writes", c.Status, steps(c), p.store.updates.Load())
		}
		time.Sleep(time.Second)
		if c = p.get(c.ID); c.Status != testcall.Ringing || steps(c) != way+"; ringing (SIP 180)" {
			t.Errorf("while it rings it is %s: %s", c.Status, steps(c))
		}
		time.Sleep(2 * time.Second)
		way += "; ringing (SIP 180); answered (PCMU, AES_CM_128_HMAC_SHA1_80, TLS 1.3)"
		if c = p.get(c.ID); c.Status != testcall.InProgress || c.Result != testcall.Pending || steps(c) != way ||
			c.Duration(time.Now()) != 500*time.Millisecond {
			t.Errorf("while the prompt is played it is %s: %s", c.Status, steps(c))
		}
		time.Sleep(10 * time.Second)
		c = p.get(c.ID)
		if c.Status != testcall.Completed || c.Result != testcall.Connected ||
			steps(c) != way+"; prompt played; completed (we have hung up)" {
			t.Errorf("at its end it is %s, %s: %s", c.Status, c.Result, steps(c))
		}
		// The chime lasts 1.6 s, and a second of silence follows.
		if up := c.Duration(time.Now()); up < 2600*time.Millisecond || up > 2700*time.Millisecond || l.hungup != 1 || l.written != 12800 {
			t.Errorf("it was up for %s, %d samples were written, it was hung up %d times", up, l.written, l.hungup)
		}
		if asked := p.line.asked[0]; asked.ID != c.ID || asked.Org != "a" || asked.Number != ours || asked.Ring != 30*time.Second {
			t.Errorf("the line was asked for %+v", asked)
		}
	})
}

func TestCallsThatAreNotAnswered(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err    error
		status testcall.Status
		result testcall.Result
		detail string
		logs   bool
	}{
		"busy":      {&testcall.Failure{Status: testcall.Busy, Code: 486, Reason: "the callee is busy"}, testcall.Busy, testcall.ResultBusy, "SIP 486: the callee is busy", false},
		"no answer": {&testcall.Failure{Status: testcall.NoAnswer, Reason: "nobody answered in 30 s"}, testcall.NoAnswer, testcall.ResultNoAnswer, "nobody answered in 30 s", false},
		"refused":   {&testcall.Failure{Status: testcall.Failed, Code: 503}, testcall.Failed, testcall.ResultFailed, "SIP 503", false},
		"odd":       {&testcall.Failure{Status: "odd", Code: 603, Reason: "a\r\nb\x00\xff"}, testcall.Failed, testcall.ResultFailed, "SIP 603: a  b  ", false},
		"no port":   {callwright.Errorf(callwright.CodeUnavailable, "no port is free"), testcall.Failed, testcall.ResultFailed, "no port is free", false},
		"a bug":     {errors.New("secret address"), testcall.Failed, testcall.ResultFailed, "internal error", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := placing(t, func(_ context.Context, _ testcall.Placement, observe func(ladder.Event)) (testcall.Leg, error) {
					observe(answer(401))
					observe(answer(503))
					return nil, c.err
				})
				got := p.run()
				want := "initiated; challenged (SIP 401); refused (SIP 503); failed (" + c.detail + ")"
				if got.Status != c.status || got.Result != c.result || steps(got) != want || got.EndedAt == nil || got.AnsweredAt != nil {
					t.Errorf("it is %s, %s: %s", got.Status, got.Result, steps(got))
				}
				if logged := p.log.Len() > 0; logged != c.logs {
					t.Errorf("logged: %s", p.log)
				}
			})
		})
	}
}

func TestPeerHangsUpEarly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLeg()
		p := placing(t, func(context.Context, testcall.Placement, func(ladder.Event)) (testcall.Leg, error) {
			time.AfterFunc(time.Second, l.finish)
			return l, nil
		})
		c := p.run()
		if c.Status != testcall.Completed || c.Result != testcall.Connected ||
			!strings.HasSuffix(steps(c), "TLS 1.3); completed (the other side has hung up)") {
			t.Errorf("it is %s: %s", c.Status, steps(c))
		}
		if up := c.Duration(time.Now()); up < time.Second || up > 1100*time.Millisecond {
			t.Errorf("it was up for %s", up)
		}
	})
}

func TestCallIsBounded(t *testing.T) {
	t.Parallel()
	t.Run("before its answer", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			p := placing(t, func(ctx context.Context, _ testcall.Placement, _ func(ladder.Event)) (testcall.Leg, error) {
				<-ctx.Done()
				return nil, &testcall.Failure{Status: testcall.Failed, Reason: "given up"}
			})
			c := p.run()
			if c.Status != testcall.Failed || !strings.Contains(steps(c), "failed (the call took longer than a minute)") ||
				c.EndedAt.Sub(c.StartedAt) != time.Minute {
				t.Errorf("it is %s: %s", c.Status, steps(c))
			}
		})
	})
	t.Run("by a prompt without end", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			l := newLeg()
			p := placing(t, func(context.Context, testcall.Placement, func(ladder.Event)) (testcall.Leg, error) { return l, nil })
			p.with(prompts(func(_ context.Context, rate int) ([]int16, error) { return make([]int16, 300*rate), nil }))
			c := p.run()
			if c.Status != testcall.Completed || c.EndedAt.Sub(c.StartedAt) != time.Minute || l.hungup != 1 {
				t.Errorf("it is %s: %s", c.Status, steps(c))
			}
		})
	})
}

func TestPromptsThatFail(t *testing.T) {
	t.Parallel()
	t.Run("the engine", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			l := newLeg()
			p := placing(t, func(context.Context, testcall.Placement, func(ladder.Event)) (testcall.Leg, error) { return l, nil })
			p.with(prompts(func(context.Context, int) ([]int16, error) { return nil, errors.New("no voice") }))
			if c := p.run(); !strings.Contains(steps(c), "prompt played") || l.written == 0 {
				t.Errorf("there was no chime: %s", steps(c))
			}
		})
	})
	t.Run("the wire", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			l := newLeg()
			l.writeErr = errors.New("no codec")
			p := placing(t, func(context.Context, testcall.Placement, func(ladder.Event)) (testcall.Leg, error) { return l, nil })
			if c := p.run(); !strings.HasSuffix(steps(c), "completed (the prompt could not be played)") || l.hungup != 1 {
				t.Errorf("got %s", steps(c))
			}
		})
	})
	t.Run("with a panic", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			l := newLeg()
			p := placing(t, func(context.Context, testcall.Placement, func(ladder.Event)) (testcall.Leg, error) { return l, nil })
			p.with(prompts(func(context.Context, int) ([]int16, error) { panic("no voice") }))
			if c := p.run(); !strings.HasSuffix(steps(c), "failed (internal error)") || l.hungup != 1 ||
				!strings.Contains(p.log.String(), "no voice") {
				t.Errorf("got %s, logged %s", steps(c), p.log)
			}
		})
	})
}

func TestNumbersWithoutATestCall(t *testing.T) {
	t.Parallel()
	p := placing(t, nil)
	for _, number := range []string{"", "many", inboundOnly.String(), "+15550000003"} {
		_, err := p.Start(t.Context(), "a", number)
		var failure *callwright.Error
		if !errors.As(err, &failure) || failure.Code != callwright.CodeBadRequest || failure.Field != "phone_number" {
			t.Errorf("%q gave %v", number, err)
		}
	}
}

// TestLimit checks that Start refuses the eleventh call until the first call is 15 minutes old. The calls do not count toward the limit of
// another organization.
func TestLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := placing(t, func(context.Context, testcall.Placement, func(ladder.Event)) (testcall.Leg, error) {
			return nil, &testcall.Failure{Status: testcall.Busy, Code: 486}
		})
		for range testcall.MaxCalls {
			p.start()
			time.Sleep(10 * time.Second)
		}
		_, err := p.Start(t.Context(), "a", ours.String())
		if wait, ok := callwright.RetryAfter(err); callwright.CodeOf(err) != callwright.CodeTooManyRequests || !ok ||
			wait != testcall.Window-100*time.Second {
			t.Errorf("the eleventh gave %v, to be tried again after %s", err, wait)
		}
		if _, err := p.Start(t.Context(), "b", ours.String()); err != nil {
			t.Errorf("another organization: %v", err)
		}
		wait, _ := callwright.RetryAfter(err)
		time.Sleep(wait)
		p.start()
		synctest.Wait()
	})
}

// TestTimelineIsBounded uses a line that reports 1000 long events. The timeline must stay within its limits and still contain the end.
func TestTimelineIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := placing(t, func(_ context.Context, _ testcall.Placement, observe func(ladder.Event)) (testcall.Leg, error) {
			for i := range 1000 {
				observe(note("resolved", fmt.Sprint(i, strings.Repeat("ä", 1000))))
			}
			return nil, &testcall.Failure{Status: testcall.Failed}
		})
		c := p.run()
		if len(c.Timeline) != 101 || c.Timeline[100].Name != "failed" || len([]rune(c.Timeline[1].Detail)) != 300 || p.store.updates.Load() > 2 {
			t.Errorf("%d steps in %d writes, the last %+v", len(c.Timeline), p.store.updates.Load(), c.Timeline[len(c.Timeline)-1])
		}
	})
}

func TestForeignCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := placing(t, func(context.Context, testcall.Placement, func(ladder.Event)) (testcall.Leg, error) {
			return nil, &testcall.Failure{Status: testcall.Busy}
		})
		c := p.start()
		synctest.Wait()
		if _, err := p.Get(t.Context(), "b", c.ID); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("got %v", err)
		}
	})
}

func TestNewWantsItsPorts(t *testing.T) {
	t.Parallel()
	if _, err := testcall.New(testcall.Config{}); err == nil {
		t.Error("a service without ports was made")
	}
}

func TestChime(t *testing.T) {
	t.Parallel()
	for _, rate := range []int{8000, 16000, 48000} {
		samples, err := testcall.Chime{}.Prompt(t.Context(), rate)
		if err != nil || len(samples) != rate*16/10 {
			t.Fatalf("at %d Hz: %d samples, %v", rate, len(samples), err)
		}
		var loudest int16
		for _, s := range samples {
			loudest = max(loudest, s)
		}
		if loudest < 8000 || loudest > 10000 || samples[0] != 0 {
			t.Errorf("at %d Hz the chime's peak is %d", rate, loudest)
		}
	}
}
