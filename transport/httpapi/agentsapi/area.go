package agentsapi

import (
	"strings"

	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/persona"
	"github.com/callwright/callwright/transport/httpapi"
	oas "github.com/callwright/callwright/transport/oas/agentsoas"
)

// Config holds the services of the area. If a service is nil, its operations answer 501.
type Config struct {
	Agents   *agents.Service
	Personas *persona.Service
}

// api implements the operations of the area.
type api struct {
	oas.UnimplementedHandler
	cfg Config
}

// New returns the area of web agents, inbound numbers and personas.
func New(c Config) httpapi.Area {
	return httpapi.Area{Area: oas.Area(&api{cfg: c}), Absent: c.absent}
}

// absent reports whether an operation has no service.
func (c Config) absent(operation string) bool {
	if strings.Contains(operation, "Persona") {
		return c.Personas == nil
	}
	return c.Agents == nil
}
