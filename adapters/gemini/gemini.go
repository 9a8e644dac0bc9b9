// Package gemini connects to language models over the generateContent methods of Google's Gemini API and of Vertex AI.
package gemini

import (
	"net/http"
	"regexp"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/internal/engine/chat"
)

// The default values of a Config.
const (
	defaultBaseURL = "https://generativelanguage.googleapis.com/v1beta"
	defaultModel   = "gemini-2.5-flash"
)

// Config configures a Client, which reads no environment variables. The zero Config is valid, but Google requires a key.
type Config struct {
	// BaseURL is the address up to the name of the model, with the version. It may have a query, which each request gets. If it has no path,
	// it is completed with /v1beta. If empty, it is https://generativelanguage.googleapis.com/v1beta. For Vertex AI with a key, it is
	// https://aiplatform.googleapis.com/v1/publishers/google.
	BaseURL string
	APIKey  callwright.Secret // if empty, requests carry none
	Model   string            // a name such as gemini-2.5-flash, or a path such as tunedModels/mine; if empty, gemini-2.5-flash

	// Client sends the requests. A client whose Transport adds access tokens serves for Vertex AI without a key. If nil, it is a separate
	// client with a clone of http.DefaultTransport.
	Client *http.Client

	callwright.Runtime // its Logger logs refusals with their status, code and parameter
}

// Client is the client of one service. It implements llm.Model.
type Client struct {
	model   string
	service *chat.Service
	refused chat.Refusals[request]
}

var _ llm.Model = (*Client)(nil)

// New checks the configuration and returns a client. It sends no request. It returns CodeBadRequest if the base URL is not http or https,
// or contains a user, or if a header cannot carry the key.
func New(config Config) (*Client, error) {
	if config.BaseURL == "" {
		config.BaseURL = defaultBaseURL
	}
	if bare.MatchString(config.BaseURL) {
		config.BaseURL = strings.TrimSuffix(config.BaseURL, "/") + "/v1beta"
	}
	if config.Model == "" {
		config.Model = defaultModel
	}
	service, err := chat.New(chat.Config{
		BaseURL: config.BaseURL, APIKey: config.APIKey, Client: config.Client, Runtime: config.Runtime,
		Authorize: func(header http.Header, key string) { header.Set("X-Goog-Api-Key", key) },
	})
	if err != nil {
		return nil, err
	}
	return &Client{model: config.Model, service: service, refused: chat.Refusals[request]{Members: members}}, nil
}

// bare matches an address without a path.
var bare = regexp.MustCompile(`^https?://[^/?#]+/?$`)

// Name returns the name of the language model.
func (c *Client) Name() string { return c.model }

// Close closes the idle connections of the HTTP client.
func (c *Client) Close() { c.service.Client.CloseIdleConnections() }
