package calls

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/transport/dashboard/page"
)

// form is the form that places a call. Its fields are named as those of the API.
type form struct {
	Values map[string]string // as they were typed
	Faults page.Faults
}

// formFields are the fields of the form.
var formFields = []string{
	"phone_number", "from", "task", "pathway_id", "pathway_version", "persona_id", "agent_id", "first_sentence", "voice", "language", "max_duration",
	"record", "wait_for_greeting", "request_data",
}

// form shows the form. The address may fill in the numbers and who leads the conversation, or name a call to be made again.
func (p pages) form(ctx context.Context, r *page.Request) (page.Answer, error) {
	if id := r.Query("again"); id != "" {
		c, err := p.cfg.Calls.Record(ctx, r.Org(), id)
		if err != nil {
			return nil, err
		}
		return &page.View{Page: "new", Title: "Place a call again", Data: again(c)}, nil
	}
	f := form{Values: map[string]string{"record": "on"}}
	for _, name := range []string{"phone_number", "from", "pathway_id", "pathway_version", "persona_id", "agent_id"} {
		f.Values[name] = callwright.Clip(r.Query(name), 100)
	}
	return &page.View{Page: "new", Title: "Place a call", Data: f}, nil
}

// again returns the form of a call like one that was made. A persona and a pathway take the place of the task.
func again(c call.Call) form {
	f := form{Values: map[string]string{
		"phone_number": c.To, "from": c.From, "pathway_id": c.Agent.Pathway.ID, "persona_id": c.Agent.PersonaID,
		"first_sentence": c.Agent.FirstSentence, "voice": c.Agent.Voice, "language": c.Agent.Language,
	}}
	if c.Agent.PersonaID == "" && c.Agent.Pathway.ID == "" {
		f.Values["task"] = c.Agent.Task
	}
	for name, set := range map[string]bool{"record": c.Agent.Record, "wait_for_greeting": c.Agent.WaitForGreeting} {
		if set {
			f.Values[name] = "on"
		}
	}
	return f
}

// place places a call, or shows the form again with what is wrong in it.
func (p pages) place(ctx context.Context, r *page.Request) (page.Answer, error) {
	f := form{Values: map[string]string{}}
	for _, name := range formFields {
		f.Values[name] = r.Field(name)
	}
	request, err := f.request()
	if err == nil {
		var c call.Call
		if c, err = p.cfg.Calls.Create(ctx, r.Org(), request); err == nil {
			return page.SeeOther{To: page.Path("/calls", c.ID), Notice: "The call is queued."}, nil
		}
	}
	var ok bool
	if f.Faults, ok = f.faultsOf(err); !ok {
		return nil, err
	}
	return &page.View{Page: "new", Title: "Place a call", Status: http.StatusUnprocessableEntity, Data: f}, nil
}

// faultsOf returns what an error says about the form, and whether a person can mend it there, such as the id of an absent persona.
func (f form) faultsOf(err error) (page.Faults, bool) {
	faults, ok := page.FaultsOf(err, nil)
	if e, coded := errors.AsType[*callwright.Error](err); coded && e.Code == callwright.CodeNotFound && e.Field != "" {
		faults, ok = page.Faults{e.Field: e.Message}, true
	}
	for field := range faults { // a fault of a field that the form lacks belongs to the whole form
		if _, known := f.Values[field]; !known && field != "" {
			faults = page.Faults{"": field + ": " + faults[field]}
		}
	}
	return faults, ok
}

// request translates the form.
func (f form) request() (call.Request, error) {
	r := call.Request{From: f.Values["from"], To: f.Values["phone_number"], AgentID: f.Values["agent_id"]}
	for name, setting := range map[string]*callwright.Optional[string]{
		"task": &r.Overrides.Task, "pathway_id": &r.Overrides.Pathway, "persona_id": &r.Overrides.PersonaID, "first_sentence": &r.Overrides.FirstSentence,
		"voice": &r.Overrides.Voice, "language": &r.Overrides.Language,
	} {
		if value := f.Values[name]; value != "" {
			*setting = callwright.Given(value)
		}
	}
	if value := f.Values["pathway_version"]; value != "" {
		version := pathway.Selector{Environment: pathway.Environment(value)}
		if n, err := strconv.Atoi(value); err == nil {
			version = pathway.Selector{Number: n}
		}
		r.Overrides.PathwayVersion = callwright.Given(version)
	}
	r.Overrides.Record = callwright.Given(f.Values["record"] != "")
	r.Overrides.WaitForGreeting = callwright.Given(f.Values["wait_for_greeting"] != "")
	if value := f.Values["max_duration"]; value != "" {
		n, err := strconv.ParseFloat(strings.Replace(value, ",", ".", 1), 64)
		if err != nil || !(n > 0 && n <= 1e6) {
			return r, callwright.Invalid("max_duration", "must be a number of minutes, such as 10")
		}
		r.Overrides.MaxDuration = callwright.Given(time.Duration(n * float64(time.Minute)))
	}
	if value := f.Values["request_data"]; value != "" {
		if err := json.Unmarshal([]byte(value), &r.RequestData); err != nil {
			return r, callwright.Invalid("request_data", `must be a JSON object, such as {"name": "Robin"}`)
		}
	}
	return r, nil
}

// LongestMinutes returns the most that a call may last.
func (form) LongestMinutes() int { return int(agents.LongestCall.Minutes()) }
