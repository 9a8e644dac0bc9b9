package httpapi

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/go-faster/jx"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/transport/oas"
)

// setting is one thing that the body of an update changes.
type setting struct {
	given map[string]json.Marshaler // the members that say so, as they were given
	set   func(*agents.WebAgent)
	fault string // why it can't be made; empty: set makes it
}

// isAbout says whether a path, such as tools[0].url, leads to one of the setting's members.
func (s setting) isAbout(path string) bool {
	name, _, _ := strings.Cut(path, ".")
	name, _, _ = strings.Cut(name, "[")
	_, ok := s.given[name]
	return ok
}

// settings are what the body of an update changes, in the order in which it is made.
type settings []setting

// add adds a setting of one member, if it is given.
func (s *settings) add(given bool, name string, value json.Marshaler, set func(*agents.WebAgent)) {
	if given {
		*s = append(*s, setting{given: map[string]json.Marshaler{name: value}, set: set})
	}
}

// refuse adds a setting that can't be made, if it is given.
func (s *settings) refuse(given bool, name, fault string) {
	if given {
		*s = append(*s, setting{given: map[string]json.Marshaler{name: nil}, fault: fault})
	}
}

func (s *settings) text(name string, given oas.OptNilString, target func(*call.Agent) *string) {
	s.add(given.Set, name, given, func(w *agents.WebAgent) { *target(&w.Agent) = given.Value })
}

func (s *settings) flag(name string, given oas.OptBool, target func(*call.Agent) *bool) {
	s.add(given.Set, name, given, func(w *agents.WebAgent) { *target(&w.Agent) = given.Value })
}

// leader adds what leads the conversation. A prompt and a pathway exclude each other: setting one clears the other.
// A pathway and its version are one setting, and so are a prompt and the pathway that makes room for it. lead has a pathway
// lead the agent.
func (s *settings) leader(
	prompt, id oas.OptNilString, version oas.OptNilPathwayVersionSelector,
	lead func(*call.Agent, call.PathwayRef),
) {
	selector := selectorOf(version.Get())
	given := map[string]json.Marshaler{}
	if id.Set {
		given["pathway_id"] = id
	}
	if version.Set {
		given["pathway_version"] = version
	}
	switch {
	case id.Value != "":
		*s = append(*s, setting{given: given, set: func(w *agents.WebAgent) {
			lead(&w.Agent, call.PathwayRef{ID: id.Value, Version: selector})
		}})
		s.refuse(prompt.Set && prompt.Value != "", "prompt", "prompt and pathway_id exclude each other")
		return
	case prompt.Value != "":
		given["prompt"] = prompt
		*s = append(*s, setting{given: given, set: func(w *agents.WebAgent) {
			w.Agent.Task, w.Agent.Pathway = prompt.Value, call.PathwayRef{}
		}})
		return
	case id.Set:
		*s = append(*s, setting{given: given, set: func(w *agents.WebAgent) { w.Agent.Pathway = call.PathwayRef{} }})
	default:
		s.add(version.Set, "pathway_version", version, func(w *agents.WebAgent) {
			if w.Agent.Pathway.ID != "" || !version.Null {
				w.Agent.Pathway.Version = selector
			}
		})
	}
	s.add(prompt.Set, "prompt", prompt, func(w *agents.WebAgent) { w.Agent.Task = "" })
}

// commonSettings are members that web agents and inbound numbers have alike, and that are no texts.
type commonSettings struct {
	dynamicData               oas.OptNilDynamicDataList
	tools                     oas.OptNilAgentTools
	temperature, interruption oas.OptNilFloat64
	maxDuration               oas.OptFloat64
}

func (s *settings) common(c commonSettings) {
	s.add(c.dynamicData.Set, "dynamic_data", c.dynamicData, func(w *agents.WebAgent) {
		w.Agent.DynamicData = dynamicData(c.dynamicData)
	})
	s.add(c.tools.Set, "tools", c.tools, func(w *agents.WebAgent) { w.Agent.Tools = toolTexts(c.tools) })
	s.add(c.temperature.Set, "temperature", c.temperature, func(w *agents.WebAgent) {
		w.Agent.Temperature = optional(c.temperature.Get())
	})
	s.add(c.interruption.Set, "interruption_threshold", c.interruption, func(w *agents.WebAgent) {
		w.Agent.Interruption = fromMillis(c.interruption.Get())
	})
	s.add(c.maxDuration.Set, "max_duration", c.maxDuration, func(w *agents.WebAgent) {
		w.Agent.MaxDuration = minutes(c.maxDuration.Value)
	})
}

// refusesSetting are the codes of errors that one setting causes. Any other ends the whole update.
var refusesSetting = map[callwright.Code]bool{
	callwright.CodeBadRequest: true, callwright.CodeNotFound: true, callwright.CodeInvalidState: true,
}

// make makes the settings on w one after the other, each only if check has nothing against what comes out, and reports
// on all. What was at fault before, such as a pathway that somebody has deleted, keeps no other setting from being made.
func (s settings) make(w *agents.WebAgent, check func(*agents.WebAgent) error, report *oas.UpdateReply) error {
	for _, one := range s {
		changed, fault := *w, one.fault
		if fault == "" {
			one.set(&changed)
			err := check(&changed)
			f := failureOf(err)
			switch {
			case err == nil, !one.isAbout(f.lines[0].path) && err.Error() == faultOf(*w, check):
				*w = changed
			case refusesSetting[f.code]:
				fault = f.lines[0].text
			default:
				return err
			}
		}
		for name, value := range one.given {
			if fault != "" {
				report.FailedUpdates[name] = fault
				continue
			}
			text, err := value.MarshalJSON()
			if err != nil {
				return err
			}
			report.Updates[name] = jx.Raw(text)
		}
	}
	return nil
}

// faultOf is what check has against w; empty when it has nothing.
func faultOf(w agents.WebAgent, check func(*agents.WebAgent) error) string {
	if err := check(&w); err != nil {
		return err.Error()
	}
	return ""
}

// checkAgent fills in an agent's defaults and refuses one that could not take calls. Its language stays as it was given.
func (a *api) checkAgent(ctx context.Context, agent *call.Agent) error {
	if a.Calls == nil {
		return nil
	}
	given := agent.Language
	agent.Language = languageTag(given)
	err := a.Calls.CheckAgent(ctx, orgOf(ctx), agent)
	agent.Language = given
	return err
}

// updated is a report without any settings.
func updated(message string) *oas.UpdateReply {
	return &oas.UpdateReply{
		Status: oas.SuccessStatusSuccess, Message: message,
		Updates: oas.UpdateReplyUpdates{}, FailedUpdates: oas.UpdateReplyFailedUpdates{},
	}
}
