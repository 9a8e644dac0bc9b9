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

// Config configures a platform. Defaults returns one that runs unchanged. Each setting names the flag of the reference server that
// sets it: errors name settings so.
type Config struct {
	Addr      string // --addr: host and port of the HTTP API and the dashboard; empty: none is opened, and the program serves the Platform
	PublicURL string // --public-url: public URL of the HTTP API; empty: the URL of Addr, without which it is required

	HTTPConnections           int            // --http-connections: concurrent ones
	HTTPConnectionsPerAddress int            // --http-connections-per-address
	TrustedProxies            []netip.Prefix // --trusted-proxies: reverse proxies that name the clients

	Node                string // --node: name of this process in the log
	Data                string // --data: folder of the database, keys, certificates and recordings
	DatabaseURL         string // --database-url: sqlite:PATH or a URL of PostgreSQL; empty: SQLite in Data
	DatabaseConnections int    // --database-connections: to PostgreSQL; a quarter of them does durable work

	SIPAddr      string         // --sip-addr: IP address and port of SIP over TLS
	SIPCert      string         // --sip-cert: PEM file of the certificate that peers see; empty: one of the test authority in Data
	SIPKey       string         // --sip-key: PEM file of its private key
	SIPRoots     string         // --sip-roots: PEM file of further roots for peers' certificates
	SIPTrusted   []netip.Prefix // --sip-trusted: carriers and proxies that are never banned
	MediaIP      netip.Addr     // --media-ip: to send and receive media at; the zero Addr: the one of SIPAddr
	RTPPorts     PortRange      // --rtp-ports: UDP ports of media; the zero range: any that are free
	Region       string         // --region: its name
	PublicIP     netip.Addr     // --public-ip: at which peers reach this machine; the zero Addr: the one of SIPAddr
	PublicHost   string         // --public-host: for customers' telephone systems to call; empty: PublicIP
	FirewallIPs  []string       // --firewall-ips: of the deployment, for customers' firewalls; none: PublicIP and MediaIP
	DNSServer    string         // --dns-server: host and port; empty: the system's
	AllowPrivate *bool          // --allow-private: whether trunks and webhooks may point at private addresses; nil: when SIPAddr is loopback
	CallLogDays  int            // --call-log-days: that the log of SIP calls is kept

	LLMBaseURL string            // --llm-base-url: an OpenAI-compatible API; empty: the scripted model
	LLMModel   string            // --llm-model
	LLMAPIKey  callwright.Secret // --llm-api-key
	LLMModels  []NamedModel      // --llm-models: further models, by the names that clients ask for
	TTS        string            // --tts: flite, espeak or openai; empty: the first that is installed
	STT        string            // --stt: pocketsphinx or openai; empty: pocketsphinx

	SMTPURL      callwright.Secret // --smtp-url: to send mail by; empty: files in Data
	MailFrom     string            // --mail-from: the sender's address; empty: the user of SMTPURL
	ContactEmail string            // --contact-email: receives the first organization's mail about work for a person; empty: unchanged

	FailedCallIssues bool // --failed-call-issues: calls that fail open issues
	FailedTestIssues bool // --failed-test-issues
	FailedPortIssues bool // --failed-port-issues

	SampleDays    int  // --sample-days: that samples of speech are kept
	ReplaceVoices bool // --replace-unknown-voices: by the default voice

	NumberProof     string                 // --number-proof: none, or call before a number is attached inbound
	NumberProofFrom callwright.PhoneNumber // --number-proof-from: an outbound number of yours that calls; empty: one of the organization

	PortGateway     []string          // --port-gateway: simulated, manual or both; the first takes new requests
	PortedCallsFrom []netip.Prefix    // --ported-calls-from: the carrier that brings ported numbers
	PortsPerHour    int               // --ports-per-hour: that an organization may request
	ProviderName    string            // --provider-name: that letters of authorization designate
	LOALink         string            // --loa-link: answers or mail-only
	CarrierTimes    CarrierTimes      // --simulated-carrier
	CarrierSecret   callwright.Secret // --simulated-carrier-secret: signs its events; empty: it sends none

	DrainTimeout  time.Duration // --drain-timeout: time limit of running calls when the platform stops, after ShutdownDelay
	ShutdownDelay time.Duration // --shutdown-delay: time in which new calls and requests are still accepted, while /readyz and OPTIONS answer 503
	LogFormat     string        // --log-format: text or json
	LogLevel      slog.Level    // --log-level

	// Parts of the program, in place of the parts that the settings choose; nil: the settings choose. The program closes its own parts
	// after the platform has stopped.

	Database     *bunstore.DB            // in place of DatabaseURL and DatabaseConnections; the platform migrates the tables of durable work in it
	Model        llm.Model               // in place of LLMBaseURL, LLMModel and LLMModels
	SpeechEngine tts.Engine              // in place of TTS
	Recognizer   conversation.Recognizer // in place of STT
	Mailer       callwright.Mailer       // in place of SMTPURL
	Gateways     []porting.Gateway       // to carriers of ported numbers, in place of PortGateway; the first takes new requests
	SpeechBlobs  speech.Blobs            // samples of speech and recordings of voices, in place of files in Data
	Recordings   call.Recordings         // of calls, in place of files in Data

	// Authenticator finds the principal of a request to the API or the dashboard, in place of API keys and the dashboard's sign-in.
	Authenticator httpapi.Authenticator

	// Options replace and decorate anything else, as package fx describes: the platform's parts are provided by the types of their
	// packages, such as *call.Service and llm.Model.
	Options []fx.Option

	// Ready is called once, when the platform is ready: at the end of Start. Nil: the log names the addresses.
	Ready func(Info)

	callwright.Runtime // of all parts; its Logger in place of LogFormat and LogLevel
}

// PortRange is a range of UDP ports, both included; the zero PortRange lets the machine choose.
type PortRange struct{ Low, High uint16 }

// NamedModel is a language model that clients ask for by a name.
type NamedModel struct {
	Name    string            // up to 128 bytes
	Model   string            // its name at the service
	BaseURL string            // of the service
	Key     callwright.Secret // to the service; empty: none is sent
}

// CarrierTimes holds the delays from the signature until the simulated carrier accepts, confirms and ports. The zero CarrierTimes stands for
// the defaults of portgateway.
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

// mostCalls bounds the concurrent calls, if there are ports and open files for them.
const mostCalls = 1000

// The bounds of --database-connections. Durable work needs a quarter of the least.
const (
	leastConnections = 12
	mostConnections  = 10_000
)

// workConnections is the number of connections to PostgreSQL that are reserved for durable work.
func (c Config) workConnections() int { return c.DatabaseConnections / 4 }

// mostHTTPConnections bounds --http-connections.
const mostHTTPConnections = 1_000_000

// room returns the number of calls that the ports allow. Further calls wait or go to another node, because a call
// without a port for its media fails.
func (c Config) room() int {
	if c.RTPPorts == (PortRange{}) {
		return mostCalls
	}
	low := int(c.RTPPorts.Low) + int(c.RTPPorts.Low)%2 // RTP takes even ports and RTCP those above them
	return max(1, min(mostCalls, (int(c.RTPPorts.High)-low+1)/2))
}

// checkLimits refuses numbers and durations that are out of range.
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

// checkPublicURL refuses a URL that other URLs cannot begin with.
func (c *Config) checkPublicURL() error {
	c.PublicURL = strings.TrimSuffix(c.PublicURL, "/")
	u, err := url.Parse(c.PublicURL)
	switch {
	case c.PublicURL == "" && c.Addr == "":
		return errors.New("--public-url is required without --addr")
	case c.PublicURL == "":
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("--public-url must be a URL such as https://voice.example.com, without a query")
	case !strings.HasSuffix(c.PublicURL, u.EscapedPath()):
		return fmt.Errorf("--public-url must have a path as URLs carry it: %s, not %s", u.EscapedPath(), u.Path)
	}
	return nil
}

// Complete returns the configuration with everything filled in that follows from something else, or an error that names a setting by
// its flag. New does it, too.
func (c Config) Complete() (Config, error) {
	err := c.complete()
	return c, err
}

// complete checks the settings against each other and derives the missing ones from the rest.
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
		return fmt.Errorf("--database-url %s: a SQLite database takes no parameters: it is sqlite:PATH", c.DatabaseURL)
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
		return errors.New("--sip-cert and --sip-key go together")
	}
	if (c.LLMBaseURL == "") != (c.LLMModel == "") {
		return errors.New("--llm-base-url and --llm-model go together")
	}
	return nil
}

// checkEngines refuses engines that there are not, and a remote one without an address.
func (c *Config) checkEngines() error {
	switch c.TTS {
	case "", "flite", "espeak", "openai":
	default:
		return errors.New("--tts must be flite, espeak or openai")
	}
	switch c.STT {
	case "", "pocketsphinx", "openai":
	default:
		return errors.New("--stt must be pocketsphinx or openai")
	}
	if (c.TTS == "openai" || c.STT == "openai") && c.LLMBaseURL == "" {
		return errors.New("--tts openai and --stt openai need --llm-base-url")
	}
	return nil
}

// newRuntime returns the Runtime of all parts. It logs to stderr, or to the program's own logger. Each line contains the node, and lines
// about a call contain its id.
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
