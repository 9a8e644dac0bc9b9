package triageapi

import (
	"github.com/callwright/callwright/transport/httpapi"
	oas "github.com/callwright/callwright/transport/oas/triageoas"
	"github.com/callwright/callwright/triage"
)

// Config holds the service of the area. If Issues is nil, the operations answer 501.
type Config struct{ Issues *triage.Service }

// api implements the operations of the area.
type api struct {
	oas.UnimplementedHandler
	cfg Config
}

// New returns the area of issues.
func New(c Config) httpapi.Area {
	return httpapi.Area{Area: oas.Area(&api{cfg: c}), Absent: func(string) bool { return c.Issues == nil }, LowerCase: true}
}
