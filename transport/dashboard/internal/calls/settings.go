package calls

import (
	"cmp"

	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/transport/dashboard/internal/agentform"
)

// settings contains the conversation settings that apply to a call.
type settings struct {
	Rows []settingRow
	Set  int // number of the rows that are not defaults
}

// settingRow is a setting that applies to a call, in plain words.
type settingRow struct {
	Label, Name, Value string
	From               string // object that has the value
	Default            bool
}

// sources maps the sources of settings to plain words.
var sources = map[agents.Source]string{
	agents.SourceCall: "this call", agents.SourceAgent: "the web agent", agents.SourceNumber: "the inbound number",
	agents.SourcePersona: "the persona", agents.SourceDefault: "default", "": "not known",
}

// settingsOf returns the settings of a call, followed by those of the nodes that the logs contain.
func settingsOf(c call.Call, logs []pathway.Log) (list settings) {
	for _, s := range c.Settings(logs) {
		row := settingRow{Name: s.Name, From: sources[s.Source], Default: s.Source == agents.SourceDefault}
		if row.Label, row.Value = agentform.Describe(s.Name, s.Value); s.Source == agents.SourceNode {
			row.From = "the node " + cmp.Or(s.NodeName, s.Node)
		}
		if !row.Default {
			list.Set++
		}
		list.Rows = append(list.Rows, row)
	}
	return list
}
