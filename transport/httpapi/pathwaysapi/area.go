package pathwaysapi

import (
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/transport/httpapi"
	oas "github.com/callwright/callwright/transport/oas/pathwaysoas"
)

// Config holds the service of the area. If Pathways is nil, the operations answer 501.
type Config struct{ Pathways *pathway.Service }

// api implements the operations of the area.
type api struct {
	oas.UnimplementedHandler
	cfg Config
}

// New returns the area of pathways.
func New(c Config) httpapi.Area {
	return httpapi.Area{Area: oas.Area(&api{cfg: c}), Absent: func(string) bool { return c.Pathways == nil }}
}
