package openai

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/internal/engine"
	"github.com/callwright/callwright/internal/engine/chat"
	"github.com/callwright/callwright/internal/engine/session"
	"github.com/callwright/callwright/speech/pcm"
)

// Realtime recognizes speech over the WebSocket of the realtime interface. It implements conversation.Streamer and conversation.Recognizer.
type Realtime struct{ client *Client }

var (
	_ conversation.Recognizer  = (*Realtime)(nil)
	_ conversation.Streamer    = (*Realtime)(nil)
	_ conversation.KeywordUser = (*Realtime)(nil)
)

// Realtime returns a recognizer that uses the realtime interface of the service with Config.Transcription. Other services with this
// interface must accept mu-law, and the messages of its general availability.
func (c *Client) Realtime() *Realtime { return &Realtime{c} }

// UsesKeywords returns true: keywords are sent as a prompt.
func (*Realtime) UsesKeywords() bool { return true }

// Listen recognizes one utterance in a session of its own.
func (r *Realtime) Listen(ctx context.Context, h conversation.Hearing) (conversation.Utterance, error) {
	return session.Listen(ctx, h, r)
}

// realtimeRate is the sample rate of mu-law in samples per second.
const realtimeRate = 8000

// Open starts a session. Its errors are those of session.Dial.
func (r *Realtime) Open(ctx context.Context, h conversation.Hearing) (conversation.Stream, error) {
	header := http.Header{}
	r.client.service.Authorize(header)
	u := r.client.service.URL("realtime")
	q := u.Query()
	q.Set("intent", "transcription")
	u.RawQuery = q.Encode()
	p := &realtime{model: r.client.config.Transcription}
	return session.Open(ctx, session.Endpoint{URL: u.String(), Header: header, Client: r.client.service.Client}, p, h, session.Config{Rate: realtimeRate}, p.update(h))
}

// realtime is the protocol of a transcription session. The end of an utterance commits its audio as an item, whose transcription may be
// complete after that of a later item.
type realtime struct {
	model string
	items []string          // committed and not ended, oldest first
	whole map[string]string // texts of the completed ones
	part  map[string]string // texts so far of the others
	last  string            // the newest item that has ended
	mulaw []byte            // buffer of Audio
}

// update returns the message that sets the model, the language and the hints.
func (p *realtime) update(h conversation.Hearing) session.Message {
	transcription := map[string]any{"model": p.model}
	if language := engine.Language(h.Language); language != "" {
		transcription["language"] = language
	}
	if prompt := promptOf(append(append([]string{}, h.Keywords...), h.Phrases...)); prompt != "" {
		transcription["prompt"] = prompt
	}
	return textOf(map[string]any{"type": "session.update", "session": map[string]any{
		"type": "transcription",
		"audio": map[string]any{"input": map[string]any{
			"format": map[string]any{"type": "audio/pcmu"}, "transcription": transcription, "turn_detection": nil,
		}},
	}})
}

// textOf returns a message with a JSON value.
func textOf(value any) session.Message {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err) // the values consist of texts and maps
	}
	return session.Message{Text: true, Data: data}
}

// Audio returns mu-law in base64.
func (p *realtime) Audio(dst []byte, samples []int16) session.Message {
	dst = append(dst, `{"type":"input_audio_buffer.append","audio":"`...)
	p.mulaw = pcm.AppendMuLaw(p.mulaw[:0], samples)
	dst = base64.StdEncoding.AppendEncode(dst, p.mulaw)
	return session.Message{Text: true, Data: append(dst, `"}`...)}
}

// Force commits the audio.
func (*realtime) Force() []session.Message {
	return []session.Message{textOf(map[string]any{"type": "input_audio_buffer.commit"})}
}

// Tune changes the hints.
func (p *realtime) Tune(h conversation.Hearing) []session.Message {
	return []session.Message{p.update(h)}
}

// Idle returns nil: the connection's own pings keep it alive.
func (*realtime) Idle() []session.Message { return nil }

// Receive parses an event of the service. An utterance that the service fails to transcribe has no words.
func (p *realtime) Receive(m session.Message) ([]session.Event, error) {
	var r struct {
		Type       string `json:"type"`
		Item       string `json:"item_id"`
		Delta      string `json:"delta"`
		Transcript string `json:"transcript"`
		Error      struct {
			Code chat.Word `json:"code"`
		} `json:"error"`
	}
	if json.Unmarshal(m.Data, &r) != nil {
		return nil, nil //nolint:nilerr // unknown messages are no error
	}
	const transcription = "conversation.item.input_audio_transcription."
	switch r.Type {
	case "input_audio_buffer.committed":
		if r.Item != p.last && !slices.Contains(p.items, r.Item) {
			p.items = append(p.items, r.Item)
		}
	case transcription + "delta":
		if r.Item == "" || r.Item == p.last {
			return nil, nil
		}
		p.part = with(p.part, r.Item, p.part[r.Item]+r.Delta)
		if len(p.items) == 0 || p.items[0] == r.Item {
			return []session.Event{{Text: p.part[r.Item]}}, nil
		}
	case transcription + "completed", transcription + "failed":
		if r.Item == p.last {
			return nil, nil
		}
		p.whole = with(p.whole, r.Item, r.Transcript)
		return p.ended(), nil
	case "error":
		if r.Error.Code == "input_audio_buffer_commit_empty" {
			return []session.Event{{Segment: true, Done: true}}, nil
		}
		return nil, callwright.Errorf(callwright.CodeUnavailable, "the speech service ended the session with an error")
	}
	return nil, nil
}

// with sets an entry of a map, which may be nil.
func with(m map[string]string, key, value string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}

// ended returns the ends of the oldest items, as far as they are complete.
func (p *realtime) ended() (events []session.Event) {
	for len(p.items) > 0 {
		text, complete := p.whole[p.items[0]]
		if !complete {
			return events
		}
		delete(p.whole, p.items[0])
		delete(p.part, p.items[0])
		p.last, p.items = p.items[0], p.items[1:]
		events = append(events, session.Event{Text: text, Segment: true, Done: true})
	}
	return events
}
