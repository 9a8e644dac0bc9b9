package agents

import (
	"strings"

	"github.com/callwright/callwright"
)

// MaxBrain is the maximum length of Agent.Brain in characters.
const MaxBrain = 2048

var errBrainExcludes = callwright.Invalid(string(SettingBrain), "excludes task, pathway_id and persona_id: set only one of them")

// checkBrain refuses a brain together with another leader, and a URL that is too long or has a fragment. A fragment is never sent to the
// service, and may be a secret that was put into the wrong place.
func (a Agent) checkBrain(found *faultList) {
	if a.Brain != "" && (a.Task != "" || a.Pathway.ID != "" || a.PersonaID != "") {
		found.add(errBrainExcludes)
	}
	found.addIf(callwright.Longer(a.Brain, MaxBrain), string(SettingBrain), "must have at most %d characters", MaxBrain)
	found.addIf(strings.Contains(a.Brain, "#"), string(SettingBrain), "must not have a fragment (#): it would not be sent to the service")
}

// brainChanges returns the changes of a patch that sets or clears the brain. others reports whether the patch also sets another leader, which
// is refused. A brain replaces the other leaders of the agent.
func (p Patch) brainChanges(others bool) []change {
	url := p.Brain.OrZero()
	switch {
	case !p.Brain.Set:
		return nil
	case url == "":
		return []change{{[]Setting{SettingBrain}, func(w *WebAgent) { w.Agent.Brain = "" }, nil}}
	case others:
		return []change{{[]Setting{SettingBrain}, nil, errBrainExcludes}}
	}
	cleared, refused := p.withoutPathway()
	for _, s := range []struct {
		name  Setting
		given bool
	}{{SettingTask, p.Task.Set}, {SettingPersonaID, p.PersonaID.Set}} {
		if s.given {
			cleared = append(cleared, s.name)
		}
	}
	lead := change{append(cleared, SettingBrain), func(w *WebAgent) {
		w.Agent.Task, w.Agent.Pathway, w.Agent.PersonaID, w.Agent.Brain = "", PathwayRef{}, "", url
	}, nil}
	return append([]change{lead}, refused...)
}
