package call_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/voicemail"
)

// judge is an AMD. It returns its field verdict once the call has lasted as long as its field after, and reports the end of the greeting
// once the call has lasted as long as its field ends.
type judge struct {
	verdict     call.Category
	after, ends time.Duration
	now         time.Duration
}

func (j *judge) Hear(f conversation.Frame) call.Answerer {
	j.now = f.Elapsed
	if j.now < j.after {
		return call.Answerer{}
	}
	return call.Answerer{Category: j.verdict, Rule: call.RuleBeep, At: j.after, Sure: true}
}

func (j *judge) Words(string, bool) {}

func (j *judge) Ended() bool { return j.now >= j.ends }

// screenedCalls runs a test with a house whose calls use a copy of j as their AMD.
func screenedCalls(t *testing.T, j judge, test func(t *testing.T, h *house)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 0, agentstest.PhoneConfig{}, func(c *call.Config) {
			c.AMD = func(rate int, _ string) call.AMD {
				if rate != 8000 {
					t.Errorf("the rate is %d", rate)
				}
				own := j
				return &own
			}
		})
		defer h.stop()
		test(t, h)
	})
}

func machine(action call.VoicemailAction) call.Request {
	return call.Request{
		Agent:       agents.Agent{FirstSentence: "hello", Record: true, Webhook: "https://example.com/"},
		Plan:        call.Plan{Voicemail: call.Voicemail{Action: action, Message: "call {{name}} back. thank you."}, Events: []call.EventCategory{call.EventsCall}},
		RequestData: map[string]any{"name": "Ada"},
	}
}

// TestScreenedPerson checks that the record shows that a person or an unknown party answered, and that the conversation continues.
func TestScreenedPerson(t *testing.T) {
	t.Parallel()
	for _, verdict := range []call.Category{call.CategoryHuman, call.CategoryUnknown} {
		t.Run(string(verdict), func(t *testing.T) {
			t.Parallel()
			screenedCalls(t, judge{verdict: verdict, after: time.Second}, func(t *testing.T, h *house) {
				c := h.order(machine(call.VoicemailHangup))
				phone := h.answered()
				h.hears(phone, "hello")
				h.says(phone, "bye")
				got, _ := h.ended(c.ID)
				if got.AnsweredBy != call.AnsweredBy(verdict) || got.Ending.Reason != "the agent was done" {
					t.Errorf("record %+v", got)
				}
				waitFor(time.Hour)
				if told := h.noticeTexts(); !slices.Contains(told, "call: answered by: "+string(verdict)) {
					t.Errorf("the webhook was told %q", told)
				}
			})
		})
	}
}

// TestScreenedMachineThatIsIgnored checks that the conversation continues with an answering machine if the plan ignores machines.
func TestScreenedMachineThatIsIgnored(t *testing.T) {
	t.Parallel()
	for _, action := range []call.VoicemailAction{"", call.VoicemailIgnore} {
		screenedCalls(t, judge{verdict: call.CategoryVoicemail, after: time.Second}, func(t *testing.T, h *house) {
			c := h.order(machine(action))
			phone := h.answered()
			h.hears(phone, "hello")
			h.says(phone, "bye")
			h.hears(phone, "you said bye.")
			if got, _ := h.ended(c.ID); got.AnsweredBy != call.AnsweredByVoicemail || got.Ending.Reason != "the agent was done" {
				t.Errorf("record %+v", got)
			}
		})
	}
}

// TestScreenedMachineToHangUpOn checks that the service hangs up on an answering machine, and that the plan's retry follows.
func TestScreenedMachineToHangUpOn(t *testing.T) {
	t.Parallel()
	screenedCalls(t, judge{verdict: call.CategoryVoicemail, after: time.Second}, func(t *testing.T, h *house) {
		r := machine(call.VoicemailHangup)
		r.Agent.WaitForGreeting = true
		r.Plan.Retry = &call.Retry{Wait: time.Minute, Voicemail: call.Voicemail{Action: call.VoicemailMessage, Message: "call me."}}
		c := h.order(r)
		phone := h.answered()
		phone.Say(strings.Repeat("nobody is here ", 20))
		<-phone.Done()
		got, _ := h.ended(c.ID)
		if got.AnsweredBy != call.AnsweredByVoicemail || got.Status != call.StatusCompleted || phone.Elapsed() > 2*time.Second ||
			got.Ending.Cause != call.CauseLocalHangup || got.Ending.Reason != "an answering machine answered the call" {
			t.Errorf("after %s, record %+v", phone.Elapsed(), got)
		}
		second := h.answered()
		h.hears(second, "call me.")
		<-second.Done()
		waitFor(time.Hour)
		if calls := h.all(); len(calls) != 2 || calls[1].RetryOf != c.ID || calls[1].AnsweredBy != call.AnsweredByVoicemail {
			t.Errorf("calls %+v", calls)
		}
	})
}

// TestScreenedMachineWithAMessage checks that an answering machine ends the conversation immediately, that the message is left after the
// greeting, or after about a minute if the greeting does not end, and that the transcript and the recording contain the message.
func TestScreenedMachineWithAMessage(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		ends, from, to time.Duration
	}{
		"after the tone":                   {8 * time.Second, 8 * time.Second, 12 * time.Second},
		"after a greeting that never ends": {time.Hour, 61 * time.Second, 66 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := judge{verdict: call.CategoryVoicemail, after: time.Second, ends: test.ends}
			screenedCalls(t, j, func(t *testing.T, h *house) {
				r := machine(call.VoicemailMessage)
				r.Agent.FirstSentence = "hello, this is a long sentence that the machine does not hear to its end"
				r.Plan.Retry = &call.Retry{Wait: time.Minute}
				c := h.order(r)
				phone := h.answered()
				phone.Say(strings.Repeat("leave a message ", 80)) // speaks over the agent too, because a machine does not listen
				<-phone.Done()
				got, lines := h.ended(c.ID)
				if got.AnsweredBy != call.AnsweredByVoicemail || got.Ending.Reason != "a message was left on an answering machine" ||
					got.RetriedBy != "" || got.Status != call.StatusCompleted {
					t.Errorf("record %+v", got)
				}
				if at := got.Length(); at < test.from || at > test.to {
					t.Errorf("the call took %s", at)
				}
				if said := spoken(lines); said[len(said)-1] != "assistant: call Ada back. thank you." ||
					strings.Contains(fmt.Sprint(said), "to its end") {
					t.Errorf("transcript %q", said)
				}
				if heard := phone.Heard(); !strings.HasSuffix(heard, "call Ada back.thank you.") {
					t.Errorf("the machine heard %q", heard)
				}
			})
		})
	}
}

// TestScreenedMachineThatHangsUp checks that a call is retried if the machine hangs up before the whole message is left.
func TestScreenedMachineThatHangsUp(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]time.Duration{"in its greeting": 5 * time.Second, "in the message": 10500 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := judge{verdict: call.CategoryVoicemail, after: time.Second, ends: 10 * time.Second}
			screenedCalls(t, j, func(t *testing.T, h *house) {
				r := machine(call.VoicemailMessage)
				r.Plan.Retry = &call.Retry{Wait: time.Minute}
				c := h.order(r)
				phone := h.answered()
				if err := phone.WaitElapsed(t.Context(), at); err != nil {
					t.Fatal(err)
				}
				phone.Hangup()
				got, _ := h.ended(c.ID)
				if got.Ending.Cause != call.CauseRemoteHangup || got.AnsweredBy != call.AnsweredByVoicemail || got.RetriedBy == "" {
					t.Errorf("record %+v", got)
				}
			})
		})
	}
}

// TestScreenedMachineThatIsNone checks that a call is retried if a key interrupts the message, because the message may not have been heard.
func TestScreenedMachineThatIsNone(t *testing.T) {
	t.Parallel()
	screenedCalls(t, judge{verdict: call.CategoryVoicemail, after: time.Second}, func(t *testing.T, h *house) {
		r := machine(call.VoicemailMessage)
		r.Plan.Voicemail.Message = strings.Repeat("call us back. ", 100)
		r.Plan.Retry = &call.Retry{Wait: time.Minute}
		c := h.order(r)
		phone := h.answered()
		if err := phone.WaitElapsed(t.Context(), 30*time.Second); err != nil {
			t.Fatal(err)
		}
		phone.Press("1")
		<-phone.Done()
		got, lines := h.ended(c.ID)
		if got.Ending.Reason != "an answering machine answered the call" || got.RetriedBy == "" || got.Length() > 40*time.Second {
			t.Errorf("record %+v", got)
		}
		if said := lines[1]; !said.Interrupted || !strings.HasPrefix(said.Text, "call us back.") {
			t.Errorf("transcript %q", spoken(lines))
		}
	})
}

// TestScreenedMachineAndAStop checks that a stop during the greeting ends the call immediately and prevents a retry.
func TestScreenedMachineAndAStop(t *testing.T) {
	t.Parallel()
	j := judge{verdict: call.CategoryVoicemail, after: time.Second, ends: 10 * time.Second}
	screenedCalls(t, j, func(t *testing.T, h *house) {
		r := machine(call.VoicemailMessage)
		r.Plan.Retry = &call.Retry{Wait: time.Minute}
		c := h.order(r)
		phone := h.answered()
		if err := phone.WaitElapsed(t.Context(), 3*time.Second); err != nil {
			t.Fatal(err)
		}
		if err := h.Stop(t.Context(), "a", c.ID); err != nil {
			t.Fatal(err)
		}
		<-phone.Done()
		if got, _ := h.ended(c.ID); got.Ending.Reason != "stopped by its owner" || got.Length() > 4*time.Second ||
			got.RetriedBy != "" {
			t.Errorf("record %+v", got)
		}
	})
}

// TestScreenedByTheDetector checks, with the detector that servers use, that the message is left after the greeting and its tone.
func TestScreenedByTheDetector(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 0, agentstest.PhoneConfig{}, func(c *call.Config) {
			c.AMD = func(rate int, language string) call.AMD { return voicemail.New(rate, language, nil) }
		})
		defer h.stop()
		r := machine(call.VoicemailMessage)
		r.Agent.FirstSentence = ""
		r.Agent.WaitForGreeting = true
		c := h.order(r)
		phone := h.answered()
		phone.Say(strings.Repeat("nobody is here. ", 8)) // lasts eight seconds
		phone.Play(sine(1000, 500*time.Millisecond))
		<-phone.Done()
		got, lines := h.ended(c.ID)
		if got.AnsweredBy != call.AnsweredByVoicemail || got.Ending.Reason != "a message was left on an answering machine" {
			t.Errorf("record %+v", got)
		}
		last := lines[len(lines)-1]
		if last.Text != "call Ada back. thank you." || last.Start < 8*time.Second || last.Start > 10*time.Second {
			t.Errorf("transcript %+v", lines)
		}
	})
}

// sine returns a tone at 8 kHz.
func sine(hertz float64, d time.Duration) []int16 {
	tone := make([]int16, int(d.Milliseconds())*8)
	for i := range tone {
		tone[i] = int16(9000 * math.Sin(2*math.Pi*hertz*float64(i)/8000))
	}
	return tone
}

// TestIncomingCallsAreNotScreened checks that incoming calls use no AMD, because a caller is no answering machine.
func TestIncomingCallsAreNotScreened(t *testing.T) {
	t.Parallel()
	screenedCalls(t, judge{verdict: call.CategoryVoicemail}, func(t *testing.T, h *house) {
		in := h.line.Call(call.CallerInfo{ID: "in", Org: "a", From: "x", To: "+15550000001"}, agentstest.PhoneConfig{})
		phone, err := in.Phone(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		h.hears(phone, "welcome")
		phone.Hangup()
		if got, _ := h.ended("in"); got.AnsweredBy != call.AnsweredByUnknown {
			t.Errorf("record %+v", got)
		}
	})
}

// TestWaitsAreTheAgents checks that Agent.LeastWait and Agent.LongestWait bound the silence after the caller's words.
func TestWaitsAreTheAgents(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		agent       agents.Agent
		says        string
		least, most time.Duration
	}{
		"default, finished":   {agents.Agent{}, "thank you", 0, time.Second},
		"default, unfinished": {agents.Agent{}, "i want the", 2 * time.Second, 2500 * time.Millisecond},
		"at least":            {agents.Agent{LeastWait: 4 * time.Second}, "thank you", 4 * time.Second, 4500 * time.Millisecond},
		"at most":             {agents.Agent{LongestWait: time.Second}, "i want the", time.Second, 1500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inHouse(t, func(t *testing.T, h *house) {
				test.agent.FirstSentence = "go ahead"
				c := h.create(test.agent)
				phone := h.answered()
				h.hears(phone, "go ahead")
				phone.Say(test.says)
				waitFor(10 * time.Second)
				phone.Hangup()
				_, lines := h.ended(c.ID)
				if len(lines) < 3 {
					t.Fatalf("the transcript is %+v", lines)
				}
				if got := lines[2].Latency.EndOfTurn; got < test.least || got > test.most {
					t.Errorf("the turn is over after %s, want %s to %s; the transcript is %+v", got, test.least, test.most, lines)
				}
			})
		})
	}
}
