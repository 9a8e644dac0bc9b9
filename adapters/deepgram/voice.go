package deepgram

import (
	"cmp"
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

// Voice synthesizes speech with Deepgram's Aura voices (speak v1). It implements tts.Engine and tts.Talker. Each voice of the service is a
// model that speaks one language. The service reports no places of words. It changes the tempo by factors from 0.7 to 1.5; Voice limits other
// factors to this range.
type Voice struct {
	vendor  *session.Vendor // whose Model is the default voice
	voices  []string        // the others
	runtime callwright.Runtime
}

var (
	_ tts.Engine = (*Voice)(nil)
	_ tts.Talker = (*Voice)(nil)
)

// NewVoice checks the configuration and returns a Voice. It sends no request. It returns CodeBadRequest for a base URL that is no URL of a
// server.
func NewVoice(config VoiceConfig) (*Voice, error) {
	vendor, err := session.NewVendor(
		session.VendorConfig{BaseURL: config.BaseURL, APIKey: config.APIKey, Model: config.Voice, Client: config.Client}, defaultBaseURL, defaultVoice)
	if err != nil {
		return nil, err
	}
	return &Voice{vendor: vendor, voices: config.Voices, runtime: config.Runtime}, nil
}

// Describe returns the configured voices.
func (v *Voice) Describe() tts.Description {
	return talk.Describe("deepgram", "", v.vendor.Model, v.voices)
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
	return talk.New(ctx, r, talk.Config{Rate: hertz, Single: true, Runtime: v.runtime, Dial: func(ctx context.Context) (session.Conn, talk.Protocol, error) {
		conn, err := session.Dial(ctx, v.endpoint(r, muLaw, hertz))
		return conn, &spoken{decoder: talk.Decoder{MuLaw: muLaw}}, err
	}})
}

// endpoint returns the endpoint of a connection.
func (v *Voice) endpoint(r tts.Request, muLaw bool, hertz int) session.Endpoint {
	q := url.Values{"model": {cmp.Or(r.Voice, v.vendor.Model)}, "encoding": {"linear16"}, "sample_rate": {strconv.Itoa(hertz)}}
	if muLaw {
		q.Set("encoding", "mulaw")
	}
	if tempo := r.Prosody.Tempo; tempo != 0 {
		q.Set("speed", strconv.FormatFloat(min(max(tempo, slowest), fastest), 'f', -1, 64))
	}
	return v.vendor.Endpoint("v1/speak", q, "Authorization", "Token ")
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
