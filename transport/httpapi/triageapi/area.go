package triageapi

import (
	"github.com/callwright/callwright/transport/httpapi"
	oas "github.com/callwright/callwright/transport/oas/triageoas"
	"github.com/callwright/callwright/triage"
)

// Config names the service of the area. Without it the operations answer 501.
type Config struct{ Issues *triage.Service }

// api implements the operations of the area.
type api struct {
	oas.UnimplementedHandler
	cfg Config
}

// New makes the area.
func New(c Config) httpapi.Area {
	return httpapi.Area{Area: oas.Area(&api{cfg: c}), Absent: func(string) bool { return c.Issues == nil }, LowerCase: true}
}
