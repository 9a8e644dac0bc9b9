package calls

import (
	"cmp"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
)

// machineFields lists the form's fields for the reactions to machines. They have the names of the settings' errors.
var machineFields = []string{
	"machines.voicemail", "machines.voicemail_message", "machines.ivr", "machines.screening", "machines.screening_message",
	"machines.announcement", "machines.fax",
}

// machines returns the reactions to machines in the form. It is not Set if the form contains none.
func (f form) machines() callwright.Optional[agents.Machines] {
	action := func(name string) agents.MachineAction { return agents.MachineAction(f.Values["machines."+name]) }
	m := agents.Machines{
		Voicemail: action("voicemail"), VoicemailMessage: f.Values["machines.voicemail_message"], IVR: action("ivr"),
		Screening: action("screening"), ScreeningMessage: f.Values["machines.screening_message"], Announcement: action("announcement"), Fax: action("fax"),
	}
	if m == (agents.Machines{}) {
		return callwright.Optional[agents.Machines]{}
	}
	return callwright.Given(m)
}

// fillMachines sets the fields for the reactions to machines of a call that is repeated. The call's plan takes precedence over its agent.
func (f form) fillMachines(c call.Call) {
	m := c.Agent.Machines
	if plan := c.Plan.Voicemail; plan.Action != "" {
		m.Voicemail, m.VoicemailMessage = plan.Action, plan.Message
	}
	for i, value := range []string{
		string(m.Voicemail), m.VoicemailMessage, string(m.IVR), string(m.Screening), m.ScreeningMessage, string(m.Announcement), string(m.Fax),
	} {
		f.Values[machineFields[i]] = value
	}
}

// reactionsTo returns the options for one kind of machine.
func reactionsTo(actions ...agents.MachineAction) func() []option {
	texts := map[agents.MachineAction]string{
		agents.MachineIgnore: "Go on as with a person", agents.MachineHangup: "Hang up", agents.MachineMessage: "Leave the message below",
		agents.MachineIntroduce: "Say the words below, and wait for a person",
	}
	return func() []option {
		all := []option{{"", "Use the agent's setting"}}
		for _, a := range actions {
			all = append(all, option{string(a), cmp.Or(texts[a], string(a))})
		}
		return all
	}
}
