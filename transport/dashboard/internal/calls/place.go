package calls

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/transport/dashboard/internal/agentform"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
	"github.com/callwright/callwright/transport/dashboard/internal/turnlog"
)

// form contains the values of the form that places a call. Its fields have the names of the API.
type form struct {
	Values map[string]string // as typed
	Faults page.Faults
	Limits string // limits of the tasks that the server's model can follow; empty if there are none
}

// formFields lists the fields of the form, without those of its conversation section. The last two fields are hidden. They contain the id of the call to repeat, and the settings of
// that call that the form cannot represent.
var formFields = []string{
	"phone_number", "from", "task", "pathway_id", "pathway_version", "persona_id", "brain_url", "agent_id", "first_sentence", "voice", "language", "max_duration",
	"record", "wait_for_greeting", "request_data", "again", "missing",
}

// Title returns the heading of the page.
func (f form) Title() string {
	if f.Values["again"] != "" {
		return "Place a call again"
	}
	return "Place a call"
}

// Conversation returns the section of the form with the conversation settings.
func (f form) Conversation() agentform.Section {
	return agentform.Call.Section(f.Values, f.Faults)
}

// view returns the page with the form.
func (p pages) view(f form, status int) *page.View {
	f.Limits = p.cfg.Calls.TaskLimits()
	return &page.View{Page: "new", Title: f.Title(), Status: status, Data: f}
}

// form shows the form. Query parameters may fill in fields, or name a call to repeat.
func (p pages) form(ctx context.Context, r *page.Request) (page.Answer, error) {
	if id := r.Query("again"); id != "" {
		c, err := p.cfg.Calls.Record(ctx, r.Org(), id)
		if err != nil {
			return nil, err
		}
		f, err := again(c)
		return p.view(f, http.StatusOK), err
	}
	f := form{Values: map[string]string{}}
	for _, name := range []string{"phone_number", "from", "pathway_id", "pathway_version", "persona_id", "agent_id"} {
		f.Values[name] = callwright.Clip(r.Query(name), 100)
	}
	return p.view(f, http.StatusOK), nil
}

// again returns a form that repeats a call. It omits the task if the call had a persona or a pathway.
func again(c call.Call) (form, error) {
	a := c.Agent
	data, err := turnlog.JSON(c.RequestData)
	f := form{Values: map[string]string{
		"again": c.ID, "missing": strings.Join(missing(c), ", "),
		"phone_number": c.To, "from": c.From, "pathway_id": a.Pathway.ID, "persona_id": a.PersonaID, "brain_url": a.Brain, "first_sentence": a.FirstSentence,
		"voice": a.Voice, "language": a.Language, "request_data": data,
		"record": chosen(a.Record, c), "wait_for_greeting": chosen(a.WaitForGreeting, c),
	}}
	if a.MaxDuration != 0 {
		f.Values["max_duration"] = strconv.FormatFloat(a.MaxDuration.Minutes(), 'f', -1, 64)
	}
	if plan := c.Plan.Voicemail; plan.Action != "" { // takes precedence over the agent
		a.Machines.Voicemail, a.Machines.VoicemailMessage = plan.Action, plan.Message
	}
	agentform.Call.Fill(f.Values, a)
	if version := a.Pathway.Version; a.Pathway.ID != "" {
		f.Values["pathway_version"] = cmp.Or(string(version.Environment), strconv.Itoa(version.Number))
	}
	if a.PersonaID == "" && a.Pathway.ID == "" {
		f.Values["task"] = a.Task
	}
	return f, err
}

// chosen returns the value of a form field for a setting of a repeated call. It is empty, which means the agent's default, if the setting
// is off and the call has no persona that could turn it on.
func chosen(on bool, c call.Call) string {
	if !on && c.Agent.PersonaID == "" {
		return ""
	}
	return strconv.FormatBool(on)
}

// missing returns descriptions of a call's settings that the form cannot represent. It omits settings that the persona provides again.
func missing(c call.Call) (names []string) {
	a, p := c.Agent, c.Plan
	alone := a.PersonaID == ""
	for _, setting := range []struct {
		name string
		set  bool
	}{
		{"the start node", a.Pathway.StartNode != ""},
		{"the version of the persona (that in production leads the call)", !alone},
		{"the personality", alone && a.Persona != ""},
		{"the tools", alone && len(a.Tools) > 0},
		{"the model", a.Model != "" || a.Fallback != ""},
		{"the temperature", a.Temperature != nil},
		{"the transfer number", a.TransferTo != ""},
		{"the dynamic data", len(a.DynamicData) > 0},
		{"the webhook", a.Webhook != ""},
		{"the retry", p.Retry != nil},
		{"the prompt of the summary", p.SummaryPrompt != ""},
		{"the dispositions", len(p.Dispositions) > 0},
		{"the metadata", len(c.Metadata) > 0},
	} {
		if setting.set {
			names = append(names, setting.name)
		}
	}
	return names
}

// place places a call, or shows the form again with its faults.
func (p pages) place(ctx context.Context, r *page.Request) (page.Answer, error) {
	f := form{Values: map[string]string{}}
	for _, name := range formFields {
		f.Values[name] = r.Field(name)
	}
	agentform.Call.Read(r, f.Values)
	request, err := f.request()
	if err == nil {
		var c call.Call
		if c, err = p.cfg.Calls.Create(ctx, r.Org(), request); err == nil {
			return page.SeeOther{To: page.Path("/calls", c.ID), Notice: "The call was placed."}, nil
		}
	}
	var ok bool
	if f.Faults, ok = agentform.Faults(err, nil, slices.Concat(formFields, agentform.Call.Fields())...); !ok {
		return nil, err
	}
	return p.view(f, http.StatusUnprocessableEntity), nil
}

// request converts the form to a request. An invalid value causes CodeBadRequest with the name of the field.
func (f form) request() (call.Request, error) {
	r := call.Request{AgentID: f.Values["agent_id"]}
	var err error
	if r.Overrides, err = agentform.Call.Patch(f.Values, agents.Agent{}); err != nil {
		return r, err
	}
	for name, number := range map[string]*string{"phone_number": &r.To, "from": &r.From} {
		*number = callwright.TypedNumber(f.Values[name])
	}
	for name, setting := range map[string]*callwright.Optional[string]{
		"task": &r.Overrides.Task, "pathway_id": &r.Overrides.Pathway, "persona_id": &r.Overrides.PersonaID, "brain_url": &r.Overrides.Brain, "first_sentence": &r.Overrides.FirstSentence,
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
	for name, setting := range map[string]*callwright.Optional[bool]{"record": &r.Overrides.Record, "wait_for_greeting": &r.Overrides.WaitForGreeting} {
		if value := f.Values[name]; value != "" {
			yes, err := strconv.ParseBool(value)
			if err != nil {
				return r, callwright.Invalid(name, "must be true or false")
			}
			*setting = callwright.Given(yes)
		}
	}
	if value := f.Values["max_duration"]; value != "" {
		n, err := strconv.ParseFloat(strings.Replace(value, ",", ".", 1), 64)
		if err != nil || !(n >= 0.1 && n <= 1e6) {
			return r, callwright.Invalid("max_duration", "must be a number of minutes from 0.1 to 720, such as 10")
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

// LongestMinutes returns the maximum duration of a call, in minutes.
func (form) LongestMinutes() int { return int(agents.LongestCall.Minutes()) }
