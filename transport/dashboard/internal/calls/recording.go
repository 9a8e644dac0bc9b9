package calls

import (
	"context"
	"errors"
	"html/template"
	"net/http"
	"strconv"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/transport/dashboard/internal/chart"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// recording contains the data of a recording on the page of a call.
type recording struct {
	Audio   bool          // the recording can be played
	Why     string        // why it cannot be played or drawn
	Busy    bool          // the waveform may be drawn later
	Picture template.HTML // the waveform; empty if it cannot be drawn
}

// recordingOf returns the recording of a call. Its waveform marks the given lines of the transcript.
func (p pages) recordingOf(ctx context.Context, c call.Call, lines []call.Entry) (recording, error) {
	if !c.Recorded || !c.Queue.Ended() {
		return recording{Why: unheard(c)}, nil
	}
	w, err := p.waves.get(ctx, c.Org, c.ID)
	switch {
	case errors.Is(err, callwright.ErrNotFound):
		return recording{Why: "The recording is no longer there."}, nil
	case errors.Is(err, callwright.ErrUnsupportedMedia):
		return recording{Audio: true, Why: "The waveform cannot be drawn: " + callwright.MessageOf(err) + "."}, nil
	case errors.Is(err, errWavesBusy):
		return recording{Audio: true, Busy: true, Why: "The waveform is missing: too many others are being drawn."}, nil
	case err != nil:
		return recording{}, err
	}
	return recording{Audio: true, Picture: w.picture(lines)}, nil
}

// picture returns the waveform as SVG, with lines of the transcript as regions.
func (w wave) picture(lines []call.Entry) template.HTML {
	picture := chart.Waveform{ID: "wave", Title: "Recording", Duration: w.Duration, Channels: []chart.Channel{
		{Name: "Other side", Peaks: w.Caller}, {Name: "Agent", Peaks: w.Agent},
	}}
	for _, e := range lines {
		r := chart.Region{Start: e.Start, End: e.End, Label: callwright.Clip(e.Text, 60), Href: lineAnchor(e.Seq)}
		switch e.Speaker {
		case call.SpeakerUser:
		case call.SpeakerAssistant:
			r.Channel = 1
		default:
			continue
		}
		picture.Regions = append(picture.Regions, r)
	}
	return picture.SVG()
}

// lineAnchor returns the fragment of a line's URL.
func lineAnchor(seq int) string { return "#line-" + strconv.Itoa(seq) }

// unheard describes why the recording of a call cannot be played.
func unheard(c call.Call) string {
	switch {
	case !c.Agent.Record:
		return "This call is not recorded: neither its agent nor whoever placed it asked for a recording."
	case !c.Queue.Ended():
		return "The recording can be heard when the call has ended."
	case c.StartedAt == nil:
		return "There is no recording, because nobody answered this call."
	}
	return "There is no recording, although the agent's settings ask for one: the server could not write it, and its log says why."
}

// recording sends the recording, or the requested range of it.
func (p pages) recording(ctx context.Context, r *page.Request) (page.Answer, error) {
	file, err := p.cfg.Calls.Recording(ctx, r.Org(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return page.Content{Close: file.Close, Send: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "audio/wav")
		http.ServeContent(w, r, "", time.Time{}, file)
	}}, nil
}
