package calls

import (
	"context"
	"net/http"
	"time"

	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/transport/dashboard/page"
)

// recording is what the page of a call says of its recording.
type recording struct {
	Audio bool   // it can be heard
	Why   string // it cannot be heard
}

// recordingOf says whether the recording of a call can be heard.
func recordingOf(c call.Call) recording {
	switch {
	case c.Recorded && c.Queue.Ended():
		return recording{Audio: true}
	case !c.Agent.Record:
		return recording{Why: "This call is not recorded: recording is off in the settings of its agent."}
	case !c.Queue.Ended():
		return recording{Why: "The recording can be heard when the call has ended."}
	case c.StartedAt == nil:
		return recording{Why: "There is no recording, because nobody answered this call."}
	}
	return recording{Why: "There is no recording, although the agent's settings ask for one: the server could not write it, and its log says why."}
}

// recording sends the recording, or the range of it that the browser asks for.
func (p pages) recording(ctx context.Context, r *page.Request) (page.Answer, error) {
	file, err := p.cfg.Calls.Recording(ctx, r.Org(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return page.Content(func(w http.ResponseWriter, r *http.Request) {
		defer func() { _ = file.Close() }()
		w.Header().Set("Content-Type", "audio/wav")
		w.Header().Set("Cache-Control", "private, no-store")
		http.ServeContent(w, r, "", time.Time{}, file)
	}), nil
}
