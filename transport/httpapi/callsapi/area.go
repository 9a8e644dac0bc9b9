package callsapi

import (
	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/transport/httpapi"
	oas "github.com/callwright/callwright/transport/oas/callsoas"
)

// Config configures the area.
type Config struct {
	Calls *call.Service // nil: the operations answer 501
	URL   string        // of this server as clients see it, without a slash at its end
}

// api implements the operations of the area.
type api struct {
	oas.UnimplementedHandler
	cfg Config
}

// New makes the area.
func New(c Config) httpapi.Area {
	return httpapi.Area{
		Area:   oas.Area(&api{cfg: c}),
		Absent: func(string) bool { return c.Calls == nil },
		Names: map[string]map[callwright.Code]string{
			oas.GetRecordingOperation: {callwright.CodeNotFound: "CALL_RECORDING_NOT_FOUND"},
		},
	}
}
