package elevenlabs

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/internal/engine"
	"github.com/callwright/callwright/internal/engine/session"
	"github.com/callwright/callwright/internal/engine/talk"
	"github.com/callwright/callwright/speech/tts"
)

const (
	defaultModel = "eleven_flash_v2_5"
	inactivity   = 180 // seconds without a message after which the service may close a connection; the maximum
)

// Config configures a Synthesizer.
type Config struct {
	BaseURL string            // a ws, wss, http or https URL without a path; if empty, wss://api.elevenlabs.io
	APIKey  callwright.Secret // if empty, requests carry none
	Model   string            // if empty, eleven_flash_v2_5
	Voice   string            // id of the default voice; required
	Voices  []string          // ids of further voices for Describe; requests may use any others

	Client *http.Client // if nil, http.DefaultClient

	callwright.Runtime
}

// Synthesizer synthesizes speech. It implements tts.Engine and tts.Talker. The service changes the tempo by factors from 0.7 to 1.2; the
// Synthesizer limits other factors to this range.
type Synthesizer struct {
	config Config // without its APIKey
	base   *url.URL
	key    func() string // see session.Key
}

var (
	_ tts.Engine = (*Synthesizer)(nil)
	_ tts.Talker = (*Synthesizer)(nil)
)

// New checks the configuration and returns a Synthesizer. It sends no request. It returns CodeBadRequest with the field base_url or voice if
// that is invalid.
func New(config Config) (*Synthesizer, error) {
	if config.BaseURL == "" {
		config.BaseURL = defaultBaseURL
	}
	if config.Model == "" {
		config.Model = defaultModel
	}
	if config.Voice == "" {
		return nil, callwright.Invalid("voice", "must be the id of a voice of the service")
	}
	base, err := session.ParseURL(config.BaseURL)
	if err != nil {
		return nil, err
	}
	key := session.Key(config.APIKey)
	config.APIKey = ""
	return &Synthesizer{config: config, base: base, key: key}, nil
}

// Describe returns the configured voices. Version is the name of the model.
func (s *Synthesizer) Describe() tts.Description {
	return talk.Describe("elevenlabs", s.config.Model, s.config.Voice, s.config.Voices)
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
	return talk.New(ctx, r, talk.Config{Rate: rate, Follow: true, Runtime: s.config.Runtime, Dial: func(ctx context.Context) (session.Conn, talk.Protocol, error) {
		header := http.Header{}
		if key := s.key(); key != "" {
			header.Set("Xi-Api-Key", key)
		}
		conn, err := session.Dial(ctx, s.address(r, muLaw, rate), header, s.config.Client)
		return conn, newProtocol(r, muLaw), err
	}})
}

// address returns the URL of a connection.
func (s *Synthesizer) address(r tts.Request, muLaw bool, rate int) string {
	format := "pcm_" + strconv.Itoa(rate)
	if muLaw {
		format = "ulaw_8000"
	}
	q := url.Values{
		"model_id": {s.config.Model}, "output_format": {format}, "auto_mode": {"true"}, "sync_alignment": {"true"},
		"inactivity_timeout": {strconv.Itoa(inactivity)},
	}
	if r.Language != "" {
		q.Set("language_code", engine.Language(r.Language))
	}
	voice := r.Voice
	if voice == "" {
		voice = s.config.Voice
	}
	u := s.base.JoinPath("v1", "text-to-speech", url.PathEscape(voice), "multi-stream-input")
	u.RawQuery = q.Encode()
	return u.String()
}
