package call

import (
	"maps"
	"slices"

	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/pathway"
)

// Settings returns the conversation settings that apply to the call, with the default of each setting that no object has set: see
// agents.Agent.Effective. The settings of the visited nodes that the logs contain follow, with their nodes, in the order of the first visits.
// They apply while the node speaks and listens.
func (c Call) Settings(logs []pathway.Log) []agents.EffectiveSetting {
	agent := c.Agent
	if v := c.Plan.Voicemail; v.Action != "" {
		agent.Machines.Voicemail, agent.Machines.VoicemailMessage = v.Action, v.Message
	}
	all := agent.Effective(c.Inbound)
	for i, s := range all {
		if c.Plan.Voicemail.Action != "" && (s.Name == "machines.voicemail" || s.Name == "machines.voicemail_message") {
			all[i].Source = agents.SourceCall
		}
	}
	seen := map[string]bool{}
	for _, l := range logs {
		for _, e := range l.Entries {
			if len(e.Settings) == 0 || seen[e.Node] {
				continue
			}
			seen[e.Node] = true
			for _, name := range slices.Sorted(maps.Keys(e.Settings)) {
				all = append(all, agents.EffectiveSetting{Name: name, Value: e.Settings[name], Source: agents.SourceNode, Node: e.Node, NodeName: e.Name})
			}
		}
	}
	return all
}
