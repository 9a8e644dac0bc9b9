// Package openai reaches language models, voices and speech recognition over the HTTP interface of OpenAI, which many
// other services and local servers offer, too.
package openai

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"unicode"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/speech/tts"
)

// The defaults of a Config.
const (
	defaultBaseURL       = "https://api.openai.com/v1"
	defaultModel         = "gpt-4o-mini"
	defaultSpeechModel   = "gpt-4o-mini-tts"
	defaultVoice         = "alloy"
	defaultTranscription = "gpt-4o-mini-transcribe"
)

// Config configures a Client. The environment is not read. The zero Config is valid, but OpenAI itself requires a key.
type Config struct {
	BaseURL string            // up to and including the version; empty: OpenAI's own
	APIKey  callwright.Secret // empty: none is sent

	Model string // the language model; empty: gpt-4o-mini

	SpeechModel   string   // empty: gpt-4o-mini-tts
	Voice         string   // the default voice; empty: alloy
	Voices        []string // of the service, for lists: any other name is tried, too; nil: the voices in OpenAI's documentation
	Transcription string   // the model of speech recognition; empty: gpt-4o-mini-transcribe

	Client *http.Client // nil: a separate client with the settings of http.DefaultTransport
}

// Client is the client of one service. It is an llm.Model, a tts.Synthesizer and a conversation.Recognizer.
type Client struct {
	config Config        // without its APIKey
	key    func() string // of the API, which fmt would print if it were a field that is not exported

	noSchema sync.Map // names of models that can't be held to a schema
}

var (
	_ llm.Model               = (*Client)(nil)
	_ tts.Engine              = (*Client)(nil)
	_ conversation.Recognizer = (*Client)(nil)
)

// New checks the configuration without a request to the service. A base URL that is not http or https, or a key that no
// header can carry, is CodeBadRequest.
func New(config Config) (*Client, error) {
	fill(&config.BaseURL, defaultBaseURL)
	fill(&config.Model, defaultModel)
	fill(&config.SpeechModel, defaultSpeechModel)
	fill(&config.Voice, defaultVoice)
	fill(&config.Transcription, defaultTranscription)
	base, err := url.Parse(config.BaseURL)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.User != nil {
		return nil, callwright.Invalid("base_url", "the base URL must be an http or https URL without a user")
	}
	if strings.ContainsFunc(config.APIKey.Reveal(), func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsGraphic(r) }) {
		return nil, callwright.Invalid("api_key", "the API key has a character that no header can carry")
	}
	if config.Client == nil {
		config.Client = &http.Client{}
		if shared, ok := http.DefaultTransport.(*http.Transport); ok {
			config.Client.Transport = shared.Clone()
		}
	}
	key := config.APIKey.Reveal()
	config.APIKey = ""
	return &Client{config: config, key: func() string { return key }}, nil
}

func fill(value *string, standard string) {
	if *value == "" {
		*value = standard
	}
}

// maxAnswer bounds an answer of the service but for speech, in bytes with all that is around its words. A longer one is cut off.
const maxAnswer = 8 << 20

// Close closes the idle connections.
func (c *Client) Close() { c.config.Client.CloseIdleConnections() }
