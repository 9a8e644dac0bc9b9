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

// The environment variables that FromEnv reads.
const (
	KeyVariable     = "SERVICE_API_KEY"
	KeyFileVariable = "SERVICE_API_KEY_FILE"
	BaseVariable    = "SERVICE_BASE_URL"
)

// DefaultBaseURL is the address of the reference server with its default settings.
const DefaultBaseURL = "http://127.0.0.1:8080"

// Config configures a Client. APIKey or APIKeyFile is required.
type Config struct {
	BaseURL string            // default DefaultBaseURL
	APIKey  callwright.Secret // an API key of the organization
	// APIKeyFile is the path of a file that contains only the key, on one line, such as data/api-key of the reference server. New reads the
	// file if APIKey is empty.
	APIKeyFile string
	// AllowHTTP permits sending the key over http to hosts other than this machine.
	AllowHTTP bool

	Voice VoiceChoice // voice of a SpeakRequest that names none; if zero, a random voice of DefaultVoices
	Rand  rand.Source // selects voices and spreads retries; the Client locks it; if nil, randomly seeded

	HTTP      *http.Client // if nil, the Client creates a new one; the field CheckRedirect is ignored
	UserAgent string       // default "callwright-go"
	Retry     Retry
	// Silence is the maximum wait for an answer to begin, and for each further part of a request or an answer. The default is 2 minutes.
	Silence time.Duration

	MaxAnswer int64 // maximum bytes of a JSON answer; default 16 MiB
	MaxAudio  int64 // maximum bytes of an audio file; default 64 MiB
}

// The defaults of Config.
const (
	defaultSilence = 2 * time.Minute
	defaultAnswer  = 16 << 20
	defaultAudio   = 64 << 20
)

// FromEnv returns a Config with the key, the key file and the address that the environment contains: KeyVariable, KeyFileVariable and
// BaseVariable. lookup returns the value of a variable, as os.Getenv does.
func FromEnv(lookup func(string) string) Config {
	return Config{APIKey: callwright.Secret(lookup(KeyVariable)), APIKeyFile: lookup(KeyFileVariable), BaseURL: lookup(BaseVariable)}
}

// maxKeyFile is the maximum size of a key file, in bytes.
const maxKeyFile = 4 << 10

// readKey sets APIKey from APIKeyFile, if APIKey is empty and APIKeyFile is not. It returns CodeBadRequest if the file cannot be read or
// has more than maxKeyFile bytes.
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
	switch {
	case err != nil:
		return callwright.Invalid("api_key_file", "cannot be read: %s", err)
	case len(raw) > maxKeyFile:
		return callwright.Invalid("api_key_file", "must have at most %d bytes and contain the key alone: %s", maxKeyFile, c.APIKeyFile)
	}
	c.APIKey = callwright.Secret(strings.TrimSpace(string(raw)))
	return nil
}

// Client calls the API of a Callwright server. It is safe for concurrent use.
type Client struct {
	cfg  Config // APIKey is empty
	base *url.URL
	// key returns the API key. It is a function, because package fmt would print a key that is stored in an unexported field.
	key func() callwright.Secret

	api    *http.Client // follows no redirects
	loader *http.Client // downloads audio, without the key
	draw   *draw
	areas  *areas
}

// New validates cfg, reads the key file if one is needed, and returns a Client. It does not contact the server. Its errors never contain
// the key.
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

// WithKey returns a client that uses another key, and shares the connections and the random source of c.
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

// Close closes idle connections. It leaves the connections of Config.HTTP open. It returns nil.
func (c *Client) Close() error {
	if c.cfg.HTTP == nil {
		c.api.CloseIdleConnections()
	}
	return nil
}

// BaseURL returns the address of the server, without a slash at its end.
func (c *Client) BaseURL() string { return c.base.String() }

func (c *Client) setKey(key callwright.Secret) {
	c.cfg.APIKey = ""
	c.key = func() callwright.Secret { return key }
}

// maxKey is the maximum length of a key, in bytes.
const maxKey = 4096

// checkKey returns an error if a key is empty, has more than maxKey bytes, or contains a byte other than visible ASCII.
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

// orElse returns value, or the argument other if value is the zero value.
func orElse[T comparable](value, other T) T {
	var zero T
	if value == zero {
		return other
	}
	return value
}
