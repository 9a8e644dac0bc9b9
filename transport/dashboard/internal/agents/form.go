package agents

import (
	"context"
	"maps"
	"net/http"
	"strconv"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/transport/dashboard/internal/agentform"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// form contains the data of a page that creates or changes an object.
type form struct {
	Title     string
	Path      string // page or action of the object; for a new one, of the list
	List      string // path of the list
	ListTitle string
	Warnings  []string // faults of the object, as sentences
	Notes     []string // facts about the object, as sentences
	Save      string   // text of the button
	Version   int64    // stored version on which the form is based; 0 for a new object
	Call      string   // path of the form that places a call with the object; may be empty
	Actions   []action
	WebAgents []agentform.Option // web agents whose settings can be copied to the object

	Fields       []agentform.Shown
	Conversation agentform.Section
	Faults       page.Faults
}

// action is a button below a form.
type action struct {
	Path, Text string
	Ask        string // question before the action; empty means none
	Danger     bool
}

// show renders a form with values, as typed. own are the fields that precede those of the object.
func (p pages) show(
	ctx context.Context, r *page.Request, f form, object agentform.Object, values map[string]string, own ...agentform.Field,
) (page.Answer, error) {
	choices, err := p.choices(ctx, r.Org())
	if err != nil {
		return nil, err
	}
	for _, field := range own {
		f.Fields = append(f.Fields, agentform.Shown{Field: field, Value: values[field.Name], Faults: f.Faults})
	}
	f.Fields = append(f.Fields, object.General(values, f.Faults, choices)...)
	f.Conversation = object.Section(values, f.Faults)
	view := &page.View{Page: "form", Title: f.Title, Data: f}
	if len(f.Faults) > 0 {
		view.Status = http.StatusUnprocessableEntity
	}
	return view, nil
}

// renamed maps settings to the names of their fields, where they differ.
var renamed = map[string]string{"task": "prompt", "background": "background_track"}

// version returns the stored version on which a form is based.
func version(r *page.Request) int64 {
	n, _ := strconv.ParseInt(r.Field("version"), 10, 64)
	return n
}

// faultsOf returns the faults of a report's refused settings. It returns an error if the user cannot correct one.
func faultsOf(report agents.Report, fields []string) (page.Faults, error) {
	all := page.Faults{}
	for _, refusal := range report {
		if refusal == nil {
			continue
		}
		faults, ok := agentform.Faults(refusal, renamed, fields...)
		if !ok {
			return nil, refusal
		}
		maps.Copy(all, faults)
	}
	return all, nil
}

// leader describes what leads the conversations of an agent, or returns an empty text if nothing does.
func leader(a agents.Agent) string {
	switch {
	case a.PersonaID != "":
		return "a persona"
	case a.Pathway.ID != "":
		return "a pathway"
	case a.Brain != "":
		return "a service"
	case a.Task != "":
		return callwright.Clip(a.Task, 120)
	}
	return ""
}
