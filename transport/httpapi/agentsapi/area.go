package agentsapi

import (
	"strings"

	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/persona"
	"github.com/callwright/callwright/transport/httpapi"
	oas "github.com/callwright/callwright/transport/oas/agentsoas"
)

// Config names the services of the area. The operations of a service that is nil answer 501.
type Config struct {
	Agents   *agents.Service
	Personas *persona.Service
}

// api implements the operations of the area.
type api struct {
	oas.UnimplementedHandler
	cfg Config
}

// New makes the area.
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
