package agenttestapi

import (
	"strings"

	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/tornado"
	"github.com/callwright/callwright/transport/httpapi"
	oas "github.com/callwright/callwright/transport/oas/agenttestoas"
)

// Config holds the services of the area. If a service is nil, its operations answer 501.
type Config struct {
	Tests    *agenttest.Service
	Tornados *tornado.Service
}

// api implements the operations of the area.
type api struct {
	oas.UnimplementedHandler
	cfg Config
}

// New returns the area of agent testing.
func New(c Config) httpapi.Area {
	a := &api{cfg: c}
	return httpapi.Area{
		Area: oas.Area(a),
		Absent: func(operation string) bool {
			if strings.Contains(operation, "Tornado") {
				return c.Tornados == nil
			}
			return c.Tests == nil
		},
	}
}
