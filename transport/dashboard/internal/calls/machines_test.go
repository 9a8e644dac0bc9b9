package calls_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
)

// TestPlaceWithMachines checks that the form sets the reactions to machines, refuses a message that is missing, and shows the reactions
// when the call is repeated, with the voicemail of the call's plan.
func TestPlaceWithMachines(t *testing.T) {
	t.Parallel()
	h := open(t, func(c *call.Config) { c.AMD = func(int, string) call.AMD { return nil } })
	values := url.Values{
		"phone_number": {"+14155550123"}, "task": {"Talk."}, "machines.voicemail": {"leave_message"}, "machines.voicemail_message": {"Call us."},
		"machines.ivr": {"hangup"}, "machines.screening": {"introduce"}, "machines.screening_message": {"Ada, about the car."},
		"machines.announcement": {"ignore"}, "machines.fax": {"hangup"},
	}
	h.post("/calls/new", "/calls", values, http.StatusOK, "The call was placed.")
	found, _, err := h.calls.List(t.Context(), org, call.Filter{})
	if err != nil || len(found.Items) != 1 {
		t.Fatalf("%d calls were placed, %v", len(found.Items), err)
	}
	id := found.Items[0].ID
	want := agents.Machines{
		Voicemail: agents.MachineMessage, VoicemailMessage: "Call us.", IVR: agents.MachineHangup, Screening: agents.MachineIntroduce,
		ScreeningMessage: "Ada, about the car.", Announcement: agents.MachineIgnore, Fax: agents.MachineHangup,
	}
	if got := must(h.calls.Get(t.Context(), org, id)).Agent.Machines; got != want {
		t.Errorf("machines %+v", got)
	}
	h.want(http.StatusOK, "/calls/new?again="+id, `<option value="introduce" selected>`, "\nAda, about the car.</textarea>", "\nCall us.</textarea>")
	values.Set("machines.screening_message", " ")
	h.post("/calls/new", "/calls", values, http.StatusUnprocessableEntity, `id="fault-machines-screening_message">is required for this action`)
	h.call("c1", func(c *call.Call) {
		c.Plan.Voicemail = call.Voicemail{Action: call.VoicemailMessage, Message: "Of the plan."}
	})
	h.want(http.StatusOK, "/calls/new?again=c1", `<option value="leave_message" selected>`, "\nOf the plan.</textarea>", "!Not carried over")
}

// TestAnswerer checks that the call's page shows which party answered, by which rule and when.
func TestAnswerer(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.call("c1", func(c *call.Call) {
		c.Answerer = call.Answerer{Category: call.CategoryIVR, Rule: call.RuleWords, Words: "press <one>", At: 3500 * time.Millisecond}
	})
	h.call("c2", func(c *call.Call) { c.Answerer = call.Answerer{Category: call.CategoryVoicemail, Rule: call.RuleBeep} })
	h.call("c3", func(c *call.Call) { c.Answerer = call.Answerer{} })
	h.want(http.StatusOK, "/calls/c1", "<dt>Taken for</dt><dd>a menu, by the words “press &lt;one&gt;”, at 0:03")
	h.want(http.StatusOK, "/calls/c2", "an answering machine, by a tone, at 0:00")
	h.want(http.StatusOK, "/calls/c3", "!Taken for")
}
