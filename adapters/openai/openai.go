// Package openai connects to language models, voices and speech recognition over the HTTP interface of OpenAI. Many other services and
// local servers implement that interface, too.
package openai

import (
	"net/http"
	"net/url"
	"regexp"
	"sync"
	"sync/atomic"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/internal/engine/chat"
	"github.com/callwright/callwright/speech/tts"
)

// The default values of a Config.
const (
	defaultBaseURL       = "https://api.openai.com/v1"
	defaultModel         = "gpt-4o-mini"
	defaultSpeechModel   = "gpt-4o-mini-tts"
	defaultVoice         = "alloy"
	defaultTranscription = "gpt-4o-mini-transcribe"
)

// Config configures a Client, which reads no environment variables. The zero Config is valid, but OpenAI itself requires a key.
type Config struct {
	BaseURL   string            // including the version; may have a query, which each request gets; if empty, https://api.openai.com/v1
	APIKey    callwright.Secret // if empty, requests carry none
	KeyHeader string            // header with the bare key; if empty, "api-key" for Azure, and otherwise "Authorization" with "Bearer KEY"

	Model string // of the language model; if empty, gpt-4o-mini

	SpeechModel   string   // if empty, gpt-4o-mini-tts
	Voice         string   // the default voice; if empty, alloy
	Voices        []string // for lists; other names are accepted, too; if nil, OpenAI's documented voices
	Transcription string   // the speech recognition model; if empty, gpt-4o-mini-transcribe

	Decoder Decoder // decodes speech in MP3 and other formats than PCM and WAV; if nil, such speech is an error

	Client *http.Client // if nil, a separate client with a clone of http.DefaultTransport

	callwright.Runtime // its Logger logs refusals with their status, code and parameter
}

// Client is the client of one service. It implements llm.Model, tts.Engine and conversation.Recognizer.
type Client struct {
	config  Config // without its APIKey
	service *chat.Service

	refused       chat.Refusals[chatRequest]
	onlyWAV       atomic.Bool // whether the service has refused PCM
	refusedFields sync.Map    // keys of fields of transcriptions that the service has refused: see fieldKey
	thinking      atomic.Bool // whether the last reply ended thoughts that it had not begun: see orphan
}

var (
	_ llm.Model               = (*Client)(nil)
	_ tts.Engine              = (*Client)(nil)
	_ conversation.Recognizer = (*Client)(nil)
)

// New checks the configuration and returns a client. It sends no request. It returns CodeBadRequest if the base URL is not http or https,
// or contains a user, or if a header cannot carry the key.
func New(config Config) (*Client, error) {
	fill(&config.BaseURL, defaultBaseURL)
	fill(&config.Model, defaultModel)
	fill(&config.SpeechModel, defaultSpeechModel)
	fill(&config.Voice, defaultVoice)
	fill(&config.Transcription, defaultTranscription)
	if base, err := url.Parse(config.BaseURL); err == nil && config.KeyHeader == "" && azure.MatchString(base.Hostname()) {
		config.KeyHeader = "api-key"
	}
	service, err := chat.New(chat.Config{
		BaseURL: config.BaseURL, APIKey: config.APIKey, Client: config.Client, Runtime: config.Runtime, Authorize: func(header http.Header, key string) {
			if config.KeyHeader != "" {
				header.Set(config.KeyHeader, key)
			} else {
				header.Set("Authorization", "Bearer "+key)
			}
		},
	})
	if err != nil {
		return nil, err
	}
	config.APIKey = ""
	return &Client{config: config, service: service, refused: chat.Refusals[chatRequest]{Members: members}}, nil
}

// azure matches the hosts of Azure's services, which take a key only in a header of their own.
var azure = regexp.MustCompile(`\.(openai|cognitiveservices|services\.ai)\.azure\.(com|us|cn)$`)

func fill(value *string, standard string) {
	if *value == "" {
		*value = standard
	}
}

// members lists the members of chat requests that some services refuse.
var members = []chat.Member[chatRequest]{
	{Name: "stream_options", Meaning: regexp.MustCompile(`(?i)stream_?options|include_usage`), Omit: func(r *chatRequest) bool {
		had := r.StreamOptions != nil
		r.StreamOptions = nil
		return had
	}},
	{Name: "temperature", Meaning: regexp.MustCompile(`(?i)temperature`), Omit: func(r *chatRequest) bool {
		had := r.Temperature != nil
		r.Temperature = nil
		return had
	}},
}

// Close closes the idle connections of the HTTP client.
func (c *Client) Close() { c.service.Client.CloseIdleConnections() }
