package call_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/voicemail"
)

// detectedCalls runs a test with a house whose calls use the detector of servers, with English words.
func detectedCalls(t *testing.T, test func(t *testing.T, h *house)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 0, agentstest.PhoneConfig{}, func(c *call.Config) {
			c.AMD = func(rate int, _ string) call.AMD { return voicemail.New(rate, "en", nil) }
		})
		defer h.stop()
		test(t, h)
	})
}

// calling places a call with reactions to machines, whose agent lets the other side speak first.
func (h *house) calling(m agents.Machines) (call.Call, *agentstest.Phone) {
	h.t.Helper()
	c := h.order(call.Request{
		Agent:       agents.Agent{FirstSentence: "hello", WaitForGreeting: true, Machines: m, Webhook: "https://example.com/"},
		Plan:        call.Plan{Events: []call.EventCategory{call.EventsCall}},
		RequestData: map[string]any{"name": "Ada"},
	})
	return c, h.answered()
}

// TestMachinesToHangUpOn checks that the call ends with the cause of the machine, at the latest soon after the machine's words.
func TestMachinesToHangUpOn(t *testing.T) {
	t.Parallel()
	hangup := agents.Machines{Voicemail: agents.MachineHangup, IVR: agents.MachineHangup, Screening: agents.MachineHangup}
	for says, want := range map[string]struct {
		machines agents.Machines
		category call.Category
		cause    call.Cause
		status   call.Status
	}{
		"for sales press one for support press two":     {hangup, call.CategoryIVR, call.CauseLocalHangup, call.StatusCompleted},
		"please state your name and reason for calling": {hangup, call.CategoryScreening, call.CauseLocalHangup, call.StatusCompleted},
		"please leave a message after the tone":         {hangup, call.CategoryVoicemail, call.CauseLocalHangup, call.StatusCompleted},
		"the number you have dialed is not in service":  {agents.Machines{}, call.CategoryAnnouncement, call.CauseAnnouncement, call.StatusFailed},
	} {
		t.Run(string(want.category), func(t *testing.T) {
			t.Parallel()
			detectedCalls(t, func(t *testing.T, h *house) {
				c, phone := h.calling(want.machines)
				phone.Say(says)
				<-phone.Done()
				got, _ := h.ended(c.ID)
				if got.Answerer.Category != want.category || got.Answerer.Rule != call.RuleWords || got.Ending.Cause != want.cause || got.Status != want.status {
					t.Errorf("answerer %+v, ending %+v, status %s", got.Answerer, got.Ending, got.Status)
				}
				if most := time.Duration(len(says))*100*time.Millisecond + 8*time.Second; got.Length() > most {
					t.Errorf("the call took %s, want at most %s", got.Length(), most)
				}
				waitFor(time.Hour)
				if told := h.noticeTexts(); !slices.Contains(told, "call: answered by: "+string(want.category)) {
					t.Errorf("the webhook was told %q", told)
				}
			})
		})
	}
}

// TestFax checks that a call to a fax machine fails with its own cause, and that a call that ignores fax machines continues.
func TestFax(t *testing.T) {
	t.Parallel()
	for action, want := range map[agents.MachineAction]call.Cause{"": call.CauseFax, agents.MachineIgnore: call.CauseRemoteHangup} {
		detectedCalls(t, func(t *testing.T, h *house) {
			c, phone := h.calling(agents.Machines{Fax: action})
			phone.Play(sine(2100, 3*time.Second))
			if err := phone.WaitElapsed(t.Context(), 5*time.Second); err != nil && want == call.CauseRemoteHangup {
				t.Fatal(err)
			}
			phone.Hangup()
			if got, _ := h.ended(c.ID); got.Answerer.Category != call.CategoryFax || got.Answerer.Rule != call.RuleTone ||
				got.Ending.Cause != want || got.AnsweredBy != call.AnsweredByUnknown {
				t.Errorf("%q: answerer %+v, ending %+v", action, got.Answerer, got.Ending)
			}
		})
	}
}

// TestWordsOfAPersonResumeTheConversation checks that a long business greeting, which sounds like a machine's, does not end the call, and
// that the agent answers it.
func TestWordsOfAPersonResumeTheConversation(t *testing.T) {
	t.Parallel()
	for _, action := range []agents.MachineAction{agents.MachineHangup, agents.MachineMessage} {
		detectedCalls(t, func(t *testing.T, h *house) {
			c, phone := h.calling(agents.Machines{Voicemail: action, VoicemailMessage: "call back"})
			phone.Say("good morning this is the house of miller and sons in the old town my name is anna how may i help you")
			h.hears(phone, "hello") // the answer to the greeting
			h.says(phone, "bye")
			got, lines := h.ended(c.ID)
			if got.AnsweredBy != call.AnsweredByHuman || got.Answerer.Words != "how may i help" || got.Ending.Reason != "the agent was done" {
				t.Errorf("%s: answerer %+v, ending %+v, transcript %q", action, got.Answerer, got.Ending, spoken(lines))
			}
		})
	}
}

// TestScreeningByAPhone checks that the agent introduces itself to call screening, waits for the person, and answers the person's words.
func TestScreeningByAPhone(t *testing.T) {
	t.Parallel()
	detectedCalls(t, func(t *testing.T, h *house) {
		c, phone := h.calling(agents.Machines{Screening: agents.MachineIntroduce, ScreeningMessage: "this is the dentist for {{name}}."})
		phone.Say("please state your name and reason for calling")
		h.hears(phone, "this is the dentist for Ada.")
		if err := phone.WaitElapsed(t.Context(), 25*time.Second); err != nil {
			t.Fatal(err)
		}
		phone.Say("hello who is there")
		h.hears(phone, "hello") // the agent's first sentence, or its answer
		h.says(phone, "bye")
		got, lines := h.ended(c.ID)
		if got.AnsweredBy != call.AnsweredByHuman || got.Ending.Reason != "the agent was done" {
			t.Errorf("answerer %+v, ending %+v", got.Answerer, got.Ending)
		}
		if said := strings.Join(spoken(lines), " "); !strings.Contains(said, "state your name and reason for calling assistant: this is the dentist for Ada. user: hello who is there assistant:") {
			t.Errorf("transcript %q", said)
		}
		waitFor(time.Hour)
		if told := h.noticeTexts(); !slices.Contains(told, "call: answered by: screening") || !slices.Contains(told, "call: answered by: human") {
			t.Errorf("the webhook was told %q", told)
		}
	})
}

// TestScreeningWithoutAPerson checks that the call ends a minute after the introduction if no person comes, and that a voicemail after the
// introduction receives its message.
func TestScreeningWithoutAPerson(t *testing.T) {
	t.Parallel()
	machines := agents.Machines{
		Screening: agents.MachineIntroduce, ScreeningMessage: "this is the dentist.", Voicemail: agents.MachineMessage, VoicemailMessage: "call us back.",
	}
	t.Run("nobody", func(t *testing.T) {
		t.Parallel()
		detectedCalls(t, func(t *testing.T, h *house) {
			c, phone := h.calling(machines)
			phone.Say("please state your name and reason for calling")
			<-phone.Done()
			got, _ := h.ended(c.ID)
			if got.Ending.Reason != "nobody came to the phone after call screening" || got.Length() < 60*time.Second || got.Length() > 80*time.Second {
				t.Errorf("after %s, ending %+v", got.Length(), got.Ending)
			}
		})
	})
	t.Run("voicemail", func(t *testing.T) {
		t.Parallel()
		detectedCalls(t, func(t *testing.T, h *house) {
			c, phone := h.calling(machines)
			phone.Say("please state your name and reason for calling")
			h.hears(phone, "this is the dentist.")
			if err := phone.WaitElapsed(t.Context(), 20*time.Second); err != nil {
				t.Fatal(err)
			}
			phone.Say("nobody is available please leave a message after the tone ")
			phone.Play(sine(440, 400*time.Millisecond))
			<-phone.Done()
			got, lines := h.ended(c.ID)
			if got.AnsweredBy != call.AnsweredByVoicemail || got.Ending.Reason != "a message was left on an answering machine" {
				t.Errorf("answerer %+v, ending %+v", got.Answerer, got.Ending)
			}
			if said := spoken(lines); said[len(said)-1] != "assistant: call us back." {
				t.Errorf("transcript %q", said)
			}
		})
	})
}

// TestMenuIsNavigated checks that the agent continues with a menu by default, and that the record names the menu.
func TestMenuIsNavigated(t *testing.T) {
	t.Parallel()
	detectedCalls(t, func(t *testing.T, h *house) {
		c, phone := h.calling(agents.Machines{})
		phone.Say("for sales press one for support press two")
		h.hears(phone, "hello") // the answer to the menu
		h.says(phone, "bye")
		got, _ := h.ended(c.ID)
		if got.Answerer.Category != call.CategoryIVR || got.AnsweredBy != call.AnsweredByUnknown || got.Ending.Reason != "the agent was done" {
			t.Errorf("answerer %+v, ending %+v", got.Answerer, got.Ending)
		}
	})
}
