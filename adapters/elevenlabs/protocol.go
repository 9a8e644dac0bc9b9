package elevenlabs

import (
	"encoding/json"
	"time"

	"github.com/callwright/callwright/internal/engine/session"
	"github.com/callwright/callwright/internal/engine/talk"
	"github.com/callwright/callwright/speech/tts"
)

// The limits of the factor of the tempo.
const (
	slowest = 0.7
	fastest = 1.2
)

// protocol is the protocol of multi-stream-input.
type protocol struct {
	settings *settings
	decoder  talk.Decoder
	words    []talk.Word
	reply    reply // the last message, whose memory the next one reuses
}

// reply is a message of the service.
type reply struct {
	Context   talk.Raw  `json:"contextId"`
	Audio     talk.Raw  `json:"audio"`
	Final     bool      `json:"isFinal"`
	FinalToo  bool      `json:"is_final"` // the vendor's types have both names
	Alignment alignment `json:"alignment"`
	Error     string    `json:"error"`
}

// alignment is the places of characters, in milliseconds from the start of the audio of the message.
type alignment struct {
	Chars     []string  `json:"chars"`
	Starts    []float64 `json:"charStartTimesMs"`
	Durations []float64 `json:"charDurationsMs"`
}

// request is a message to the service.
type request struct {
	Context  string    `json:"context_id"`
	Text     *string   `json:"text,omitempty"`
	Settings *settings `json:"voice_settings,omitempty"`
	Flush    bool      `json:"flush,omitempty"`
	Close    bool      `json:"close_context,omitempty"`
}

// settings are the voice settings of a context.
type settings struct {
	Speed float64 `json:"speed,omitempty"`
}

func newProtocol(r tts.Request, muLaw bool) *protocol {
	p := &protocol{decoder: talk.Decoder{MuLaw: muLaw}}
	if tempo := r.Prosody.Tempo; tempo != 0 {
		p.settings = &settings{Speed: min(max(tempo, slowest), fastest)}
	}
	return p
}

// Say flushes each piece, because the chunker has cut the text where it can be spoken. A context begins with a space.
func (p *protocol) Say(number int, first bool, text string) []session.Message {
	id, space := talk.ContextID(number), " "
	text += " "
	piece := talk.JSON(request{Context: id, Text: &text, Flush: true})
	if !first {
		return []session.Message{piece}
	}
	return []session.Message{talk.JSON(request{Context: id, Text: &space, Settings: p.settings}), piece}
}

// End closes the context, whose pieces the service still speaks.
func (p *protocol) End(number int) []session.Message {
	return []session.Message{talk.JSON(request{Context: talk.ContextID(number), Close: true})}
}

// Cancel closes the context. Its later audio is not used.
func (p *protocol) Cancel(number int) []session.Message { return p.End(number) }

// Receive parses a message of the service.
func (p *protocol) Receive(m session.Message) (talk.Event, error) {
	r := &p.reply
	*r = reply{Alignment: alignment{r.Alignment.Chars[:0], r.Alignment.Starts[:0], r.Alignment.Durations[:0]}}
	if !m.Text || json.Unmarshal(m.Data, r) != nil {
		return talk.Event{}, nil //nolint:nilerr // unknown messages are no error
	}
	e := talk.Event{Context: r.Context.Context(), Relative: true, Done: r.Final || r.FinalToo}
	if r.Error != "" {
		e.Refusal = &talk.Refusal{Code: r.Error}
		return e, nil
	}
	if len(r.Audio) > 0 && string(r.Audio) != "null" {
		var err error
		if e.Audio, err = p.decoder.Base64(e.Context, r.Audio); err != nil {
			return talk.Event{}, err
		}
	}
	if a := r.Alignment; len(a.Chars) == len(a.Starts) && len(a.Chars) == len(a.Durations) {
		p.words = appendWords(p.words[:0], a.Chars, a.Starts, a.Durations)
		e.Words = p.words
	}
	return e, nil
}

// appendWords appends the words of an alignment, whose times are in milliseconds.
func appendWords(words []talk.Word, chars []string, starts, durations []float64) []talk.Word {
	open := false
	for i, c := range chars {
		if c == "" || c == " " || c == "\n" || c == "\t" {
			open = false
			continue
		}
		start := time.Duration(starts[i] * float64(time.Millisecond))
		end := start + time.Duration(durations[i]*float64(time.Millisecond))
		if !open {
			words = append(words, talk.Word{Start: start})
		}
		w := &words[len(words)-1]
		w.Text, w.End, open = w.Text+c, end, true
	}
	return words
}
