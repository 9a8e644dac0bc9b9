package call_test

import (
	"cmp"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
)

func TestStop(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		c := h.create(agents.Agent{FirstSentence: "hello"})
		phone := h.answered()
		h.hears(phone, "hello")
		if err := h.Stop(t.Context(), "b", c.ID); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("a foreign organization's stop gave %v", err)
		}
		if err := h.Stop(t.Context(), "a", c.ID); err != nil {
			t.Fatal(err)
		}
		<-phone.Done()
		got, _ := h.ended(c.ID)
		if got.Queue != call.QueueComplete || got.Status != call.StatusCompleted || got.Ending.ByPeer {
			t.Errorf("record %+v", got)
		}
		if err := h.Stop(t.Context(), "a", c.ID); !errors.Is(err, callwright.ErrInvalidState) {
			t.Errorf("stopping it again gave %v", err)
		}
	})
}

func TestStopWhileItRings(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		h.line.Script(agentstest.NoAnswer)
		c := h.create(agents.Agent{})
		synctest.Wait()
		if err := h.Stop(t.Context(), "a", c.ID); err != nil {
			t.Fatal(err)
		}
		if got, _ := h.ended(c.ID); got.Status != call.StatusCanceled || got.Queue != call.QueueComplete || got.Ending.SIPCode != 487 {
			t.Errorf("record %+v", got)
		}
	})
}

// TestStopOnAnotherNode checks that a request to stop, which another node has only stored, ends the call at the next heartbeat.
func TestStopOnAnotherNode(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		c := h.create(agents.Agent{FirstSentence: "hello"})
		phone := h.answered()
		if err := h.calls.RequestStop(t.Context(), "a", c.ID); err != nil {
			t.Fatal(err)
		}
		<-phone.Done()
		if got, _ := h.ended(c.ID); got.Status != call.StatusCompleted {
			t.Errorf("record %+v", got)
		}
	})
}

func TestLongestDuration(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		c := h.create(agents.Agent{FirstSentence: "hello", MaxDuration: time.Second})
		h.answered()
		got, _ := h.ended(c.ID)
		if got.Ending.Cause != call.CauseMaxDuration || got.Status != call.StatusCompleted {
			t.Errorf("record %+v", got)
		}
	})
}

func TestTransfer(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err   error
		to    string
		cause call.Cause
		line  string
	}{
		"succeeds": {
			nil, "+15550000007", call.CauseTransferred, "agent-action: transferred the call to +15550000007",
		},
		"fails": {
			errors.New("603"), "", call.CauseLocalHangup, "assistant: you said bye.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var asked string
				h := newHouse(t, 0, agentstest.PhoneConfig{Transfer: func(to string) error {
					asked = to
					return test.err
				}})
				defer h.stop()
				c := h.create(agents.Agent{FirstSentence: "hello", TransferTo: "+15550000007"})
				phone := h.answered()
				h.hears(phone, "hello")
				h.says(phone, "operator")
				if test.err != nil {
					h.hears(phone, "nobody could be reached")
					h.says(phone, "bye")
				}
				got, lines := h.ended(c.ID)
				if asked != "+15550000007" || got.Status != call.StatusCompleted || got.TransferredTo != test.to ||
					(got.TransferredAt != nil) != (test.to != "") || (got.TransferredBy == call.TransferredByAgent) != (test.to != "") ||
					got.Ending.Cause != test.cause {
					t.Errorf("asked for %q, record %+v", asked, got)
				}
				if said := spoken(lines); said[len(said)-1] != test.line {
					t.Errorf("transcript %q", said)
				}
			})
		})
	}
}

// TestTransferByTheOtherSide checks that the conversation continues when the other side transfers the agent, and that the record names the
// new number. The line may end the call before the record contains the transfer.
func TestTransferByTheOtherSide(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		c := h.create(agents.Agent{FirstSentence: "hello"})
		phone := h.answered()
		h.hears(phone, "hello")
		phone.Refer("+15550000007", &call.HangupReason{Cause: call.CauseBusy, SIPCode: 486})
		h.says(phone, "one")
		h.hears(phone, "you said one")
		phone.Refer("+15550000008", nil)
		h.says(phone, "bye")
		got, lines := h.ended(c.ID)
		if got.Status != call.StatusCompleted || got.Ending.Cause != call.CauseLocalHangup || got.TransferredTo != "+15550000008" ||
			got.TransferredBy != call.TransferredByPeer || got.TransferredAt == nil || got.TransferredAt.Before(*got.StartedAt) {
			t.Errorf("record %+v", got)
		}
		said := strings.Join(spoken(lines), "\n")
		for _, want := range []string{
			"agent-action: the other side tried to transfer the call to +15550000007, which failed: busy",
			"agent-action: was transferred to +15550000008 by the other side", "assistant: you said bye.",
		} {
			if !strings.Contains(said, want) {
				t.Errorf("%q is missing in\n%s", want, said)
			}
		}
	})
}

// TestTransferBeforeTheFirstSentence checks that an immediate transfer precedes the first sentence in the transcript, because only the new
// number hears that sentence.
func TestTransferBeforeTheFirstSentence(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		c := h.create(agents.Agent{FirstSentence: "hello"})
		phone := h.answered()
		phone.Refer("+15550000008", nil)
		h.hears(phone, "hello")
		h.says(phone, "bye")
		_, lines := h.ended(c.ID)
		byTime := func(a, b call.Entry) int { return cmp.Compare(a.Start, b.Start) }
		if len(lines) != 4 || lines[0].Speaker != call.SpeakerAction || !slices.IsSortedFunc(lines, byTime) {
			t.Errorf("transcript %+v", lines)
		}
	})
}

// TestTransferBothWays checks that an agent that was transferred can transfer the call in turn, and that the record contains the last
// transfer.
func TestTransferBothWays(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		c := h.create(agents.Agent{FirstSentence: "hello", TransferTo: "+15550000007"})
		phone := h.answered()
		h.hears(phone, "hello")
		phone.Refer("+15550000008", nil)
		h.says(phone, "operator")
		got, _ := h.ended(c.ID)
		if got.TransferredTo != "+15550000007" || got.TransferredBy != call.TransferredByAgent || got.Ending.Cause != call.CauseTransferred {
			t.Errorf("record %+v", got)
		}
	})
}

func TestFailureEndsOneCall(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		other := h.create(agents.Agent{FirstSentence: "other"})
		otherPhone := h.answered()
		c := h.create(agents.Agent{FirstSentence: "hello"})
		phone := h.answered()
		h.hears(phone, "hello")
		h.says(phone, "fail")
		got, _ := h.ended(c.ID)
		const refused = "the language model refuses the key or the request"
		if got.Status != call.StatusFailed || got.Queue != call.QueueCompleteError || got.ErrorMessage != refused || got.Ending.Cause != call.CauseModelRefused {
			t.Errorf("record %+v", got)
		}
		if f := got.Failure(); f.Reason != refused || !strings.Contains(f.Detail, refused) || !strings.HasPrefix(f.Key, "call/model_refused/") {
			t.Errorf("it is reported as %+v", f)
		}
		h.hears(otherPhone, "other")
		otherPhone.Hangup()
		if got, _ := h.ended(other.ID); got.Status != call.StatusCompleted {
			t.Errorf("the other call's record %+v", got)
		}
	})
}

// TestSweepAfterALine checks that a swept call ends at its last line, if that line is later than the node's last heartbeat.
func TestSweepAfterALine(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		now := time.Now().UTC().Truncate(time.Microsecond)
		dead := call.Call{
			ID: "dead", Org: "a", Queue: call.QueueStarted, Node: "n0", CreatedAt: now, StartedAt: &now, TakenAt: now,
		}
		line := call.Entry{Seq: 1, Speaker: call.SpeakerUser, Text: "hello", CreatedAt: now.Add(3 * time.Second)}
		if err := errors.Join(h.calls.Insert(t.Context(), dead), h.calls.Append(t.Context(), "a", "dead", line)); err != nil {
			t.Fatal(err)
		}
		if got, _ := h.ended("dead"); !got.EndedAt.Equal(line.CreatedAt) {
			t.Errorf("ended at %s, the last line is of %s", got.EndedAt, line.CreatedAt)
		}
	})
}

// TestSweepKeepsSpokenLine checks that the transcript of a dead node's call ends with the words that the agent was speaking, once, although
// the sweep runs again and again.
func TestSweepKeepsSpokenLine(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		now := time.Now().UTC().Truncate(time.Microsecond)
		dead := call.Call{
			ID: "dead", Org: "a", Queue: call.QueueStarted, Node: "n0", CreatedAt: now, StartedAt: &now, TakenAt: now,
		}
		line := call.Entry{Seq: 1, Speaker: call.SpeakerUser, Text: "hello", CreatedAt: now.Add(3 * time.Second)}
		spoken := call.Entry{Speaker: call.SpeakerAssistant, Text: "We are", Start: 4 * time.Second, End: 5 * time.Second, CreatedAt: now.Add(5 * time.Second)}
		if err := errors.Join(
			h.calls.Insert(t.Context(), dead), h.calls.Append(t.Context(), "a", "dead", line), h.calls.Speak(t.Context(), "a", "dead", spoken),
		); err != nil {
			t.Fatal(err)
		}
		got, _ := h.ended("dead")
		time.Sleep(time.Minute)
		lines, err := h.calls.Transcript(t.Context(), "a", "dead")
		spoken.Seq = 2
		if err != nil || !reflect.DeepEqual(lines, []call.Entry{line, spoken}) || !got.EndedAt.Equal(spoken.CreatedAt) {
			t.Errorf("ended at %s, the transcript is %+v, %v", got.EndedAt, lines, err)
		}
	})
}

// TestSpokenLineIsStored checks that the words of a long answer are in the store while the agent speaks, and that its line replaces them.
func TestSpokenLineIsStored(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		const long = "we are open from nine until five on every day of the week except on sundays and holidays"
		c := h.create(agents.Agent{FirstSentence: long})
		phone := h.answered()
		h.hears(phone, "on every day")
		synctest.Wait()
		if e, ok, err := h.calls.Spoken(t.Context(), "a", c.ID); err != nil || !ok || !strings.HasPrefix(e.Text, "we are") || !strings.HasPrefix(long, e.Text) || e.Speaker != call.SpeakerAssistant || e.CreatedAt.IsZero() {
			t.Errorf("spoken %+v, %t, %v", e, ok, err)
		}
		h.hears(phone, "holidays")
		waitFor(5 * time.Second)
		phone.Hangup()
		_, lines := h.ended(c.ID)
		if e, ok, err := h.calls.Spoken(t.Context(), "a", c.ID); err != nil || ok || len(lines) != 1 || lines[0].Text != long {
			t.Errorf("spoken %+v, %t, %v; transcript %+v", e, ok, err, lines)
		}
	})
}

// TestUnrecognizedWords checks that the record of a call has the words that the recognizer failed to recognize as lines, counts them, and
// that the error message says so.
func TestUnrecognizedWords(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		failures := 0
		h := newHouse(t, 0, agentstest.PhoneConfig{}, func(c *call.Config) {
			c.Recognizer = &agentstest.Recognizer{Fail: func(string) error {
				if failures++; failures > 2 {
					return nil
				}
				return io.ErrUnexpectedEOF
			}}
		})
		defer h.stop()
		c := h.create(agents.Agent{FirstSentence: "hello"})
		phone := h.answered()
		h.hears(phone, "hello")
		h.says(phone, "what about it")
		waitFor(5 * time.Second)
		h.says(phone, "are you there")
		waitFor(5 * time.Second)
		phone.Hangup()
		got, lines := h.ended(c.ID)
		failed := slices.IndexFunc(lines, func(e call.Entry) bool { return e.Unrecognized != "" })
		if failed != 1 || lines[1].Unrecognized != conversation.UnrecognizedError || lines[1].Words() != call.Unintelligible || lines[1].Speaker != call.SpeakerUser {
			t.Errorf("transcript %+v", lines)
		}
		if got.Status != call.StatusCompleted || got.ErrorMessage != "words of the other side were not recognized once" || call.Summarize(lines).Unrecognized != 1 {
			t.Errorf("record %+v", got)
		}
	})
}

// TestSweep checks that a sweep closes the call of a dead node exactly once, and that the call's EndedAt is the last time at which the node
// was known to be live.
func TestSweep(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		now := time.Now().UTC().Truncate(time.Microsecond)
		started := now.Add(-time.Minute)
		dead := call.Call{
			ID: "dead", Org: "a", From: "+15550000001", To: "+15550000002", Queue: call.QueueStarted, Node: "n0",
			CreatedAt: started, StartedAt: &started, TakenAt: now,
		}
		if err := h.calls.Insert(t.Context(), dead); err != nil {
			t.Fatal(err)
		}
		got, _ := h.ended("dead")
		if got.Queue != call.QueueCompleteError || got.Ending.Cause != call.CauseNodeLost || got.Ending.SIPCode != 200 || !got.EndedAt.Equal(now) {
			t.Errorf("record %+v", got)
		}
		if got.Recorded {
			t.Error("a call without a recording has one")
		}
		time.Sleep(time.Minute)
		if again, _ := h.ended("dead"); again.Version != got.Version {
			t.Error("the record was written again")
		}
	})
}

// TestSweepKeepsRecording checks that the recording of a dead node's call stays readable if it is on this machine. It also checks that a
// call whose node died right after the answer has the length 0.
func TestSweepKeepsRecording(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		started := time.Now()
		for _, id := range []string{"here", "elsewhere"} {
			err := h.calls.Insert(t.Context(), call.Call{
				ID: id, Org: "a", From: "+15550000001", To: "+15550000002", Queue: call.QueueStarted, Node: "n0",
				Agent: agents.Agent{Record: true}, CreatedAt: started, StartedAt: &started, TakenAt: started,
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if _, err := h.files.Create(t.Context(), "a", "here"); err != nil {
			t.Fatal(err)
		}
		// The node died between the answer and the next heartbeat.
		answered := started.Add(time.Second)
		err := h.calls.Insert(t.Context(), call.Call{
			ID: "answered", Org: "a", From: "+15550000001", To: "+15550000002", Queue: call.QueueStarted, Node: "n0",
			CreatedAt: started, StartedAt: &answered, TakenAt: started,
		})
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := h.ended("answered"); got.Length() != 0 {
			t.Errorf("the call took %v", got.Length())
		}
		here, _ := h.ended("here")
		elsewhere, _ := h.ended("elsewhere")
		if !here.Recorded || elsewhere.Recorded {
			t.Errorf("recorded here: %v, elsewhere: %v", here.Recorded, elsewhere.Recorded)
		}
		if recording, err := h.Recording(t.Context(), "a", "here"); err != nil || recording.Close() != nil {
			t.Errorf("reading the recording: %v", err)
		}
	})
}

// TestAudioEndsBeforeTheCall checks the cause and the status of a call whose audio ends before the line reports the end of the call, as
// with real lines.
func TestAudioEndsBeforeTheCall(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		linger time.Duration
		end    func(*agentstest.Phone)
		cause  call.Cause
		status call.Status
	}{
		"hung up":             {time.Second, (*agentstest.Phone).Hangup, call.CauseRemoteHangup, call.StatusCompleted},
		"vanished":            {time.Second, (*agentstest.Phone).Vanish, call.CauseMediaTimeout, call.StatusFailed},
		"out of our patience": {time.Minute, (*agentstest.Phone).Vanish, call.CauseMediaTimeout, call.StatusFailed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newHouse(t, 0, agentstest.PhoneConfig{Linger: test.linger})
				defer h.stop()
				c := h.create(agents.Agent{FirstSentence: "hello"})
				phone := h.answered()
				h.hears(phone, "hello")
				test.end(phone)
				if got, _ := h.ended(c.ID); got.Ending.Cause != test.cause || got.Status != test.status {
					t.Errorf("ended by %+v, status %s", got.Ending, got.Status)
				}
				<-phone.Done()
			})
		})
	}
}

func TestDrain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 0, agentstest.PhoneConfig{})
		c := h.create(agents.Agent{FirstSentence: "hello"})
		phone := h.answered()
		h.hears(phone, "hello")
		begin := time.Now()
		refused := make(chan error, 1)
		go func() {
			time.Sleep(grace / 2)
			in := h.line.Call(call.CallerInfo{Org: "a", From: "x", To: "+15550000001"}, agentstest.PhoneConfig{})
			_, err := in.Phone(t.Context())
			refused <- err
		}()
		h.stop()
		var ending *call.HangupReason
		if err := <-refused; !errors.As(err, &ending) || ending.Cause != call.CauseOverload {
			t.Errorf("a call that came while draining got %v", err)
		}
		if took := time.Since(begin); took < grace || took > 2*grace {
			t.Errorf("the drain took %s", took)
		}
		got, _ := h.ended(c.ID)
		if got.Status != call.StatusFailed || got.Queue != call.QueueCompleteError || got.Ending.Cause != call.CauseDrained ||
			!strings.HasPrefix(got.ErrorMessage, "drained: ") || h.Live() != 0 {
			t.Errorf("record %+v, %d live", got, h.Live())
		}
		if later := h.create(agents.Agent{}); later.Queue != call.QueueQueued {
			t.Errorf("a call created while draining is %s, to be placed by another node", later.Queue)
		}
	})
}

// TestDrainWhileItRings checks that draining ends an unanswered call at the deadline.
func TestDrainWhileItRings(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 0, agentstest.PhoneConfig{})
		c := h.create(agents.Agent{FirstSentence: "hello"})
		synctest.Wait()
		h.stop()
		got, _ := h.ended(c.ID)
		if got.Status != call.StatusFailed || got.Ending.Cause != call.CauseDrained || h.Live() != 0 {
			t.Errorf("record %+v, %d live", got, h.Live())
		}
	})
}

func TestFullNode(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 1, agentstest.PhoneConfig{})
		defer h.stop()
		first := h.create(agents.Agent{FirstSentence: "hello"})
		phone := h.answered()
		second := h.create(agents.Agent{})
		in := h.line.Call(call.CallerInfo{Org: "a", From: "x", To: "+15550000001"}, agentstest.PhoneConfig{})
		_, err := in.Phone(t.Context())
		var ending *call.HangupReason
		if !errors.As(err, &ending) || ending.Cause != call.CauseOverload {
			t.Errorf("an incoming call on a full node gave %v", err)
		}
		time.Sleep(5 * time.Second)
		if got, _, err := h.Get(t.Context(), "a", second.ID); err != nil || got.Queue != call.QueueQueued {
			t.Errorf("the second call is %s, %v; it waits", got.Queue, err)
		}
		phone.Hangup()
		h.ended(first.ID)
		h.answered().Hangup()
		if got, _ := h.ended(second.ID); got.Status != call.StatusCompleted {
			t.Errorf("the second call's record %+v", got)
		}
	})
}

func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	hot := 1.5
	for name, test := range map[string]struct {
		request call.Request
		field   string
	}{
		"no task":        {call.Request{To: "+15550000002"}, "task"},
		"no number":      {call.Request{Agent: agents.Agent{Task: "t"}}, "phone_number"},
		"national":       {call.Request{To: "0555000", Agent: agents.Agent{Task: "t"}}, "phone_number"},
		"foreign from":   {call.Request{From: "+15550000009", To: "+15550000002", Agent: agents.Agent{Task: "t"}}, "from"},
		"odd from":       {call.Request{From: "me", To: "+15550000002", Agent: agents.Agent{Task: "t"}}, "from"},
		"too long":       {call.Request{To: "+15550000002", Agent: agents.Agent{Task: "t", MaxDuration: 13 * time.Hour}}, "max_duration"},
		"too hot":        {call.Request{To: "+15550000002", Agent: agents.Agent{Task: "t", Temperature: &hot}}, "temperature"},
		"plain webhook":  {call.Request{To: "+15550000002", Agent: agents.Agent{Task: "t", Webhook: "http://x"}}, "webhook"},
		"odd transfer":   {call.Request{To: "+15550000002", Agent: agents.Agent{Task: "t", TransferTo: "x"}}, "transfer_phone_number"},
		"endless task":   {call.Request{To: "+15550000002", Agent: agents.Agent{Task: string(make([]byte, agents.MaxTask+1))}}, "task"},
		"only blanks":    {call.Request{To: "+15550000002", Agent: agents.Agent{Task: " \n"}}, "task"},
		"no such voice":  {call.Request{To: "+15550000002", Agent: agents.Agent{Task: "t", Voice: "nobody"}}, "voice"},
		"no such tongue": {call.Request{To: "+15550000002", Agent: agents.Agent{Task: "t", Language: "tlh"}}, "language"},
		"negative limit": {call.Request{To: "+15550000002", Agent: agents.Agent{Task: "t", MaxDuration: -1}}, "max_duration"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inHouse(t, func(t *testing.T, h *house) {
				_, err := h.Create(t.Context(), "a", test.request)
				var e *callwright.Error
				if !errors.As(err, &e) || e.Code != callwright.CodeBadRequest || e.Field != test.field {
					t.Errorf("got %v, want a bad request about %s", err, test.field)
				}
				if _, total, _ := h.List(t.Context(), "a", call.Filter{}); total != 0 {
					t.Error("a call was made")
				}
			})
		})
	}
}

// TestMoves checks every event in every state: a legal move leads to its state, and any other move is refused. A state that ends a call has
// no legal moves.
func TestMoves(t *testing.T) {
	t.Parallel()
	states := []call.QueueStatus{
		call.QueueNew, call.QueueQueued, call.QueueAllocated, call.QueueStarted, call.QueueComplete,
		call.QueuePreQueueError, call.QueueError, call.QueueCallError, call.QueueCompleteError,
	}
	events := []call.Event{
		call.EventQueue, call.EventAllocate, call.EventAnswer, call.EventFinish, call.EventCancel, call.EventFail,
	}
	type move struct {
		from  call.QueueStatus
		event call.Event
	}
	legal := map[move]call.QueueStatus{
		{call.QueueNew, call.EventQueue}:        call.QueueQueued,
		{call.QueueNew, call.EventAllocate}:     call.QueueAllocated,
		{call.QueueNew, call.EventFail}:         call.QueuePreQueueError,
		{call.QueueQueued, call.EventAllocate}:  call.QueueAllocated,
		{call.QueueQueued, call.EventCancel}:    call.QueueComplete,
		{call.QueueQueued, call.EventFail}:      call.QueueError,
		{call.QueueAllocated, call.EventAnswer}: call.QueueStarted,
		{call.QueueAllocated, call.EventCancel}: call.QueueComplete,
		{call.QueueAllocated, call.EventFail}:   call.QueueCallError,
		{call.QueueStarted, call.EventFinish}:   call.QueueComplete,
		{call.QueueStarted, call.EventFail}:     call.QueueCompleteError,
	}
	for _, from := range states {
		for _, event := range events {
			want, ok := legal[move{from, event}]
			got, err := from.Move(event)
			switch {
			case ok && (err != nil || got != want):
				t.Errorf("%s + %s = %s, %v; want %s", from, event, got, err, want)
			case !ok && (!errors.Is(err, callwright.ErrInvalidState) || got != from):
				t.Errorf("%s + %s = %s, %v; it is not a move", from, event, got, err)
			case ok && from.Ended():
				t.Errorf("%s is an end and has a move", from)
			}
		}
	}
}
