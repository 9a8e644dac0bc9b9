package cartesia

import (
	"context"
	"net/http"
	"net/url"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/internal/engine/session"
	"github.com/callwright/callwright/internal/engine/talk"
	"github.com/callwright/callwright/speech/tts"
)

const (
	defaultModel = "sonic-3.5"
)

// Config configures a Synthesizer.
type Config struct {
	BaseURL string            // a ws, wss, http or https URL without a path; if empty, wss://api.cartesia.ai
	APIKey  callwright.Secret // if empty, requests carry none
	Model   string            // if empty, sonic-3.5
	Voice   string            // id of the default voice; required
	Voices  []string          // ids of further voices for Describe; requests may use any others

	Client *http.Client // if nil, http.DefaultClient

	callwright.Runtime
}

// Synthesizer synthesizes speech. It implements tts.Engine and tts.Talker. The service changes the tempo by factors from 0.6 to 1.5; the
// Synthesizer limits other factors to this range.
type Synthesizer struct {
	vendor  *session.Vendor
	voice   string   // the default
	voices  []string // the others
	runtime callwright.Runtime
}

var (
	_ tts.Engine = (*Synthesizer)(nil)
	_ tts.Talker = (*Synthesizer)(nil)
)

// New checks the configuration and returns a Synthesizer. It sends no request. It returns CodeBadRequest with the field base_url or voice if
// that is invalid.
func New(config Config) (*Synthesizer, error) {
	if config.Voice == "" {
		return nil, callwright.Invalid("voice", "must be the id of a voice of the service")
	}
	vendor, err := session.NewVendor(
		session.VendorConfig{BaseURL: config.BaseURL, APIKey: config.APIKey, Model: config.Model, Client: config.Client}, defaultBaseURL, defaultModel)
	if err != nil {
		return nil, err
	}
	return &Synthesizer{vendor: vendor, voice: config.Voice, voices: config.Voices, runtime: config.Runtime}, nil
}

// Describe returns the configured voices. Version is the name of the model.
func (s *Synthesizer) Describe() tts.Description {
	return talk.Describe("cartesia", s.vendor.Model, s.voice, s.voices)
}

// CheckVoice accepts every voice, because only the service can check ids.
func (s *Synthesizer) CheckVoice(string, string) error { return nil }

// Synthesize speaks a text over a connection of its own.
func (s *Synthesizer) Synthesize(ctx context.Context, r tts.Request) (tts.Stream, error) {
	return talk.Synthesize(ctx, s, r)
}

// Talk starts the speech of a call.
func (s *Synthesizer) Talk(ctx context.Context, r tts.Request) tts.Talk {
	muLaw, rate := talk.Format(r.Rate)
	return talk.New(ctx, r, talk.Config{Rate: rate, Runtime: s.runtime, Dial: func(ctx context.Context) (session.Conn, talk.Protocol, error) {
		conn, err := session.Dial(ctx, s.vendor.Endpoint("tts/websocket", url.Values{"cartesia_version": {version}}, "Authorization", "Bearer "))
		return conn, s.newProtocol(r, muLaw, rate), err
	}})
}
