// Package anthropic connects to language models over Anthropic's Messages API. Other services and proxies implement that interface, too.
package anthropic

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/internal/engine/chat"
)

// The default values of a Config.
const (
	defaultBaseURL = "https://api.anthropic.com"
	defaultModel   = "claude-haiku-4-5"
)

// Config configures a Client, which reads no environment variables. The zero Config is valid, but Anthropic itself requires a key.
type Config struct {
	BaseURL   string            // without the version; may have a query, which each request gets; if empty, https://api.anthropic.com
	APIKey    callwright.Secret // if empty, requests carry none
	KeyHeader string            // header with the bare key; if empty, "x-api-key"
	Model     string            // if empty, claude-haiku-4-5

	Client *http.Client // if nil, a separate client with a clone of http.DefaultTransport

	callwright.Runtime // its Logger logs refusals with their status, code and parameter
}

// Client is the client of one service. It implements llm.Model.
type Client struct {
	model   string
	service *chat.Service
	url     *url.URL // of messages
	refused chat.Refusals[request]
}

var _ llm.Model = (*Client)(nil)

// New checks the configuration and returns a client. It sends no request. It returns CodeBadRequest if the base URL is not http or https,
// or contains a user, or if a header cannot carry the key.
func New(config Config) (*Client, error) {
	if config.BaseURL == "" {
		config.BaseURL = defaultBaseURL
	}
	if config.Model == "" {
		config.Model = defaultModel
	}
	if config.KeyHeader == "" {
		config.KeyHeader = "x-api-key"
	}
	service, err := chat.New(chat.Config{
		BaseURL: config.BaseURL, APIKey: config.APIKey, Client: config.Client, Runtime: config.Runtime,
		Authorize: func(header http.Header, key string) { header.Set(config.KeyHeader, key) },
	})
	if err != nil {
		return nil, err
	}
	to := service.URL(path(service.URL("").Path))
	return &Client{model: config.Model, service: service, url: to, refused: chat.Refusals[request]{Members: members}}, nil
}

// Name returns the name of the language model.
func (c *Client) Name() string { return c.model }

// Close closes the idle connections of the HTTP client.
func (c *Client) Close() { c.service.Client.CloseIdleConnections() }

// version is the version of the interface, which each request must name.
const version = "2023-06-01"

// path returns the path of messages below a base URL with the given path. Users also write the version into the base URL, as they do for
// other services.
func path(base string) string {
	if strings.HasSuffix(strings.TrimSuffix(base, "/"), "/v1") {
		return "messages"
	}
	return "v1/messages"
}
