package agents

import "github.com/callwright/callwright/agents/dialogue"

type (
	// Machines is the type of Agent.Machines.
	Machines = dialogue.Machines
	// MachineAction is the type of the actions in Machines.
	MachineAction = dialogue.MachineAction
)

// The reactions to machines: see package dialogue.
const (
	MachineIgnore    = dialogue.MachineIgnore
	MachineHangup    = dialogue.MachineHangup
	MachineMessage   = dialogue.MachineMessage
	MachineIntroduce = dialogue.MachineIntroduce
)

// MaxMachineMessage is the maximum number of characters in a message of Machines.
const MaxMachineMessage = dialogue.MaxMachineMessage
