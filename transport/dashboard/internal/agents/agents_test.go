package agents_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentstore"
	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/dialogue"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agents/persona"
	"github.com/callwright/callwright/transport/dashboard"
	"github.com/callwright/callwright/transport/dashboard/pagetest"
)

const org = callwright.OrgID("org")

// somebody is an Authenticator that accepts every request.
type somebody struct{}

func (somebody) Authenticate(*http.Request) (callwright.Principal, error) {
	return callwright.Principal{Org: org, KeyID: "key-1"}, nil
}

// house is the dashboard of an organization with a pathway and the inbound number +14155550100.
type house struct {
	*httptest.Server
	t        *testing.T
	agents   *agents.Service
	personas *persona.Service
	pathway  string // id of the pathway
	client   *http.Client
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func open(t *testing.T) *house {
	t.Helper()
	store := memstore.New()
	h := &house{t: t, client: &http.Client{Transport: new(http.Transport), Jar: must(cookiejar.New(nil))}}
	pathways := must(pathway.New(pathway.Config{
		Store: agentstore.Pathways{Store: store}, Chats: agentstore.Chats{Store: store}, Atomic: store, Work: memstore.NewWork(store, nil),
		Gate: &agentstest.Gate{}, Interpreter: &pathway.Interpreter{Model: scripted.New()},
	}))
	h.pathway = must(pathways.Create(t.Context(), org, pathway.Draft{Name: "Bookings"})).ID
	bye := graph.Document{Nodes: []json.RawMessage{json.RawMessage(`{"id":"bye","type":"End Call","data":{"name":"Bye","isStart":true,"text":"Goodbye."}}`)}}
	version := must(pathways.StoreVersion(t.Context(), org, h.pathway, "One", bye)).Number
	must(pathways.Publish(t.Context(), org, h.pathway, pathway.Publication{Number: version}))
	h.personas = must(persona.New(persona.Config{Store: agentstore.Personas{Store: store}, Atomic: store}))
	h.agents = must(agents.New(agents.Config{
		Numbers: agentstore.Numbers{Store: store}, WebAgents: agentstore.WebAgents{Store: store}, Atomic: store, Personas: h.personas, Pathways: pathways,
	}))
	if err := h.agents.RegisterInbound(t.Context(), org, "+14155550100"); err != nil {
		t.Fatal(err)
	}
	site := must(dashboard.New(dashboard.Config{Authenticator: somebody{}, Agents: h.agents, Personas: h.personas, Pathways: pathways}))
	t.Cleanup(func() { _ = site.Close(t.Context()) })
	h.Server = httptest.NewServer(site)
	t.Cleanup(h.Close)
	return h
}

// want requests a page, checks its status and its texts, and returns it. The page must not contain texts that begin with "!".
func (h *house) want(status int, path string, texts ...string) string {
	h.t.Helper()
	return h.check(pagetest.Send(h.t, h.client, h.URL+path, nil), status, path, texts...)
}

func (h *house) check(r pagetest.Answer, status int, path string, texts ...string) string {
	h.t.Helper()
	body := strings.ReplaceAll(r.Body, "&#43;", "+")
	if r.Status != status {
		h.t.Errorf("%s: %d, want %d\n%s", path, r.Status, status, body)
	}
	for _, text := range texts {
		if absent, ok := strings.CutPrefix(text, "!"); ok == strings.Contains(body, absent) {
			h.t.Errorf("%s: %q\n%s", path, text, body)
		}
	}
	return body
}

// field matches the fields of a form: a hidden or visible input, a selected option, and a text of several lines.
var field = regexp.MustCompile(`<input (?:type="hidden" name="(\w+)" value="([^"]*)"|id="[^"]+" name="([^"]+)" value="([^"]*)")|<select id="[^"]+" name="([^"]+)".*?</select>|<textarea id="[^"]+" name="([^"]+)"[^>]*>\n([^<]*)</textarea>`)

var selected = regexp.MustCompile(`<option value="([^"]*)" selected>`)

// values returns the values that a browser sends for the main form of a page.
func (h *house) values(path string) url.Values {
	h.t.Helper()
	form := url.Values{}
	body := h.want(http.StatusOK, path)
	fields, _, _ := strings.Cut(body, `<button class="main">`)
	for _, m := range field.FindAllStringSubmatch(fields, -1) {
		switch {
		case m[1] != "":
			form.Set(m[1], m[2])
		case m[3] != "":
			form.Set(m[3], m[4])
		case m[5] != "":
			form.Set(m[5], "")
			if s := selected.FindStringSubmatch(m[0]); s != nil {
				form.Set(m[5], s[1])
			}
		default:
			form.Set(m[6], strings.ReplaceAll(m[7], "\n", "\r\n"))
		}
	}
	return form
}

// fill changes fields of a form, which must exist.
func (h *house) fill(form url.Values, fields map[string]string) {
	h.t.Helper()
	for name, value := range fields {
		if !form.Has(name) {
			h.t.Errorf("the form has no field %s", name)
		}
		form.Set(name, value)
	}
}

// send sends a form, and checks the resulting page.
func (h *house) send(path string, form url.Values, status int, texts ...string) pagetest.Answer {
	h.t.Helper()
	a := pagetest.Send(h.t, h.client, h.URL+path, form)
	h.check(a, status, path, texts...)
	return a
}

// spoken contains values for all conversation settings that web agents, personas and numbers have in common.
var spoken = map[string]string{
	"interruptibility": "1", "interruption_threshold": "350", "min_endpointing_delay": "450,5", "max_endpointing_delay": "4000",
	"idle.after": "12.5", "idle.times": "0", "idle.prompt": "Hello?", "idle.goodbye": "Bye.", "idle.filler_after": "0", "idle.filler": "Hm.",
	"voice_settings.speed": "1.2", "voice_settings.pitch": "0.9", "pronunciation_guide": "Nguyen = win\r\nAPI = A P I | case | inside",
	"background_track": "cafe",
}

// speaks returns an agent with the settings of spoken.
func speaks() agents.Agent {
	return agents.Agent{
		Interruptibility: new(1), Interruption: new(350 * time.Millisecond), LeastWait: 450500 * time.Microsecond, LongestWait: 4 * time.Second,
		Idle: &dialogue.Idle{
			After: new(12500 * time.Millisecond), Times: new(0), Prompt: "Hello?", Goodbye: "Bye.", FillerAfter: new(time.Duration(0)), Filler: "Hm.",
		},
		VoiceSettings: `{"pitch":0.9,"speed":1.2}`, Background: "cafe",
		Pronunciation: []agents.Pronunciation{{Word: "Nguyen", Spoken: "win"}, {Word: "API", Spoken: "A P I", CaseSensitive: true, Inside: true}},
	}
}

// reacts contains values for the reactions to machines.
var reacts = map[string]string{
	"machines.voicemail": "leave_message", "machines.voicemail_message": "Call us,\r\nplease.", "machines.ivr": "hangup",
	"machines.screening": "introduce", "machines.screening_message": "Ada.", "machines.announcement": "ignore", "machines.fax": "ignore",
}

// reactions returns the settings of reacts.
func reactions() agents.Machines {
	return agents.Machines{
		Voicemail: agents.MachineMessage, VoicemailMessage: "Call us,\nplease.", IVR: agents.MachineHangup, Screening: agents.MachineIntroduce,
		ScreeningMessage: "Ada.", Announcement: agents.MachineIgnore, Fax: agents.MachineIgnore,
	}
}

// same checks an agent.
func same(t *testing.T, got, want agents.Agent) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the agent is\n%+v, want\n%+v", got, want)
	}
}

// unchanged sends the form of a page as it is, and checks with get that nothing has changed.
func (h *house) unchanged(path string, get func() any) {
	h.t.Helper()
	before := get()
	h.send(path, h.values(path), http.StatusOK, "saved")
	if after := get(); !reflect.DeepEqual(before, after) {
		h.t.Errorf("%s: sent unchanged, it makes\n%+v of\n%+v", path, after, before)
	}
}

// TestWebAgent creates a web agent with every setting, reads it back, and clears its settings.
func TestWebAgent(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.want(http.StatusOK, "/agents", "There are no web agents")
	form := h.values("/agents/new")
	h.fill(form, map[string]string{"prompt": "Talk.", "first_sentence": "Hello.", "language": "en", "temperature": "0.5", "max_duration": "1.5", "keywords": "Ada, Robin:2"})
	h.fill(form, spoken)
	h.fill(form, reacts)
	form.Set("idle.times", "11")
	h.send("/agents", form, http.StatusUnprocessableEntity, `id="fault-idle-times">must be from 0 to 10`, `<details id="conversation" open>`, "\nTalk.</textarea>")
	form.Set("idle.times", "0")
	h.send("/agents", form, http.StatusOK, "The web agent is created.")
	one := must(h.agents.ListAgents(t.Context(), org, callwright.Keyset{}, 0)).Items[0]
	want := speaks()
	want.Task, want.FirstSentence, want.Language, want.Temperature, want.MaxDuration = "Talk.", "Hello.", "en", new(0.5), 90*time.Second
	want.Keywords, want.Machines = []string{"Ada", "Robin:2"}, reactions()
	same(t, one.Agent, want)
	path := "/agents/web/" + one.ID
	h.want(http.StatusOK, "/agents", one.ID, "Talk.")
	h.unchanged(path, func() any { return must(h.agents.Agent(t.Context(), org, one.ID)).Agent })
	form = h.values(path)
	for name := range form {
		if name != "csrf" && name != "version" && name != "prompt" {
			form.Set(name, "")
		}
	}
	h.send(path, form, http.StatusOK, "The web agent is saved.", `<details id="conversation"><summary>`)
	same(t, must(h.agents.Agent(t.Context(), org, one.ID)).Agent, agents.Agent{Task: "Talk.", MaxDuration: agents.DefaultMaxDuration})
	form = h.values(path)
	form.Set("pathway_id", h.pathway)
	form.Set("prompt", "Talk more.")
	h.send(path, form, http.StatusUnprocessableEntity, `id="fault-prompt">excludes pathway_id`)
	form.Set("prompt", "Talk.")
	h.send(path, form, http.StatusOK, "The web agent is saved.", `selected>Bookings</option>`)
	if a := must(h.agents.Agent(t.Context(), org, one.ID)).Agent; a.Task != "" || a.Pathway.ID != h.pathway || a.Pathway.Version.Environment != pathway.Production {
		t.Errorf("the pathway does not lead: %+v", a)
	}
	h.send(path+"/delete", form, http.StatusOK, "The web agent is deleted.")
	h.want(http.StatusNotFound, path)
}

// TestWhole checks that a form with a fault changes nothing, and that settings that the form does not show stay unchanged.
func TestWhole(t *testing.T) {
	t.Parallel()
	h := open(t)
	one := must(h.agents.CreateAgent(t.Context(), org, agents.WebAgent{Agent: agents.Agent{Task: "Talk.", VoiceSettings: `{"stability":0.5}`}}))
	path := "/agents/web/" + one.ID
	form := h.values(path)
	h.fill(form, map[string]string{"first_sentence": "Hello.", "interruptibility": "9", "voice_settings.speed": "1.1"})
	h.send(path, form, http.StatusUnprocessableEntity, `id="fault-interruptibility">must be from 0`, `value="Hello."`)
	same(t, must(h.agents.Agent(t.Context(), org, one.ID)).Agent, one.Agent)
	form.Set("interruptibility", "3")
	h.send(path, form, http.StatusOK, "The web agent is saved.")
	want := one.Agent
	want.FirstSentence, want.Interruptibility, want.VoiceSettings = "Hello.", new(3), `{"speed":1.1,"stability":0.5}`
	same(t, must(h.agents.Agent(t.Context(), org, one.ID)).Agent, want)
	h.want(http.StatusOK, path, "oice_settings.stability has no effect")
}

// TestNumber sets every setting of an inbound number, and reads it back.
func TestNumber(t *testing.T) {
	t.Parallel()
	h := open(t)
	const path = "/agents/numbers/+14155550100"
	h.want(http.StatusOK, "/agents/numbers", `href="/agents/numbers/+14155550100"`, "nothing: its calls are refused")
	if _, report, err := h.agents.UpdateInbound(t.Context(), org, "+14155550100", agents.Patch{Pathway: callwright.Given("absent")}); err != nil || len(report) != 1 {
		t.Fatal(report, err)
	}
	h.want(http.StatusOK, path, "nothing can answer its calls", "pathway_id pathway not found")
	form := h.values(path)
	h.fill(form, map[string]string{
		"prompt": "Answer.", "persona": "Calm.", "first_sentence": "Hello.", "wait_for_greeting": "true", "language": "eng", "model": "base",
		"temperature": "0", "record": "true", "max_duration": "5", "transfer_phone_number": "+1 415 555 0199",
	})
	h.fill(form, spoken)
	h.send(path, form, http.StatusOK, "The settings are saved.")
	get := func() agents.Agent { return must(h.agents.Inbound(t.Context(), org, "+14155550100")).Agent }
	want := speaks()
	want.Task, want.Persona, want.FirstSentence, want.WaitForGreeting, want.Language, want.Model = "Answer.", "Calm.", "Hello.", true, "en", "base"
	want.Temperature, want.Record, want.MaxDuration, want.TransferTo = new(0.0), true, 5*time.Minute, "+14155550199"
	same(t, get(), want)
	h.unchanged(path, func() any { return get() })
	desk := must(h.personas.Create(t.Context(), org, persona.Persona{Name: "Desk"}, persona.Version{Orchestration: "Book."}))
	form = h.values(path)
	h.fill(form, map[string]string{"prompt": "", "persona_id": desk.Persona.ID})
	h.send(path, form, http.StatusOK, "The settings are saved.", `selected>Desk</option>`)
	if a := get(); a.Task != "" || a.PersonaID != desk.Persona.ID {
		t.Errorf("the persona does not lead: %+v", a)
	}
	h.want(http.StatusNotFound, "/agents/numbers/+14155550199")
}

// TestCopyAgent copies a web agent, which the form offers by its leader, to a number.
func TestCopyAgent(t *testing.T) {
	t.Parallel()
	h := open(t)
	const path = "/agents/numbers/+14155550100"
	h.want(http.StatusOK, path, "!Copy a web agent")
	stored := speaks()
	stored.Task, stored.FirstSentence, stored.Keywords = "Take orders for the bakery.", "Good morning.", []string{"Acme"}
	web := must(h.agents.CreateAgent(t.Context(), org, agents.WebAgent{Agent: stored}))
	h.want(http.StatusOK, path, "Copy a web agent", ">Take orders for the bakery. ("+web.ID+")<")
	form := h.values(path)
	send := func(id string, status int, want ...string) {
		t.Helper()
		h.send(path+"/copy", url.Values{"csrf": form["csrf"], "version": form["version"], "agent_id": {id}}, status, want...)
	}
	send("absent", http.StatusUnprocessableEntity, "agent not found")
	send("", http.StatusUnprocessableEntity, "is required")
	send(web.ID, http.StatusOK, "The settings of the web agent are copied.")
	got := must(h.agents.Inbound(t.Context(), org, "+14155550100")).Agent
	want := web.Agent
	want.Keywords, want.Machines = nil, agents.Machines{}
	same(t, got, want)
	send(web.ID, http.StatusUnprocessableEntity, "the settings were changed after you read them")
}

// TestPersona creates a persona with every setting, changes its draft, and puts it into production.
func TestPersona(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.want(http.StatusOK, "/agents/personas", "There are no personas")
	form := h.values("/agents/personas/new")
	h.fill(form, map[string]string{
		"name": "Front desk", "role": "Receptionist", "description": "Books.", "tags": "clinic, day", "image_url": "https://example.com/a.png",
		"orchestration_prompt": "Book.", "personality_prompt": "Calm.", "language": "en", "record": "true", "wait_for_greeting": "true", "max_duration": "5",
	})
	h.fill(form, spoken)
	h.fill(form, reacts)
	form.Set("image_url", "ftp://example.com")
	form.Set("idle.times", "11")
	h.send("/agents/personas", form, http.StatusUnprocessableEntity, `id="fault-image_url">`, `id="fault-idle-times">`)
	form.Set("image_url", "https://example.com/a.png")
	form.Set("idle.times", "0")
	h.send("/agents/personas", form, http.StatusOK, "The persona is created.", "Version 1 is in production")
	one := must(h.personas.List(t.Context(), org, 1, 0))[0]
	s := speaks()
	want := persona.CallConfig{
		Record: true, Language: "en", Background: "cafe", MaxDuration: 5 * time.Minute, WaitForGreeting: true, Interruption: s.Interruption,
		Interruptibility: s.Interruptibility, LeastWait: s.LeastWait, LongestWait: s.LongestWait, Idle: s.Idle, VoiceSettings: s.VoiceSettings,
		Pronunciation: s.Pronunciation, Machines: reactions(),
	}
	if v := *one.Production; !reflect.DeepEqual(v.Call, want) || v.Orchestration != "Book." || v.Personality != "Calm." || len(one.Persona.Tags) != 2 {
		t.Errorf("the persona is %+v with %+v", one.Persona, v)
	}
	path := "/agents/personas/" + one.Persona.ID
	h.want(http.StatusOK, "/agents/personas", "Front desk", "version 1 in production")
	form = h.values(path)
	h.fill(form, map[string]string{"background_track": "none", "role": "Host"})
	h.send(path, form, http.StatusOK, "The persona is saved.", "this page shows the draft, version 2", "Put the draft into production")
	want.Background = ""
	got := must(h.personas.Get(t.Context(), org, one.Persona.ID))
	if got.Persona.Role != "Host" || !reflect.DeepEqual(got.Draft.Call, want) || got.Production.Call.Background != "cafe" {
		t.Errorf("the persona is %+v with the draft %+v", got.Persona, got.Draft)
	}
	h.unchanged(path, func() any {
		r := must(h.personas.Get(t.Context(), org, one.Persona.ID))
		return fmt.Sprint(r.Persona.Role, r.Draft.Call.Background, r.Draft.Orchestration, r.Production.Number)
	})
	h.send(path+"/promote", h.values(path), http.StatusOK, "The draft is in production.", "Version 2 is in production", "!Put the draft")
	h.send(path+"/delete", h.values(path), http.StatusOK, "The persona is deleted.")
	h.want(http.StatusNotFound, path)
}

// TestTwoPeople checks that a form changes nothing if somebody has changed the object meanwhile, and replaces the settings when it is sent
// again.
func TestTwoPeople(t *testing.T) {
	t.Parallel()
	h := open(t)
	agent := must(h.agents.CreateAgent(t.Context(), org, agents.WebAgent{Agent: agents.Agent{Task: "Talk."}}))
	desk := must(h.personas.Create(t.Context(), org, persona.Persona{Name: "Desk"}, persona.Version{Orchestration: "Book."}))
	for path, field := range map[string]string{
		"/agents/web/" + agent.ID: "first_sentence", "/agents/numbers/+14155550100": "first_sentence", "/agents/personas/" + desk.Persona.ID: "role",
	} {
		mine, theirs := h.values(path), h.values(path)
		mine.Set(field, "Mine.")
		theirs.Set(field, "Theirs.")
		h.send(path, theirs, http.StatusOK, "saved")
		refused := h.send(path, mine, http.StatusUnprocessableEntity, "after you read", `value="Mine."`)
		h.want(http.StatusOK, path, `value="Theirs."`)
		mine.Set("version", regexp.MustCompile(`name="version" value="(\d+)"`).FindStringSubmatch(refused.Body)[1])
		h.send(path, mine, http.StatusOK, "saved", `value="Mine."`)
	}
}
