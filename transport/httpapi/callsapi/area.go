package callsapi

import (
	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/transport/httpapi"
	oas "github.com/callwright/callwright/transport/oas/callsoas"
)

// Config configures the area.
type Config struct {
	Calls *call.Service // if nil, the operations answer 501
	URL   string        // public URL of the server, without a trailing slash
}

// api implements the operations of the area.
type api struct {
	oas.UnimplementedHandler
	cfg Config
}

// New returns the area of calls and recordings.
func New(c Config) httpapi.Area {
	return httpapi.Area{
		Area:   oas.Area(&api{cfg: c}),
		Absent: func(string) bool { return c.Calls == nil },
		Names: map[string]map[callwright.Code]string{
			oas.GetRecordingOperation: {callwright.CodeNotFound: "CALL_RECORDING_NOT_FOUND"},
		},
	}
}
