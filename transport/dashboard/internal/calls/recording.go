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

// recording is the data of a recording on the page of a call.
type recording struct {
	Audio   bool          // it can be heard
	Why     string        // it cannot be heard, or not be drawn
	Busy    bool          // it can be drawn later
	Picture template.HTML // its waveform; empty: there is none
}

// recordingOf returns the recording of a call, with some lines of the transcript in its waveform.
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

// picture draws a wave with lines of the transcript.
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

// lineAnchor returns the link to a line.
func lineAnchor(seq int) string { return "#line-" + strconv.Itoa(seq) }

// unheard says why the recording of a call cannot be heard.
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

// recording sends the recording, or the range of it that the browser asks for.
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
