package platform

import (
	"errors"
	"fmt"
	"log/slog"
	"net/mail"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.uber.org/fx"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/portgateway"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/speech/tts"
	"github.com/callwright/callwright/transport/httpapi"
)

// Config configures a platform. Defaults returns a Config that runs unchanged. The comment of each setting names the flag of the reference
// server that sets it. Errors also use the flag's name.
type Config struct {
	Addr      string // --addr: host and port of the HTTP API and the dashboard; if empty, the program serves the Platform itself
	PublicURL string // --public-url: public URL of the HTTP API; empty means the URL of Addr; required without Addr

	HTTPConnections           int            // --http-connections: maximum of concurrent HTTP connections
	HTTPConnectionsPerAddress int            // --http-connections-per-address: maximum for each client address
	TrustedProxies            []netip.Prefix // --trusted-proxies: reverse proxies whose headers name the client

	Node                string // --node: name of this process in the log
	Data                string // --data: folder of the database, keys, certificates and recordings
	DatabaseURL         string // --database-url: sqlite:PATH or a PostgreSQL URL; empty means SQLite in Data
	DatabaseConnections int    // --database-connections: maximum of PostgreSQL connections; a quarter of them is for durable tasks

	SIPAddr      string         // --sip-addr: IP address and port of SIP over TLS
	SIPCert      string         // --sip-cert: PEM file of the certificate for peers; empty means a certificate of the test authority in Data
	SIPKey       string         // --sip-key: PEM file of the private key of SIPCert
	SIPRoots     string         // --sip-roots: PEM file of additional roots for the certificates of peers
	SIPTrusted   []netip.Prefix // --sip-trusted: carriers and proxies that are never banned
	MediaIP      netip.Addr     // --media-ip: address that sends and receives media; the zero Addr means the address of SIPAddr
	RTPPorts     PortRange      // --rtp-ports: UDP ports of media; the zero range means any free ports
	Region       string         // --region: name of the region of this deployment
	PublicIP     netip.Addr     // --public-ip: address at which peers reach this machine; the zero Addr means the address of SIPAddr
	PublicHost   string         // --public-host: host that customers' telephone systems call; empty means PublicIP
	FirewallIPs  []string       // --firewall-ips: addresses that customers' firewalls must allow; empty means PublicIP and MediaIP
	DNSServer    string         // --dns-server: host and port; empty means the system's server
	AllowPrivate *bool          // --allow-private: whether trunks and webhooks may use private addresses; nil means only if SIPAddr is loopback
	CallLogDays  int            // --call-log-days: retention of the log of SIP calls in days

	LLMBaseURL  string            // --llm-base-url: base URL of the service of the default model: see NamedModel; empty means the scripted model
	LLMModel    string            // --llm-model: name of the model at LLMBaseURL
	LLMAPIKey   callwright.Secret // --llm-api-key: key for LLMBaseURL
	LLMModels   []NamedModel      // --llm-models: further models, which clients select by name
	LLMFallback string            // --llm-fallback: name of the one of LLMModels that replies if the default model fails; empty means none
	LLMPrices   string            // --llm-prices: file with the prices of models, see package price; empty means the built-in prices
	TTS         string            // --tts: flite, espeak, openai, elevenlabs, cartesia or deepgram; empty means flite, or espeak if flite is not installed
	TTSURL      string            // --tts-url: address of a streamed voice; empty means the service's own
	TTSModel    string            // --tts-model: model that speaks; empty means the adapter's default
	TTSVoice    string            // --tts-voice: voices, separated by commas, the default first; required for elevenlabs and cartesia
	TTSAPIKey   callwright.Secret // --tts-api-key: key for a streamed voice
	STT         string            // --stt: pocketsphinx, openai, openai-realtime or a key of recognizers; empty means pocketsphinx
	STTURL      string            // --stt-url: address of the recognizer; empty means the vendor's own, or a server on this machine
	STTModel    string            // --stt-model: model of the recognizer; empty means the adapter's default
	STTAPIKey   callwright.Secret // --stt-api-key: key for the recognizer's vendor

	SMTPURL      callwright.Secret // --smtp-url: server for outgoing mail; empty means files in Data
	MailFrom     string            // --mail-from: sender address; empty means the user of SMTPURL
	ContactEmail string            // --contact-email: set as the first organization's contact; empty leaves it unchanged

	FailedCallIssues bool // --failed-call-issues: whether failed calls open issues
	FailedTestIssues bool // --failed-test-issues: whether failed test runs open issues
	FailedPortIssues bool // --failed-port-issues: whether failed port requests open issues

	SampleDays    int  // --sample-days: retention of speech samples in days
	ReplaceVoices bool // --replace-unknown-voices: whether the default voice replaces unknown voices

	NumberProof     string                 // --number-proof: none, or call, which proves a number before it is attached inbound
	NumberProofFrom callwright.PhoneNumber // --number-proof-from: caller of all proofs; empty means a number of the organization

	PortGateway     []string          // --port-gateway: simulated, manual or both; the first receives new requests
	PortedCallsFrom []netip.Prefix    // --ported-calls-from: networks of the carrier that delivers calls to ported numbers
	PortsPerHour    int               // --ports-per-hour: port requests that an organization may make per hour
	ProviderName    string            // --provider-name: the new provider in letters of authorization
	LOALink         string            // --loa-link: answers or mail-only; whether API answers contain the link to a letter
	CarrierTimes    CarrierTimes      // --simulated-carrier: delays of the simulated carrier
	CarrierSecret   callwright.Secret // --simulated-carrier-secret: signs the simulated carrier's events; empty means that it sends none

	DrainTimeout  time.Duration // --drain-timeout: how long calls may continue after ShutdownDelay when the platform stops
	ShutdownDelay time.Duration // --shutdown-delay: how long calls and requests are still accepted while /readyz and OPTIONS answer 503
	LogFormat     string        // --log-format: text or json
	LogLevel      slog.Level    // --log-level: lowest level that is logged

	// The following parts of the program replace the parts that the settings select. A nil part is not replaced. The program must close its
	// own parts after the platform has stopped.

	Database     *bunstore.DB            // replaces DatabaseURL and DatabaseConnections; the platform migrates its tables of durable tasks
	Model        llm.Model               // replaces LLMBaseURL, LLMModel and LLMModels
	SpeechEngine tts.Engine              // replaces TTS
	Recognizer   conversation.Recognizer // replaces STT
	Mailer       callwright.Mailer       // replaces SMTPURL
	Gateways     []porting.Gateway       // gateways to carriers, replace PortGateway; the first receives new requests
	SpeechBlobs  speech.Blobs            // stores speech samples and recordings of voices, instead of files in Data
	Recordings   call.Recordings         // stores recordings of calls, instead of files in Data

	// Authenticator authenticates requests to the API and the dashboard. It replaces API keys and the dashboard's sign-in.
	Authenticator httpapi.Authenticator

	// Options replace and decorate any other part, as package fx describes. The platform's parts have the types of their packages, such as
	// *call.Service and llm.Model.
	Options []fx.Option

	// Ready is called once, at the end of Start, when the platform is ready. If nil, the platform logs its addresses instead.
	Ready func(Info)

	callwright.Runtime // of all parts; its Logger replaces LogFormat and LogLevel
}

// PortRange is a range of UDP ports, with both ends included. The zero PortRange means any free ports.
type PortRange struct{ Low, High uint16 }

// NamedModel is a language model that clients select by name.
type NamedModel struct {
	Name    string            // name for clients, at most 128 bytes
	Model   string            // name of the model at the service
	BaseURL string            // base URL of the service; "PROTOCOL+https://..." for a protocol other than OpenAI's chat completions
	Key     callwright.Secret // API key for the service; empty sends none
}

// protocols lists the protocols that a base URL can name.
var protocols = []string{protocolOpenAI, protocolAnthropic, protocolGemini}

// The protocols of services. A base URL that names none means OpenAI's chat completions.
const (
	protocolOpenAI    = "openai"
	protocolAnthropic = "anthropic" // Anthropic's Messages API
	protocolGemini    = "gemini"    // generateContent of Google's Gemini API and of Vertex AI
)

// splitProtocol splits the base URL of a service into its protocol and its URL. It returns an error for an unknown protocol. The error
// contains no part of the URL, which can contain a key.
func splitProtocol(baseURL string) (protocol, address string, err error) {
	protocol, address, named := strings.Cut(baseURL, "+http")
	if !named {
		return protocolOpenAI, baseURL, nil
	}
	if !slices.Contains(protocols, protocol) {
		return "", "", fmt.Errorf("the protocol before the + must be %s, not %q", strings.Join(protocols, ", "), callwright.Clip(protocol, 100))
	}
	return protocol, "http" + address, nil
}

// CarrierTimes are the delays from the signature until the simulated carrier accepts, confirms and ports. The zero CarrierTimes means the
// defaults of portgateway.
type CarrierTimes struct{ Accept, Confirm, Port time.Duration }

// Defaults returns the settings of the reference server without flags.
func Defaults() Config {
	host, err := os.Hostname()
	if err != nil {
		host = "callwright"
	}
	return Config{
		Addr: "127.0.0.1:8080", HTTPConnections: httpapi.DefaultConnections, HTTPConnectionsPerAddress: httpapi.DefaultConnectionsPerAddress,
		Node: host, Data: "./data", DatabaseConnections: 22, SIPAddr: "127.0.0.1:5061", RTPPorts: PortRange{Low: 10000, High: 20000},
		Region: "local", CallLogDays: 90, FailedCallIssues: true, FailedTestIssues: true, FailedPortIssues: true, SampleDays: 90,
		PortGateway: []string{portgateway.SimulatedName}, PortsPerHour: 60, ProviderName: "the operator of this server", LOALink: linkInAnswers,
		NumberProof:  proofNone,
		DrainTimeout: 30 * time.Second, LogFormat: "text",
	}
}

// mostCalls limits the concurrent calls, even if ports and open files allow more.
const mostCalls = 1000

// The limits of --database-connections. A quarter of leastConnections suffices for durable tasks.
const (
	leastConnections = 12
	mostConnections  = 10_000
)

// workConnections returns the number of PostgreSQL connections that are reserved for durable tasks.
func (c Config) workConnections() int { return c.DatabaseConnections / 4 }

// mostHTTPConnections is the upper limit of --http-connections.
const mostHTTPConnections = 1_000_000

// room returns the number of concurrent calls that RTPPorts allows, from 1 to mostCalls. Further calls wait or use another node, because a
// call without media ports would fail.
func (c Config) room() int {
	if c.RTPPorts == (PortRange{}) {
		return mostCalls
	}
	low := int(c.RTPPorts.Low) + int(c.RTPPorts.Low)%2 // RTP uses an even port, and RTCP the port above it
	return max(1, min(mostCalls, (int(c.RTPPorts.High)-low+1)/2))
}

// checkLimits returns an error for a number or a duration that is out of range.
func (c *Config) checkLimits() error {
	if c.CallLogDays < 1 || c.CallLogDays > 36500 {
		return errors.New("--call-log-days must be from 1 to 36500")
	}
	if c.SampleDays < 1 || c.SampleDays > 36500 {
		return errors.New("--sample-days must be from 1 to 36500")
	}
	if c.HTTPConnections < 1 || c.HTTPConnections > mostHTTPConnections || c.HTTPConnectionsPerAddress < 1 {
		return fmt.Errorf("--http-connections must be from 1 to %d, and --http-connections-per-address at least 1", mostHTTPConnections)
	}
	if c.DatabaseConnections < leastConnections || c.DatabaseConnections > mostConnections {
		return fmt.Errorf("--database-connections must be from %d to %d", leastConnections, mostConnections)
	}
	if c.PortsPerHour < 1 {
		return errors.New("--ports-per-hour must be at least 1")
	}
	if c.DrainTimeout < 0 {
		return errors.New("--drain-timeout must not be negative")
	}
	if c.ShutdownDelay < 0 {
		return errors.New("--shutdown-delay must not be negative")
	}
	return nil
}

// checkPublicURL removes a trailing slash from PublicURL, and returns an error if PublicURL cannot be the prefix of other URLs.
func (c *Config) checkPublicURL() error {
	c.PublicURL = strings.TrimSuffix(c.PublicURL, "/")
	u, err := url.Parse(c.PublicURL)
	switch {
	case c.PublicURL == "" && c.Addr == "":
		return errors.New("--public-url is required without --addr")
	case c.PublicURL == "":
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("--public-url must be a URL such as https://voice.example.com, without a user name, a query and a fragment")
	case !strings.HasSuffix(c.PublicURL, u.EscapedPath()):
		return fmt.Errorf("--public-url must have an escaped path: %s, not %s", u.EscapedPath(), u.Path)
	}
	return nil
}

// Complete returns the configuration with defaults for the settings that follow from others. The error names an invalid setting by its
// flag. New also calls Complete.
func (c Config) Complete() (Config, error) {
	err := c.complete()
	return c, err
}

// complete validates the settings and derives missing settings from others.
func (c *Config) complete() error {
	if err := c.addresses(); err != nil {
		return err
	}
	if address, err := mail.ParseAddress(c.ContactEmail); c.ContactEmail != "" && (err != nil || address.Address != c.ContactEmail) {
		return errors.New("--contact-email must be an address such as ops@example.com")
	}
	if c.Region == "" {
		return errors.New("--region must not be empty")
	}
	if err := c.checkLimits(); err != nil {
		return err
	}
	if c.LogFormat != "text" && c.LogFormat != "json" {
		return errors.New("--log-format must be text or json")
	}
	if c.DatabaseURL == "" {
		c.DatabaseURL = "sqlite:" + filepath.Join(c.Data, "callwright.db")
	}
	if path, ok := databaseFile(*c); ok && strings.Contains(path, "?") {
		return fmt.Errorf("--database-url %s: must be sqlite:PATH without parameters", c.DatabaseURL)
	}
	if u, err := url.Parse(c.DatabaseURL); err != nil || u.Scheme != "sqlite" && u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return errors.New("--database-url must begin with sqlite:, postgres:// or postgresql://")
	}
	if err := c.checkPublicURL(); err != nil {
		return err
	}
	if err := errors.Join(c.checkEngines(), c.checkPortGateways(), c.checkLOALink(), c.checkNumberProof()); err != nil {
		return err
	}
	if (c.SIPCert == "") != (c.SIPKey == "") {
		return errors.New("--sip-cert and --sip-key must be set together")
	}
	return c.checkModels()
}

// checkModels returns an error if the default model is incomplete, if a service's protocol is unknown, or if --llm-fallback names no further
// model.
func (c *Config) checkModels() error {
	if _, _, err := splitProtocol(c.LLMBaseURL); err != nil {
		return fmt.Errorf("--llm-base-url: %w", err)
	}
	for _, m := range c.LLMModels {
		if _, _, err := splitProtocol(m.BaseURL); err != nil {
			return fmt.Errorf("--llm-models %s: %w", m.Name, err)
		}
	}
	switch {
	case (c.LLMBaseURL == "") != (c.LLMModel == ""):
		return errors.New("--llm-base-url and --llm-model must be set together")
	case c.LLMFallback == "":
		return nil
	case c.LLMBaseURL == "":
		return errors.New("--llm-fallback requires --llm-base-url")
	}
	if !slices.ContainsFunc(c.LLMModels, func(m NamedModel) bool { return m.Name == c.LLMFallback }) {
		return fmt.Errorf("--llm-fallback %s must be a name in --llm-models", c.LLMFallback)
	}
	return nil
}

// checkEngines returns an error for an unknown speech engine, and for a remote engine without --llm-base-url.
func (c *Config) checkEngines() error {
	if err := c.checkVoice(); err != nil {
		return err
	}
	_, remote := recognizers[c.STT]
	if !remote && !slices.Contains([]string{"", "pocketsphinx", "openai", "openai-realtime"}, c.STT) {
		return fmt.Errorf("--stt must be pocketsphinx, openai, openai-realtime, %s", recognizerNames())
	}
	if !remote && (c.STTURL != "" || c.STTAPIKey != "") {
		return fmt.Errorf("--stt-url and --stt-api-key require one of --stt %s", recognizerNames())
	}
	if c.TTS == protocolOpenAI || strings.HasPrefix(c.STT, protocolOpenAI) {
		if protocol, _, err := splitProtocol(c.LLMBaseURL); err != nil || c.LLMBaseURL == "" || protocol != protocolOpenAI {
			return errors.New("--tts openai, --stt openai and --stt openai-realtime require --llm-base-url with OpenAI's protocol")
		}
	}
	return nil
}

// newRuntime returns the Runtime of all parts. It logs to stderr, or to the program's own logger. Each line contains the node, and lines
// about a call contain the call's id.
func newRuntime(c Config, level logLevel) callwright.Runtime {
	options := &slog.HandlerOptions{Level: level}
	var h slog.Handler = slog.NewTextHandler(os.Stderr, options)
	switch {
	case c.Logger != nil:
		h = c.Logger.Handler()
	case c.LogFormat == "json":
		h = slog.NewJSONHandler(os.Stderr, options)
	}
	c.Logger = slog.New(callwright.LogHandler(h)).With("node", c.Node)
	return c.Runtime.WithDefaults()
}
