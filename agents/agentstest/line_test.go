package agentstest_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestVoice(t *testing.T) {
	t.Parallel()
	for _, rate := range []int{8000, 16000, 48000} {
		for _, text := range []string{"", "a", "Hello, is it Monday?", "äöü ß 日本"} {
			sound := agentstest.Voice(text, rate)
			if want := len([]rune(text)) * rate * 60 / 1000; len(sound) != want {
				t.Errorf("%q takes %d samples, want %d", text, len(sound), want)
			}
			if got := agentstest.TextOf(slices.Concat(make([]int16, 37), sound)); got != text {
				t.Errorf("%q reads back as %q", text, got)
			}
			half := sound[:len(sound)/2]
			if got := agentstest.TextOf(half); !strings.HasPrefix(text, got) {
				t.Errorf("half of %q reads back as %q", text, got)
			}
		}
	}
}

// read reads frames until a frame's Elapsed reaches the given time, and returns the audio and the digits of all these frames.
func read(t *testing.T, l call.Leg, until time.Duration) (said []int16, digits string) {
	t.Helper()
	for {
		f, err := l.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(f.In) != l.Rate()/50 {
			t.Fatalf("a frame has %d samples", len(f.In))
		}
		said = append(said, f.In...)
		if f.Digit != 0 {
			digits += string(f.Digit)
		}
		if f.Elapsed >= until {
			return said, digits
		}
	}
}

func TestPhone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		phone := agentstest.NewPhone(agentstest.PhoneConfig{})
		leg := phone.Leg()
		began := time.Now()
		phone.Say("hello")
		phone.Press("1#")
		said, digits := read(t, leg, 400*time.Millisecond)
		if agentstest.TextOf(said) != "hello" || digits != "1#" || time.Since(began) != 420*time.Millisecond {
			t.Errorf("heard %q %q in %s", agentstest.TextOf(said), digits, time.Since(began))
		}
		phone.Hold(true)
		phone.Say("on hold")
		f, err := leg.Read(t.Context())
		if err != nil || !f.OnHold || agentstest.TextOf(f.In) != "" {
			t.Errorf("on hold the frame is %+v, %v", f, err)
		}
		phone.Hold(false)
		if said, _ := read(t, leg, time.Second); agentstest.TextOf(said) != "on hold" {
			t.Errorf("then heard %q", agentstest.TextOf(said))
		}
	})
}

// TestPlayout checks that Write waits while more than 200 ms are queued, that Flush discards exactly the queued audio, and that DTMF
// follows the queued audio.
func TestPlayout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		phone := agentstest.NewPhone(agentstest.PhoneConfig{})
		leg := phone.Leg()
		wrote := make(chan error, 1)
		go func() { wrote <- leg.Write(t.Context(), agentstest.Voice("0123456789", 8000)) }()
		synctest.Wait()
		if n := leg.Queued(); n != 1601 {
			t.Errorf("%d samples are queued", n)
		}
		read(t, leg, 480*time.Millisecond)
		if err := <-wrote; err != nil || leg.Queued() != 800 {
			t.Errorf("%v, %d samples are queued", err, leg.Queued())
		}
		if n := leg.Flush(); n != 800 || leg.Queued() != 0 || leg.Flush() != 0 {
			t.Errorf("%d samples were flushed", n)
		}
		f, err := leg.Read(t.Context())
		if err != nil || f.Out != nil || phone.Heard() != "01234567"+"8" {
			t.Errorf("after the flush %v was played, %v; heard %q", f.Out, err, phone.Heard())
		}
		if err := leg.Write(t.Context(), agentstest.Voice("ab", 8000)); err != nil {
			t.Error(err)
		}
		sent := make(chan error, 1)
		go func() { sent <- leg.SendDTMF(t.Context(), "12") }()
		synctest.Wait()
		if phone.Pressed() != "" {
			t.Error("the digits overtake the speech")
		}
		read(t, leg, phone.Elapsed()+200*time.Millisecond)
		if err := <-sent; err != nil || phone.Pressed() != "12" {
			t.Errorf("pressed %q, %v", phone.Pressed(), err)
		}
	})
}

func TestEndings(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused")
	for name, c := range map[string]struct {
		end   func(p *agentstest.Phone, l call.Leg) error
		cause call.Cause
		peer  bool
	}{
		"hangup":   {func(p *agentstest.Phone, _ call.Leg) error { p.Hangup(); return nil }, call.CauseRemoteHangup, true},
		"ours":     {func(_ *agentstest.Phone, l call.Leg) error { return l.Hangup(context.Background()) }, call.CauseLocalHangup, false},
		"vanish":   {func(p *agentstest.Phone, _ call.Leg) error { p.Vanish(); return nil }, call.CauseMediaTimeout, false},
		"transfer": {func(_ *agentstest.Phone, l call.Leg) error { return l.Transfer(context.Background(), "+15550100") }, call.CauseTransferred, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			phone := agentstest.NewPhone(agentstest.PhoneConfig{Pace: time.Microsecond, Transfer: func(to string) error {
				if to != "+15550100" {
					return refused
				}
				return nil
			}})
			leg := phone.Leg()
			if err := leg.Transfer(t.Context(), "nobody"); !errors.Is(err, refused) {
				t.Errorf("a refused transfer is %v", err)
			}
			if err := c.end(phone, leg); err != nil {
				t.Fatal(err)
			}
			<-leg.Done()
			phone.Hangup()
			if e := leg.Ending(); e.Cause != c.cause || e.ByPeer != c.peer {
				t.Errorf("the ending is %+v", e)
			}
			if _, err := leg.Read(t.Context()); !errors.Is(err, io.EOF) {
				t.Errorf("Read gives %v", err)
			}
			if err := phone.WaitHeard(t.Context(), "anything"); err == nil {
				t.Error("the phone goes on to wait")
			}
		})
	}
}

func TestDial(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		callee agentstest.Callee
		ring   time.Duration
		giveUp time.Duration
		cause  call.Cause // empty means answered
		rang   bool
	}{
		"answers":   {nil, time.Minute, time.Hour, "", true},
		"busy":      {agentstest.Refuse(call.CauseBusy, 486), time.Minute, time.Hour, call.CauseBusy, true},
		"no answer": {agentstest.NoAnswer, time.Minute, time.Hour, call.CauseNoAnswer, true},
		"given up":  {agentstest.NoAnswer, time.Minute, time.Second, call.CauseCancelled, true},
		"unreachable": {func(context.Context, call.DialRequest, func()) (*agentstest.Phone, error) {
			return nil, &call.HangupReason{Cause: call.CauseUnreachable}
		}, 0, time.Hour, call.CauseUnreachable, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				line := agentstest.NewLine(agentstest.PhoneConfig{})
				if c.callee != nil {
					line.Script(c.callee)
				}
				ctx, cancel := context.WithTimeout(t.Context(), c.giveUp)
				defer cancel()
				rang := 0
				leg, err := line.Dial(ctx, call.DialRequest{To: "+15550100", Ring: c.ring}, func(call.Progress) { rang++ })
				if (rang == 1) != c.rang || len(line.Dials()) != 1 || line.Dials()[0].To != "+15550100" {
					t.Errorf("it rang %d times, dials %+v", rang, line.Dials())
				}
				if c.cause == "" {
					if phone, waitErr := line.Answered(ctx); err != nil || waitErr != nil || leg == nil || phone.Elapsed() != 0 {
						t.Errorf("answered %v, %v", err, waitErr)
					}
					return
				}
				if e, ok := errors.AsType[*call.HangupReason](err); !ok || e.Cause != c.cause || leg != nil {
					t.Errorf("the dial gives %v, %v", leg, err)
				}
			})
		})
	}
}

func TestAccept(t *testing.T) {
	t.Parallel()
	line := agentstest.NewLine(agentstest.PhoneConfig{})
	for name, c := range map[string]struct {
		take  func(in *agentstest.Incoming, p call.IncomingCall) error
		cause call.Cause // empty means that the call is answered
	}{
		"answered": {func(_ *agentstest.Incoming, p call.IncomingCall) error { _, err := p.Answer(t.Context()); return err }, ""},
		"rejected": {func(_ *agentstest.Incoming, p call.IncomingCall) error { return p.Reject(call.CauseBusy) }, call.CauseBusy},
		"given up": {func(in *agentstest.Incoming, p call.IncomingCall) error {
			in.GiveUp()
			if _, err := p.Answer(t.Context()); err == nil {
				return errors.New("it was answered all the same")
			}
			return nil
		}, call.CauseCancelled},
	} {
		in := line.Call(call.CallerInfo{From: "+15550123", To: "+15550100"}, agentstest.PhoneConfig{})
		pending, err := line.Accept(t.Context())
		if err != nil || pending.Caller().From != "+15550123" {
			t.Fatalf("%s: %+v, %v", name, pending, err)
		}
		if err := c.take(in, pending); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		phone, err := in.Phone(t.Context())
		ending, refused := errors.AsType[*call.HangupReason](err)
		if refused != (c.cause != "") || (refused && ending.Cause != c.cause) || (phone == nil) != refused {
			t.Errorf("%s: the phone gets %v, %v", name, phone, err)
		}
	}
	line.Close()
	line.Close()
	if _, err := line.Accept(t.Context()); !errors.Is(err, callwright.ErrUnavailable) {
		t.Errorf("a closed line gives %v", err)
	}
}
