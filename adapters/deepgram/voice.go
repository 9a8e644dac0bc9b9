package deepgram

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/internal/engine/session"
	"github.com/callwright/callwright/internal/engine/talk"
	"github.com/callwright/callwright/speech/tts"
)

const (
	defaultVoice = "aura-2-thalia-en"
	maxSpoken    = 2000 // bytes of text in one message
	slowest      = 0.7  // limits of the factor of the tempo
	fastest      = 1.5
)

// VoiceConfig configures a Voice. The zero VoiceConfig is valid, but the service requires a key.
type VoiceConfig struct {
	BaseURL string            // a ws, wss, http or https URL without a path; if empty, wss://api.deepgram.com
	APIKey  callwright.Secret // if empty, requests carry none
	Voice   string            // model of the default voice; if empty, aura-2-thalia-en
	Voices  []string          // further voices for Describe; requests may use any others

	Client *http.Client // if nil, http.DefaultClient

	callwright.Runtime
}

// Voice synthesizes speech with Deepgram's Aura voices (speak v1). It implements tts.Engine and tts.Talker. A voice is a model of the service,
// which speaks one language. The service reports no places of words, and changes the tempo by factors from 0.7 to 1.5; the Voice limits
// other factors to this range.
type Voice struct {
	config VoiceConfig // without its APIKey
	base   *url.URL
	key    func() string // see session.Key
}

var (
	_ tts.Engine = (*Voice)(nil)
	_ tts.Talker = (*Voice)(nil)
)

// NewVoice checks the configuration and returns a Voice. It sends no request. It returns CodeBadRequest for a base URL that is no URL of a
// server.
func NewVoice(config VoiceConfig) (*Voice, error) {
	if config.BaseURL == "" {
		config.BaseURL = defaultBaseURL
	}
	if config.Voice == "" {
		config.Voice = defaultVoice
	}
	base, err := session.ParseURL(config.BaseURL)
	if err != nil {
		return nil, err
	}
	key := session.Key(config.APIKey)
	config.APIKey = ""
	return &Voice{config: config, base: base, key: key}, nil
}

// Describe returns the configured voices.
func (v *Voice) Describe() tts.Description {
	return talk.Describe("deepgram", "", v.config.Voice, v.config.Voices)
}

// CheckVoice accepts every voice, because only the service can check names.
func (v *Voice) CheckVoice(string, string) error { return nil }

// Synthesize speaks a text over a connection of its own.
func (v *Voice) Synthesize(ctx context.Context, r tts.Request) (tts.Stream, error) {
	return talk.Synthesize(ctx, v, r)
}

// Talk starts the speech of a call.
func (v *Voice) Talk(ctx context.Context, r tts.Request) tts.Talk {
	muLaw, hertz := talk.Format(r.Rate)
	return talk.New(ctx, r, talk.Config{Rate: hertz, Single: true, Runtime: v.config.Runtime, Dial: func(ctx context.Context) (session.Conn, talk.Protocol, error) {
		header := http.Header{}
		if key := v.key(); key != "" {
			header.Set("Authorization", "Token "+key)
		}
		conn, err := session.Dial(ctx, v.address(r, muLaw, hertz), header, v.config.Client)
		return conn, &spoken{decoder: talk.Decoder{MuLaw: muLaw}}, err
	}})
}

// address returns the URL of a connection.
func (v *Voice) address(r tts.Request, muLaw bool, hertz int) string {
	q := url.Values{"model": {v.config.Voice}, "encoding": {"linear16"}, "sample_rate": {strconv.Itoa(hertz)}}
	if r.Voice != "" {
		q.Set("model", r.Voice)
	}
	if muLaw {
		q.Set("encoding", "mulaw")
	}
	if tempo := r.Prosody.Tempo; tempo != 0 {
		q.Set("speed", strconv.FormatFloat(min(max(tempo, slowest), fastest), 'f', -1, 64))
	}
	u := v.base.JoinPath("v1/speak")
	u.RawQuery = q.Encode()
	return u.String()
}

// spoken is the protocol of speak v1, which knows no contexts.
type spoken struct{ decoder talk.Decoder }

// Say flushes each piece, so that the service reports its end.
func (s *spoken) Say(_ int, _ bool, said string) []session.Message {
	var messages []session.Message
	for said != "" {
		part := said
		if len(part) > maxSpoken {
			part = part[:maxSpoken]
			if at := strings.LastIndexByte(part, ' '); at > 0 {
				part = part[:at]
			}
			part = strings.ToValidUTF8(part, "")
		}
		said = said[len(part):]
		messages = append(messages, talk.JSON(struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}{"Speak", part}))
	}
	return append(messages, session.Text(`{"type":"Flush"}`))
}

// End returns nil, because every piece was flushed.
func (s *spoken) End(int) []session.Message { return nil }

// Cancel clears all text and audio of the service.
func (s *spoken) Cancel(int) []session.Message {
	return []session.Message{session.Text(`{"type":"Clear"}`)}
}

// Receive parses a message of the service. Binary messages are audio.
func (s *spoken) Receive(m session.Message) (talk.Event, error) {
	if !m.Text {
		return talk.Event{Audio: s.decoder.Bytes(0, m.Data)}, nil
	}
	var r struct {
		Type string `json:"type"`
		Code string `json:"code"`
	}
	if json.Unmarshal(m.Data, &r) != nil {
		return talk.Event{}, nil //nolint:nilerr // unknown messages are no error
	}
	switch r.Type {
	case "Flushed":
		return talk.Event{PieceDone: true}, nil
	case "Cleared":
		return talk.Event{Cleared: true}, nil
	case "Error":
		return talk.Event{Refusal: &talk.Refusal{Code: r.Code}}, nil
	default:
		return talk.Event{}, nil
	}
}
