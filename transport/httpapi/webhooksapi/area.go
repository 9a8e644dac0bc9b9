package webhooksapi

import (
	"github.com/callwright/callwright/delivery"
	"github.com/callwright/callwright/transport/httpapi"
	oas "github.com/callwright/callwright/transport/oas/webhooksoas"
)

// Config holds the log of the area. If Deliveries is nil, the operations answer 501.
type Config struct{ Deliveries *delivery.Log }

// api implements the operations of the area.
type api struct {
	oas.UnimplementedHandler
	cfg Config
}

// New returns the area of paused webhook hosts.
func New(c Config) httpapi.Area {
	return httpapi.Area{Area: oas.Area(&api{cfg: c}), Absent: func(string) bool { return c.Deliveries == nil }}
}
