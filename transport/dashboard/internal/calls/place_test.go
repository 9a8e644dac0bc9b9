package calls_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/pathway"
)

func TestPlace(t *testing.T) {
	t.Parallel()
	h := open(t)
	page := func(h *house, form url.Values, status int, texts ...string) {
		t.Helper()
		h.post("/calls/new", "/calls", form, status, texts...)
	}
	for field, form := range map[string]url.Values{
		"phone_number":    {"phone_number": {"4155550123"}, "task": {"Talk."}},
		"from":            {"phone_number": {"+14155550123"}, "from": {"+14155550111"}, "task": {"Talk."}},
		"persona_id":      {"phone_number": {"+14155550123"}, "task": {"Talk."}, "persona_id": {"none"}},
		"agent_id":        {"phone_number": {"+14155550123"}, "task": {"Talk."}, "agent_id": {"none"}},
		"pathway_version": {"phone_number": {"+14155550123"}, "task": {"Talk."}, "pathway_version": {"7"}},
		"max_duration":    {"phone_number": {"+14155550123"}, "max_duration": {"long"}, "task": {"Talk."}},
		"record":          {"phone_number": {"+14155550123"}, "task": {"Talk."}, "record": {"maybe"}},
		"request_data":    {"phone_number": {"+14155550123"}, "request_data": {"[1]"}, "task": {"Talk."}},
	} {
		page(h, form, http.StatusUnprocessableEntity, `id="fault-`+field+`"`, ">Talk.</textarea>")
	}
	page(h, url.Values{
		"phone_number": {"+1 (415) 555-0123"}, "task": {"Ask <b>."}, "max_duration": {"1.5"}, "record": {"true"}, "request_data": {`{"name":"Robin"}`},
	}, http.StatusOK, "The call was placed.", "waiting", "Robin", "Ask &lt;b&gt;.", "1 min 30 s")
	found, _, err := h.calls.List(t.Context(), org, call.Filter{})
	if err != nil || len(found.Items) != 1 {
		t.Fatalf("%d calls were placed, %v", len(found.Items), err)
	}
	id := found.Items[0].ID
	h.post("/calls/"+id, "/calls/"+id+"/stop", url.Values{}, http.StatusOK, "The call was told to end", "canceled", "stopped by a user", "!Stop the call")
	h.post("/calls/new", "/calls/"+id+"/stop", url.Values{}, http.StatusOK, "has already ended")
	h.post("/calls/new", "/calls/none/stop", url.Values{}, http.StatusNotFound)
	h.want(http.StatusOK, "/calls/new?again="+id, "<h1>Place a call again</h1>", `value="+14155550123"`, ">Ask &lt;b&gt;.</textarea>", "!Not carried over",
		`id="record" name="record" ><option value="">Use the agent&#39;s setting</option><option value="true" selected>`, `id="max_duration" name="max_duration" value="1.5"`)
	h.want(http.StatusNotFound, "/calls/new?again=none")
}

// TestPlaceWithoutAModel checks that, without a language model, the form and the page of a call with a free task warn that free tasks are
// not followed, and describe the supported tasks.
func TestPlaceWithoutAModel(t *testing.T) {
	t.Parallel()
	const limits = "Without a language model a free task is not followed"
	form := func(task string) url.Values { return url.Values{"phone_number": {"+14155550123"}, "task": {task}} }
	h := open(t)
	h.want(http.StatusOK, "/calls/new", limits, "when &#34;yes&#34;: say", "pathway")
	h.post("/calls/new", "/calls", form("Talk."), http.StatusOK, "The call was placed.", limits, "when &#34;yes&#34;: say")
	h.post("/calls/new", "/calls", form(`when "yes": say "Good." and end`), http.StatusOK, "The call was placed.", "!"+limits)
	able := open(t, func(c *call.Config) { c.Model = &agentstest.Model{} })
	able.want(http.StatusOK, "/calls/new", "!"+limits)
	able.post("/calls/new", "/calls", form("Talk."), http.StatusOK, "The call was placed.", "!"+limits)
}

// TestPlaceAsTheAgentSays checks that calls use a web agent's settings for recording and greeting unless the form overrides them.
func TestPlaceAsTheAgentSays(t *testing.T) {
	t.Parallel()
	h := open(t)
	w, err := h.agents.CreateAgent(t.Context(), org, agents.WebAgent{Agent: agents.Agent{Task: "Talk.", Record: true, WaitForGreeting: true}})
	if err != nil {
		t.Fatal(err)
	}
	h.want(http.StatusOK, "/calls/new", `!"true" selected`, `!"false" selected`, "!checked")
	for said, want := range map[string]bool{"": true, "true": true, "false": false} {
		to := callwright.PhoneNumber("+1415555010" + string(rune('1'+len(said))))
		h.post("/calls/new", "/calls", url.Values{
			"phone_number": {to.String()}, "agent_id": {w.ID}, "record": {said}, "wait_for_greeting": {said},
		}, http.StatusOK, "The call was placed.")
		found, _, err := h.calls.List(t.Context(), org, call.Filter{To: to.String()})
		if err != nil || len(found.Items) != 1 {
			t.Fatalf("%d calls were placed, %v", len(found.Items), err)
		}
		if a := must(h.calls.Get(t.Context(), org, found.Items[0].ID)).Agent; a.Record != want || a.WaitForGreeting != want {
			t.Errorf("%q: recorded %t, waits for a greeting %t", said, a.Record, a.WaitForGreeting)
		}
	}
}

// TestPlaceWithWaits checks that the form sets the bounds of the silence that ends a turn, shows them when the call is repeated, and refuses
// invalid values.
func TestPlaceWithWaits(t *testing.T) {
	t.Parallel()
	h := open(t)
	form := url.Values{"phone_number": {"+14155550123"}, "task": {"Talk."}, "min_endpointing_delay": {"450,5"}, "max_endpointing_delay": {"4000"}}
	h.post("/calls/new", "/calls", form, http.StatusOK, "The call was placed.")
	found, _, err := h.calls.List(t.Context(), org, call.Filter{})
	if err != nil || len(found.Items) != 1 {
		t.Fatalf("%d calls were placed, %v", len(found.Items), err)
	}
	id := found.Items[0].ID
	if a := must(h.calls.Get(t.Context(), org, id)).Agent; a.LeastWait != 450500*time.Microsecond || a.LongestWait != 4*time.Second {
		t.Errorf("the waits are %s and %s", a.LeastWait, a.LongestWait)
	}
	h.want(http.StatusOK, "/calls/new?again="+id, `name="min_endpointing_delay" value="450.5"`)
	h.want(http.StatusOK, "/calls/new?again="+id, `name="max_endpointing_delay" value="4000"`)
	for _, name := range []string{"min_endpointing_delay", "max_endpointing_delay"} {
		for _, wrong := range []string{"x", "-1", "99", "10001", "NaN"} {
			h.post("/calls/new", "/calls", url.Values{"phone_number": {"+14155550123"}, "task": {"Talk."}, name: {wrong}},
				http.StatusUnprocessableEntity, `id="fault-`+name+`">must be`)
		}
	}
}

// TestPlaceWithInterruptibility checks that the form sets the agent's interruptibility and threshold, shows them when the call is repeated,
// and refuses invalid values.
func TestPlaceWithInterruptibility(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.post("/calls/new", "/calls", url.Values{"phone_number": {"+14155550123"}, "task": {"Talk."}, "interruptibility": {"0"}, "interruption_threshold": {"350"}}, http.StatusOK, "The call was placed.")
	found, _, err := h.calls.List(t.Context(), org, call.Filter{})
	if err != nil || len(found.Items) != 1 {
		t.Fatalf("%d calls were placed, %v", len(found.Items), err)
	}
	id := found.Items[0].ID
	if a := must(h.calls.Get(t.Context(), org, id)).Agent; a.Interruptibility == nil || *a.Interruptibility != 0 {
		t.Errorf("interruptibility %v", a.Interruptibility)
	} else if a.Interruption == nil || *a.Interruption != 350*time.Millisecond {
		t.Errorf("threshold %v", a.Interruption)
	}
	h.want(http.StatusOK, "/calls/new?again="+id, `<option value="0" selected>Never</option>`, `name="interruption_threshold" value="350"`)
	for field, wrong := range map[string][]string{"interruptibility": {"x", "5"}, "interruption_threshold": {"0.5", "-1", "10001", "99999999999"}} {
		for _, value := range wrong {
			h.post("/calls/new", "/calls", url.Values{"phone_number": {"+14155550123"}, "task": {"Talk."}, field: {value}},
				http.StatusUnprocessableEntity, `id="fault-`+field+`">must be`)
		}
	}
}

// TestPlaceWithKeywords checks that the form sets the agent's keywords, shows them when the call is repeated, and shows their limits.
func TestPlaceWithKeywords(t *testing.T) {
	t.Parallel()
	h := open(t)
	form := url.Values{"phone_number": {"+14155550123"}, "task": {"Talk."}, "keywords": {"Callwright, Robin:2"}}
	h.post("/calls/new", "/calls", form, http.StatusOK, "The call was placed.")
	found, _, err := h.calls.List(t.Context(), org, call.Filter{})
	if err != nil || len(found.Items) != 1 {
		t.Fatalf("%d calls were placed, %v", len(found.Items), err)
	}
	id := found.Items[0].ID
	if terms := must(h.calls.Get(t.Context(), org, id)).Agent.Terms(); !slices.Equal(terms, []string{"Callwright", "Robin"}) {
		t.Errorf("terms %q", terms)
	}
	h.want(http.StatusOK, "/calls/new?again="+id, `value="Callwright, Robin:2"`)
	for _, wrong := range []string{strings.Repeat("x", 101), strings.Repeat("x,", 20)} {
		form.Set("keywords", wrong)
		h.post("/calls/new", "/calls", form, http.StatusUnprocessableEntity, `id="fault-keywords">must`)
	}
}

// TestPlaceWithoutRecordings checks that the form shows a fault if it requests a recording from a server that makes none.
func TestPlaceWithoutRecordings(t *testing.T) {
	t.Parallel()
	h := open(t, func(c *call.Config) { c.Recordings = nil })
	h.post("/calls/new", "/calls", url.Values{"phone_number": {"+14155550123"}, "task": {"Talk."}, "record": {"true"}},
		http.StatusUnprocessableEntity, `id="fault-record">this server records no calls`, ">Talk.</textarea>", `<option value="true" selected>`)
}

// TestCallAgain checks that the form contains the values of a repeated call, and lists the settings that it cannot represent.
func TestCallAgain(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.call("c1", func(c *call.Call) {
		c.Agent = agents.Agent{
			Pathway: agents.PathwayRef{ID: "p1"}, MaxDuration: 90 * time.Second, Tools: []json.RawMessage{[]byte("{}")}, TransferTo: "+14155550199",
			Webhook: "https://example.com/secret-hook",
		}
		c.Plan.Retry, c.RequestData = &call.Retry{Wait: time.Minute}, map[string]any{"name": "Robin & <i>"}
	})
	h.call("c2", func(c *call.Call) {
		c.Agent = agents.Agent{Pathway: agents.PathwayRef{ID: "p1", Version: pathway.Selector{Environment: pathway.Staging}}}
	})
	h.call("c3", func(c *call.Call) {
		c.Agent = agents.Agent{PersonaID: "p2", PersonaVersion: 3, Task: "Talk.", Tools: []json.RawMessage{[]byte("{}")}}
	})
	const lost = "the tools, the transfer number, the webhook, the retry."
	h.want(http.StatusOK, "/calls/new?again=c1", "<title>Place a call again", "<h1>Place a call again", `name="pathway_version" value="0"`, `name="max_duration" value="1.5"`,
		"&#34;name&#34;: &#34;Robin &amp; &lt;i&gt;&#34;", "Not carried over from the call that is made again: "+lost, "!secret-hook",
		`name="record" ><option value="" selected>Use the agent&#39;s setting</option><option value="true">Yes</option><option value="false">`)
	h.want(http.StatusOK, "/calls/new?again=c2", `name="pathway_version" value="staging"`, "!Not carried over")
	h.want(http.StatusOK, "/calls/new?again=c3", `name="persona_id" value="p2"`, `name="pathway_version" value=""`, "the version of the persona", "!the tools", "!Talk.")
	h.post("/calls/new", "/calls", url.Values{"phone_number": {"12"}, "again": {"c1"}, "missing": {lost}},
		http.StatusUnprocessableEntity, "<h1>Place a call again", "Not carried over from the call that is made again: "+lost)
}

// TestPlaceWithSound checks that the form sets the voice settings, the pronunciations and the background, shows them when the call is
// repeated, and refuses invalid values.
func TestPlaceWithSound(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.post("/calls/new", "/calls", url.Values{
		"phone_number": {"+14155550123"}, "task": {"Talk."}, "voice_settings.speed": {"1,2"}, "background_track": {"cafe"},
		"pronunciation_guide": {"Nguyen = win\r\n\r\nAPI=A P I|case | inside"},
	}, http.StatusOK, "The call was placed.")
	found, _, err := h.calls.List(t.Context(), org, call.Filter{})
	if err != nil || len(found.Items) != 1 {
		t.Fatalf("%d calls were placed, %v", len(found.Items), err)
	}
	id := found.Items[0].ID
	a := must(h.calls.Get(t.Context(), org, id)).Agent
	want := []agents.Pronunciation{{Word: "Nguyen", Spoken: "win"}, {Word: "API", Spoken: "A P I", CaseSensitive: true, Inside: true}}
	if a.VoiceSettings != `{"speed":1.2}` || a.Background != "cafe" || !slices.Equal(a.Pronunciation, want) {
		t.Errorf("agent %+v", a)
	}
	again := "/calls/new?again=" + id
	h.want(http.StatusOK, again, "Nguyen = win\nAPI = A P I | case | inside")
	h.want(http.StatusOK, again, `name="voice_settings.speed" value="1.2"`)
	h.want(http.StatusOK, again, `<option value="cafe" selected>`)
	for name, wrong := range map[string]string{"voice_settings.speed": "9", "pronunciation_guide": "Nguyen win", "background_track": "street"} {
		h.post("/calls/new", "/calls", url.Values{"phone_number": {"+14155550123"}, "task": {"Talk."}, name: {wrong}},
			http.StatusUnprocessableEntity, `must`)
	}
}
