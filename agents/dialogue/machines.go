package dialogue

import (
	"slices"
	"strings"

	"github.com/callwright/callwright"
)

// MachineAction selects the reaction of a placed call to a machine that answered.
type MachineAction string

// The reactions to machines.
const (
	MachineIgnore    MachineAction = "ignore"        // continue as with a person
	MachineHangup    MachineAction = "hangup"        // end the call
	MachineMessage   MachineAction = "leave_message" // wait for the tone, leave the message, and end the call
	MachineIntroduce MachineAction = "introduce"     // say the message, and wait for a person
)

// Machines configures the reactions of placed calls to machines that answer. If an action is empty, the default in its comment applies.
// Messages may contain {{variables}}.
type Machines struct {
	Voicemail        MachineAction // an answering machine: MachineIgnore (default), MachineHangup or MachineMessage
	VoicemailMessage string        // text for MachineMessage
	IVR              MachineAction // a menu: MachineIgnore (default), so that the agent answers or presses keys, or MachineHangup
	Screening        MachineAction // call screening: MachineIgnore (default), MachineHangup or MachineIntroduce
	ScreeningMessage string        // text for MachineIntroduce: who calls, and why
	Announcement     MachineAction // a recording of the network: MachineHangup (default) or MachineIgnore
	Fax              MachineAction // a fax machine: MachineHangup (default) or MachineIgnore
}

// MaxMachineMessage is the maximum number of characters in a message of Machines.
const MaxMachineMessage = 2000

// Check returns CodeBadRequest for the first invalid setting, whose name is in the form of the API and begins with the given prefix.
func (m Machines) Check(prefix string) error {
	for _, s := range []struct {
		name    string
		action  MachineAction
		allowed []MachineAction
	}{
		{"voicemail", m.Voicemail, []MachineAction{MachineIgnore, MachineHangup, MachineMessage}},
		{"ivr", m.IVR, []MachineAction{MachineIgnore, MachineHangup}},
		{"screening", m.Screening, []MachineAction{MachineIgnore, MachineHangup, MachineIntroduce}},
		{"announcement", m.Announcement, []MachineAction{MachineIgnore, MachineHangup}},
		{"fax", m.Fax, []MachineAction{MachineIgnore, MachineHangup}},
	} {
		if s.action != "" && !slices.Contains(s.allowed, s.action) {
			return callwright.Invalid(prefix+s.name, "must be one of %v", s.allowed)
		}
	}
	for _, s := range []struct {
		name, text string
		required   bool
	}{
		{"voicemail_message", m.VoicemailMessage, m.Voicemail == MachineMessage},
		{"screening_message", m.ScreeningMessage, m.Screening == MachineIntroduce},
	} {
		if s.required && strings.TrimSpace(s.text) == "" {
			return callwright.Invalid(prefix+s.name, "is required for this action")
		}
		if callwright.Longer(s.text, MaxMachineMessage) {
			return callwright.Invalid(prefix+s.name, "must have at most %d characters", MaxMachineMessage)
		}
	}
	return nil
}
