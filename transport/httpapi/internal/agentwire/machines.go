package agentwire

import (
	"encoding/json"

	"github.com/callwright/callwright/agents"
)

// machines contains the reactions to machines in the JSON of the contract.
type machines struct {
	Voicemail        agents.MachineAction `json:"voicemail,omitempty"`
	VoicemailMessage string               `json:"voicemail_message,omitempty"`
	IVR              agents.MachineAction `json:"ivr,omitempty"`
	Screening        agents.MachineAction `json:"screening,omitempty"`
	ScreeningMessage string               `json:"screening_message,omitempty"`
	Announcement     agents.MachineAction `json:"announcement,omitempty"`
	Fax              agents.MachineAction `json:"fax,omitempty"`
}

// Machines translates the generated reactions to machines.
func Machines(given json.Marshaler) (agents.Machines, error) {
	text, err := given.MarshalJSON()
	if err != nil {
		return agents.Machines{}, err
	}
	var m machines
	err = json.Unmarshal(text, &m)
	return agents.Machines(m), err
}

// MachineOptions translates the reactions to machines to the generated type. set is false if they are the defaults.
func MachineOptions[L any, P interface {
	*L
	json.Unmarshaler
}](m agents.Machines) (generated L, set bool, err error) {
	if m == (agents.Machines{}) {
		return generated, false, nil
	}
	text, err := json.Marshal(machines(m))
	if err != nil {
		return generated, false, err
	}
	return generated, true, P(&generated).UnmarshalJSON(text)
}
