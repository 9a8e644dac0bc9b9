package cartesia

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/callwright/callwright/internal/engine"
	"github.com/callwright/callwright/internal/engine/session"
	"github.com/callwright/callwright/internal/engine/talk"
	"github.com/callwright/callwright/speech/tts"
)

// The limits of the factor of the tempo.
const (
	slowest = 0.6
	fastest = 1.5
)

// protocol is the protocol of the TTS WebSocket.
type protocol struct {
	request request // of all pieces
	decoder talk.Decoder
	words   []talk.Word
	reply   reply // the last message, whose memory the next one reuses
}

// reply is a message of the service.
type reply struct {
	Type    talk.Raw   `json:"type"`
	Context talk.Raw   `json:"context_id"`
	Data    talk.Raw   `json:"data"`
	Words   timestamps `json:"word_timestamps"`
	Status  int        `json:"status_code"`
	Code    string     `json:"error_code"`
}

// timestamps are the places of words, in seconds.
type timestamps struct {
	Words  []string  `json:"words"`
	Starts []float64 `json:"start"`
	Ends   []float64 `json:"end"`
}

// request is a generation request.
type request struct {
	Context    string  `json:"context_id"`
	Model      string  `json:"model_id"`
	Transcript string  `json:"transcript"`
	Voice      string  `json:"voice"`
	Format     format  `json:"output_format"`
	Language   string  `json:"language,omitempty"`
	Continue   bool    `json:"continue"`
	Flush      bool    `json:"flush,omitempty"`
	MaxDelay   int     `json:"max_buffer_delay_ms"`
	Timestamps bool    `json:"add_timestamps"`
	Generation *config `json:"generation_config,omitempty"`
}

type format struct {
	Container string `json:"container"`
	Encoding  string `json:"encoding"`
	Rate      int    `json:"sample_rate"`
}

type config struct {
	Speed float64 `json:"speed"`
}

func (s *Synthesizer) newProtocol(r tts.Request, muLaw bool, rate int) *protocol {
	p := &protocol{decoder: talk.Decoder{MuLaw: muLaw}, request: request{
		Model: s.vendor.Model, Voice: cmp.Or(r.Voice, s.voice), Format: format{"raw", "pcm_s16le", rate}, Timestamps: true,
	}}
	if muLaw {
		p.request.Format.Encoding = "pcm_mulaw"
	}
	if r.Language != "" {
		p.request.Language = engine.Language(r.Language)
	}
	if tempo := r.Prosody.Tempo; tempo != 0 {
		p.request.Generation = &config{Speed: min(max(tempo, slowest), fastest)}
	}
	return p
}

// message returns a request of a context.
func (p *protocol) message(number int, transcript string, more, flush bool) session.Message {
	r := p.request
	r.Context, r.Transcript, r.Continue, r.Flush = talk.ContextID(number), transcript, more, flush
	return talk.JSON(r)
}

// Say flushes each piece, so that the service reports its end. A flush is a request without a text.
func (p *protocol) Say(number int, _ bool, text string) []session.Message {
	return []session.Message{p.message(number, text+" ", true, false), p.message(number, "", true, true)}
}

// End sends a request that is not continued.
func (p *protocol) End(number int) []session.Message {
	return []session.Message{p.message(number, "", false, false)}
}

// Cancel cancels the context. Audio that the service is making still arrives.
func (p *protocol) Cancel(number int) []session.Message {
	return []session.Message{talk.JSON(struct {
		Context string `json:"context_id"`
		Cancel  bool   `json:"cancel"`
	}{talk.ContextID(number), true})}
}

// Receive parses a message of the service.
func (p *protocol) Receive(m session.Message) (talk.Event, error) {
	r := &p.reply
	*r = reply{Words: timestamps{r.Words.Words[:0], r.Words.Starts[:0], r.Words.Ends[:0]}}
	if !m.Text || json.Unmarshal(m.Data, r) != nil {
		return talk.Event{Context: -1}, nil //nolint:nilerr // unknown messages are no error
	}
	e := talk.Event{Context: r.Context.Context()}
	switch {
	case r.Type.IsText("chunk"):
		var err error
		e.Audio, err = p.decoder.Base64(e.Context, r.Data)
		return e, err
	case r.Type.IsText("timestamps"):
		if w := r.Words; len(w.Words) == len(w.Starts) && len(w.Words) == len(w.Ends) {
			p.words = p.words[:0]
			for i, text := range w.Words {
				p.words = append(p.words, talk.Word{Text: text, Start: seconds(w.Starts[i]), End: seconds(w.Ends[i])})
			}
			e.Words = p.words
		}
		return e, nil
	case r.Type.IsText("flush_done"):
		e.PieceDone = true
		return e, nil
	case r.Type.IsText("done"):
		e.Done = true
		return e, nil
	case r.Type.IsText("error"):
		e.Refusal = &talk.Refusal{Status: r.Status, Code: r.Code}
		return e, nil
	}
	return talk.Event{Context: -1}, nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
