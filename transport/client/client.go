package client

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/callwright/callwright"
)

// The variables of the environment that FromEnv reads.
const (
	KeyVariable     = "SERVICE_API_KEY"
	KeyFileVariable = "SERVICE_API_KEY_FILE"
	BaseVariable    = "SERVICE_BASE_URL"
)

// DefaultBaseURL is the address of the reference server with its default settings.
const DefaultBaseURL = "http://127.0.0.1:8080"

// Config configures a Client. APIKey is required.
type Config struct {
	BaseURL string            // empty: DefaultBaseURL
	APIKey  callwright.Secret // of the organization
	// APIKeyFile names a file that holds the key alone, on one line, such as data/api-key of the reference server. New reads it
	// if there is no APIKey.
	APIKeyFile string
	// AllowHTTP lets the key travel over http to hosts other than this machine.
	AllowHTTP bool

	Voice VoiceChoice // the default voice of requests; zero: one of DefaultVoices at random
	Rand  rand.Source // draws voices and spreads retries; nil: one with a random seed. The Client locks it

	HTTP      *http.Client // nil: one of the Client's own; its CheckRedirect is not used
	UserAgent string       // empty: callwright-go
	Retry     Retry
	// Silence is the longest wait for an answer to begin, and for each further part of a request or an answer; 0: 2 minutes.
	Silence time.Duration

	MaxAnswer int64 // bytes of a JSON answer; 0: 16 MiB
	MaxAudio  int64 // bytes of an audio file; 0: 64 MiB
}

// The bounds that hold where Config has none.
const (
	defaultSilence = 2 * time.Minute
	defaultAnswer  = 16 << 20
	defaultAudio   = 64 << 20
)

// FromEnv returns a Config with the key and the address of the environment, which lookup reads: KeyVariable, or else
// KeyFileVariable, and BaseVariable. os.Getenv is a lookup.
func FromEnv(lookup func(string) string) Config {
	return Config{APIKey: callwright.Secret(lookup(KeyVariable)), APIKeyFile: lookup(KeyFileVariable), BaseURL: lookup(BaseVariable)}
}

// maxKeyFile bounds the file of a key, in bytes.
const maxKeyFile = 4 << 10

// readKey reads the file of the key, if there is no key and a file is named.
func (c *Config) readKey() error {
	if c.APIKey != "" || c.APIKeyFile == "" {
		return nil
	}
	file, err := os.Open(c.APIKeyFile)
	if err != nil {
		return callwright.Invalid("api_key_file", "cannot be read: %s", err)
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, maxKeyFile+1))
	if err != nil || len(raw) > maxKeyFile {
		return callwright.Invalid("api_key_file", "must be a file of at most %d bytes that holds the key alone: %s", maxKeyFile, c.APIKeyFile)
	}
	c.APIKey = callwright.Secret(strings.TrimSpace(string(raw)))
	return nil
}

// Client calls the API. It is safe for concurrent use.
type Client struct {
	cfg  Config // without its APIKey
	base *url.URL
	// key returns the API key, which package fmt would print if it were an unexported field.
	key func() callwright.Secret

	api    *http.Client // follows no redirects
	loader *http.Client // downloads audio, without the key
	draw   *draw
	areas  *areas
}

// New checks the configuration. An error never shows the key.
func New(cfg Config) (*Client, error) {
	if cfg.BaseURL == "" {
		cfg.BaseURL = DefaultBaseURL
	}
	base, err := parseBase(cfg.BaseURL, cfg.AllowHTTP)
	if err != nil {
		return nil, err
	}
	if err := cfg.readKey(); err != nil {
		return nil, err
	}
	if err := checkKey(cfg.APIKey); err != nil {
		return nil, err
	}
	if cfg.Retry, err = cfg.Retry.withDefaults(); err != nil {
		return nil, err
	}
	if err := cfg.Voice.check(); err != nil {
		return nil, err
	}
	if cfg.Silence < 0 || cfg.MaxAnswer < 0 || cfg.MaxAudio < 0 {
		return nil, errors.New("client: Config.Silence, MaxAnswer and MaxAudio must not be negative")
	}
	cfg.Silence = orElse(cfg.Silence, defaultSilence)
	cfg.MaxAnswer = orElse(cfg.MaxAnswer, defaultAnswer)
	cfg.MaxAudio = orElse(cfg.MaxAudio, defaultAudio)
	cfg.UserAgent = orElse(cfg.UserAgent, "callwright-go")
	c := &Client{cfg: cfg, base: base, draw: newDraw(cfg.Rand)}
	c.api, c.loader = httpClients(cfg.HTTP, base)
	c.setKey(cfg.APIKey)
	if c.areas, err = newAreas(c); err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	return c, nil
}

// WithKey returns a client that uses another key, and shares the connections and the random source of this one.
func (c *Client) WithKey(key callwright.Secret) (*Client, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	other := *c
	other.setKey(key)
	var err error
	if other.areas, err = newAreas(&other); err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	return &other, nil
}

// Close closes connections that are idle. Connections of a Config.HTTP are its owner's and stay open.
func (c *Client) Close() error {
	if c.cfg.HTTP == nil {
		c.api.CloseIdleConnections()
	}
	return nil
}

// BaseURL returns the address of the server.
func (c *Client) BaseURL() string { return c.base.String() }

func (c *Client) setKey(key callwright.Secret) {
	c.cfg.APIKey = ""
	c.key = func() callwright.Secret { return key }
}

// maxKey is the length of a key in bytes.
const maxKey = 4096

// checkKey refuses a key that cannot be sent in a header.
func checkKey(key callwright.Secret) error {
	text := key.Reveal()
	if text == "" {
		return &callwright.Error{
			Code: callwright.CodeAuthFailure, Field: "api_key", Message: "an API key is required: set " + KeyVariable + " or " + KeyFileVariable,
		}
	}
	if len(text) > maxKey {
		return callwright.Invalid("api_key", "must have at most %d bytes", maxKey)
	}
	for _, b := range []byte(text) {
		if b <= ' ' || b > '~' {
			return callwright.Invalid("api_key", "must hold visible ASCII characters only: check %s for spaces and line ends", KeyVariable)
		}
	}
	return nil
}

// orElse returns a value, or another for the zero value.
func orElse[T comparable](value, other T) T {
	var zero T
	if value == zero {
		return other
	}
	return value
}
