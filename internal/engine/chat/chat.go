// Package chat contains the rules that the adapters of language models share: the requests to a service and its refusals, the prompt of a
// reply, server-sent events, and the words, tool calls and actions of an answer. Only the adapters know the messages of their services.
package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"github.com/callwright/callwright"
)

// MaxAnswer is the maximum size of a successful response other than speech, in bytes. Longer responses are cut off.
const MaxAnswer = 8 << 20

// MaxError is the maximum number of bytes that are read from the body of an error response.
const MaxError = 1 << 20

// Config configures a Service. BaseURL and Authorize are required.
type Config struct {
	BaseURL   string            // may have a query, which each request gets
	APIKey    callwright.Secret // if empty, Authorize is not called
	Authorize func(header http.Header, key string)
	Client    *http.Client // if nil, a separate client with a clone of http.DefaultTransport

	callwright.Runtime // its Logger logs refusals with their status, code and parameter
}

// Service sends requests to an HTTP service. It is safe for concurrent use.
type Service struct {
	Client *http.Client

	base      *url.URL
	log       *slog.Logger
	authorize func(http.Header) // a function, because fmt would print the API key of an unexported string field
}

// New checks the configuration and returns a Service. It sends no request. It returns CodeBadRequest if the base URL is not http or https,
// or contains a user, or if a header cannot carry the key.
func New(config Config) (*Service, error) {
	base, err := url.Parse(config.BaseURL)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.User != nil {
		return nil, callwright.Invalid("base_url", "must be an http or https URL without a user name")
	}
	key, authorize := config.APIKey.Reveal(), config.Authorize
	if strings.ContainsFunc(key, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsGraphic(r) }) {
		return nil, callwright.Invalid("api_key", "must contain only visible ASCII characters and spaces")
	}
	s := &Service{Client: config.Client, base: base, log: config.WithDefaults().Logger, authorize: func(header http.Header) {
		if key != "" {
			authorize(header, key)
		}
	}}
	if s.Client == nil {
		s.Client = &http.Client{}
		if shared, ok := http.DefaultTransport.(*http.Transport); ok {
			s.Client.Transport = shared.Clone()
		}
	}
	return s, nil
}

// URL returns the address of a path below the base URL.
func (s *Service) URL(path string) *url.URL { return s.base.JoinPath(path) }

// Authorize sets the header with the key.
func (s *Service) Authorize(header http.Header) { s.authorize(header) }

// PostJSON sends body as JSON without HTML escapes: see Post.
func (s *Service) PostJSON(ctx context.Context, to *url.URL, header http.Header, body any) (*http.Response, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(body); err != nil {
		return nil, err
	}
	return s.Post(ctx, to, header, "application/json", &text)
}

// Post sends a request with additional headers to an address, which URL has returned. It returns a *ServiceError for a status of 400 or
// more, and logs it. Otherwise the caller closes the body of the response.
func (s *Service) Post(ctx context.Context, to *url.URL, header http.Header, contentType string, body io.Reader) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), body)
	if err != nil {
		return nil, err
	}
	maps.Copy(request.Header, header)
	request.Header.Set("Content-Type", contentType)
	s.authorize(request.Header)
	response, err := s.Client.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode < http.StatusBadRequest {
		return response, nil
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, MaxError))
	if err != nil {
		return nil, err
	}
	refused := NewServiceError(text)
	refused.Status, refused.Header = response.StatusCode, response.Header
	s.log.WarnContext(ctx, "a service refused a request", "path", to.Path, "reason", refused)
	return nil, refused
}
