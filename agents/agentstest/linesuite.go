package agentstest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
)

// FarLine is the telephone network at the other end of a line under test.
type FarLine interface {
	// Behave sets the far end's behavior toward later calls of the line.
	Behave(b FarBehavior)
	// Answered waits for the next answered call of the line, and returns its far end.
	Answered(ctx context.Context) (FarLeg, error)
	// Ringing returns the number of calls of the line that are ringing.
	Ringing() int
	// Call calls the line with SIP headers, and waits for the answer. It returns a *call.HangupReason if the call is not answered. The
	// caller gives up when ctx ends.
	Call(ctx context.Context, headers map[string]string) (FarLeg, error)
}

// FarBehavior selects the far end's response to a call of the line.
type FarBehavior int

// The far end's responses to a call of the line. With FarAnswers, it answers.
const (
	FarAnswers FarBehavior = iota
	FarIsBusy              // refuses the call with 486
	FarRings               // reports ringing to the line, until the line gives up
)

// LineHarness contains a line under test and its far end.
type LineHarness struct {
	Line call.Line
	Far  FarLine
	Dial call.DialRequest // a request that reaches Far
	// Close closes Line.
	Close func()
}

// RunLine tests a call.Line and its call.IncomingCall. newHarness returns a new line for each check.
func RunLine(t *testing.T, newHarness func(t *testing.T) LineHarness) {
	t.Helper()
	for name, check := range map[string]func(*testing.T, LineHarness){
		"dial": lineDials, "busy": lineDialsBusy, "no answer": lineDialsNoAnswer, "dial gives up": lineGivesUp,
		"accept": lineAccepts, "reject": lineRejects, "caller gives up": lineCallerGivesUp, "accept ends": lineAcceptEnds,
		"many calls": lineManyCalls,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t)
			h.Far.Behave(FarAnswers)
			check(t, h)
		})
	}
}

// lineDials checks that Dial returns the leg of an answered call, and that it reports ringing at most once.
func lineDials(t *testing.T, h LineHarness) {
	var mu sync.Mutex
	var told []call.Progress
	leg, err := h.Line.Dial(patient(t), h.Dial, func(p call.Progress) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, p)
	})
	if err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	for i, p := range told {
		if p != call.ProgressRinging && p != call.ProgressEarlyMedia || slices.Contains(told[:i], p) {
			t.Errorf("the progress is %v", told)
		}
	}
	mu.Unlock()
	far, err := h.Far.Answered(patient(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := leg.Hangup(patient(t)); err != nil {
		t.Error(err)
	}
	closes(t, "the far end ends", far.Done())
	leg, err = h.Line.Dial(patient(t), h.Dial, nil)
	if err != nil {
		t.Fatalf("without progress: %v", err)
	}
	if err := leg.Hangup(patient(t)); err != nil {
		t.Error(err)
	}
}

// fails checks that err is a *call.HangupReason with the given cause, and returns the reason.
func fails(t *testing.T, leg any, err error, cause call.Cause) call.HangupReason {
	t.Helper()
	ending, ok := errors.AsType[*call.HangupReason](err)
	if !ok || ending.Cause != cause {
		t.Fatalf("there is %v, %v; want the cause %s", leg, err, cause)
	}
	return *ending
}

func lineDialsBusy(t *testing.T, h LineHarness) {
	h.Far.Behave(FarIsBusy)
	leg, err := h.Line.Dial(patient(t), h.Dial, nil)
	if e := fails(t, leg, err, call.CauseBusy); e.SIPCode != 486 || !e.ByPeer {
		t.Errorf("the ending is %+v", e)
	}
}

// lineDialsNoAnswer checks that an unanswered call rings for the ringing time of its request.
func lineDialsNoAnswer(t *testing.T, h LineHarness) {
	h.Far.Behave(FarRings)
	h.Dial.Ring = 500 * time.Millisecond
	began := time.Now()
	leg, err := h.Line.Dial(patient(t), h.Dial, nil)
	if e := fails(t, leg, err, call.CauseNoAnswer); e.SIPCode != terminated {
		t.Errorf("the ending is %+v", e)
	}
	if took := time.Since(began); took < h.Dial.Ring {
		t.Errorf("it rang for %s", took)
	}
	eventually(t, "it stops ringing", func() bool { return h.Far.Ringing() == 0 })
}

// lineGivesUp checks that Dial returns when ctx ends, and that the call stops ringing at the far end.
func lineGivesUp(t *testing.T, h LineHarness) {
	h.Far.Behave(FarRings)
	ctx, cancel := context.WithCancel(patient(t))
	defer cancel()
	leg, err := h.Line.Dial(ctx, h.Dial, func(call.Progress) { cancel() })
	if e := fails(t, leg, err, call.CauseCancelled); e.SIPCode != terminated {
		t.Errorf("the ending is %+v", e)
	}
	eventually(t, "it stops ringing", func() bool { return h.Far.Ringing() == 0 })
	h.Far.Behave(FarAnswers)
	leg, err = h.Line.Dial(ctx, h.Dial, nil)
	fails(t, leg, err, call.CauseCancelled)
}

// lineAccepts checks that an incoming call carries the caller's data, and that Answer returns a leg.
func lineAccepts(t *testing.T, h LineHarness) {
	headers := map[string]string{"X-Tenant": "seven", "User-to-User": "abc;encoding=hex"}
	far := make(chan FarLeg, 1)
	ctx := patient(t)
	go func() {
		leg, err := h.Far.Call(ctx, headers)
		if err != nil {
			t.Errorf("the far end calls: %v", err)
		}
		far <- leg
	}()
	in, err := h.Line.Accept(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if info := in.Caller(); info.From == "" || info.To == "" || info.Source == "" || !maps.Equal(info.Headers, headers) {
		t.Errorf("the caller is %+v", info)
	}
	leg, err := in.Answer(ctx)
	if err != nil {
		t.Fatal(err)
	}
	n := follow(t, leg)
	caller := <-far
	caller.Play(beep(leg.Rate(), 300*time.Millisecond))
	eventually(t, "the leg hears the caller", func() bool { return n.heard() >= 200*time.Millisecond })
	caller.Hangup()
	closes(t, "the leg ends", leg.Done())
}

// lineRejects checks that Reject sends the SIP code of its cause to the caller, and returns an error for a cause without a code.
func lineRejects(t *testing.T, h LineHarness) {
	for cause, code := range map[call.Cause]int{
		call.CauseBusy: 486, call.CauseRejected: 603, call.CauseUnavailable: 480, call.CauseOverload: 503, call.CauseInternal: 503,
	} {
		ctx := patient(t)
		failed := make(chan error, 1)
		go func() {
			_, err := h.Far.Call(ctx, nil)
			failed <- err
		}()
		in, err := h.Line.Accept(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := in.Reject(call.CauseLocalHangup); !errors.Is(err, callwright.ErrBadRequest) {
			t.Errorf("rejecting with another cause: %v", err)
		}
		if err := in.Reject(cause); err != nil {
			t.Errorf("%s: %v", cause, err)
		}
		if e, ok := errors.AsType[*call.HangupReason](<-failed); !ok || e.SIPCode != code {
			t.Errorf("%s: the caller gets %+v", cause, e)
		}
		if leg, err := in.Answer(ctx); err == nil {
			t.Errorf("%s: the call is answered all the same: %v", cause, leg)
		}
	}
}

// lineCallerGivesUp checks a call that is answered after its caller has given up: Answer fails, or the leg ends soon.
func lineCallerGivesUp(t *testing.T, h LineHarness) {
	ctx, giveUp := context.WithCancel(patient(t))
	defer giveUp()
	ended := make(chan error, 1)
	go func() {
		_, err := h.Far.Call(ctx, nil)
		ended <- err
	}()
	in, err := h.Line.Accept(patient(t))
	if err != nil {
		t.Fatal(err)
	}
	giveUp()
	fails(t, nil, <-ended, call.CauseCancelled)
	leg, err := in.Answer(patient(t))
	if err != nil {
		fails(t, leg, err, call.CauseCancelled)
		return
	}
	closes(t, "the leg ends whose caller gave up while it was answered", leg.Done())
}

// lineAcceptEnds checks that Accept returns an error if its ctx has ended, and when the line is closed.
func lineAcceptEnds(t *testing.T, h LineHarness) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if in, err := h.Line.Accept(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("with a ctx that has ended, Accept returns %v, %v", in, err)
	}
	waiting := make(chan error, 1)
	ctx := patient(t)
	go func() {
		_, err := h.Line.Accept(ctx)
		waiting <- err
	}()
	h.Close()
	if err := <-waiting; !errors.Is(err, callwright.ErrUnavailable) {
		t.Errorf("an Accept that waits returns %v when the line closes", err)
	}
	if _, err := h.Line.Accept(ctx); !errors.Is(err, callwright.ErrUnavailable) {
		t.Errorf("Accept returns %v once the line is closed", err)
	}
}

// lineManyCalls checks that the line does not mix up concurrent calls in both directions.
func lineManyCalls(t *testing.T, h LineHarness) {
	const calls = 10
	ctx := patient(t)
	var all sync.WaitGroup
	var mu sync.Mutex
	ids, sipIDs := map[string]int{}, map[string]int{}
	count := func(leg call.Leg, id string) {
		mu.Lock()
		defer mu.Unlock()
		if id != "" {
			ids[id]++
		}
		sipIDs[leg.Info().SIPCallID]++
	}
	for range calls {
		all.Go(func() {
			leg, err := h.Line.Dial(ctx, h.Dial, nil)
			if err != nil {
				t.Errorf("dial: %v", err)
				return
			}
			count(leg, "")
			if err := leg.Hangup(ctx); err != nil {
				t.Error(err)
			}
		})
		all.Go(func() {
			in, err := h.Line.Accept(ctx)
			if err != nil {
				t.Errorf("accept: %v", err)
				return
			}
			leg, err := in.Answer(ctx)
			if err != nil {
				t.Errorf("answer: %v", err)
				return
			}
			count(leg, in.Caller().ID)
			<-leg.Done()
		})
		all.Go(func() {
			far, err := h.Far.Call(ctx, nil)
			if err != nil {
				t.Errorf("the far end calls: %v", err)
				return
			}
			far.Hangup()
		})
	}
	all.Wait()
	if len(sipIDs) != 2*calls || len(ids) != calls && len(ids) != 0 {
		t.Errorf("%d calls have %d Call-IDs, and %d incoming ones %d ids", 2*calls, len(sipIDs), calls, len(ids))
	}
}
