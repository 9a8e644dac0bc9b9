package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/mail"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/portgateway"
	"github.com/callwright/callwright/transport/httpapi"
)

// config is what the flags and their environment twins say: --sip-addr is CALLWRIGHT_SIP_ADDR, and a flag wins.
type config struct {
	Addr        string
	Data        string
	DatabaseURL string
	PublicURL   string // without a slash at its end; empty: that of the listener
	SIPAddr     string
	SIPCert     string
	SIPKey      string
	SIPRoots    string
	MediaIP     netip.Addr
	RTPPorts    ports
	Region      string
	PublicIP    netip.Addr
	PublicHost  string
	FirewallIPs []string

	PortedCallsFrom []netip.Prefix // addresses of the carrier that brings ported numbers

	SIPTrusted []netip.Prefix // carriers and proxies that are never banned

	DNSServer     string
	LLMBaseURL    string
	LLMModel      string
	LLMAPIKey     string
	TTS           string
	STT           string
	SMTPURL       string
	MailFrom      string
	ContactEmail  string
	AllowPrivate  bool
	CallLogDays   int
	DrainTimeout  time.Duration
	ShutdownDelay time.Duration
	Connections   int // to PostgreSQL
	LogFormat     string
	LogLevel      slog.Level

	FailedCallIssues bool
	FailedTestIssues bool
	FailedPortIssues bool

	PortGateways  []string // the first takes new requests
	SampleDays    int      // that what was spoken is kept
	ReplaceVoices bool     // unknown voices are replaced by the default
	PortsPerHour  int      // that an organization may request
	ProviderName  string   // that letters of authorization designate
	LOALink       string   // who gets the link to a letter
	CarrierTimes  carrierTimes
	CarrierSecret string

	Node           string // name of this process in the log
	TrustedProxies []netip.Prefix
	LLMModels      models // further models by the names that clients ask for

	HTTPConnections           int
	HTTPConnectionsPerAddress int
}

// ports is a range of UDP ports; 0-0 lets the machine choose.
type ports struct{ low, high uint16 }

// String is the range as the flag takes it.
func (p *ports) String() string { return fmt.Sprintf("%d-%d", p.low, p.high) }

// Set reads "low-high".
func (p *ports) Set(text string) error {
	low, high, ok := strings.Cut(text, "-")
	l, lowErr := strconv.ParseUint(low, 10, 16)
	h, highErr := strconv.ParseUint(high, 10, 16)
	if !ok || lowErr != nil || highErr != nil || l > h {
		return errors.New("must be a range of ports such as 10000-20000")
	}
	p.low, p.high = uint16(l), uint16(h)
	return nil
}

// mostCalls is how many calls run here at once, if there are ports and open files for them.
const mostCalls = 1000

// The bounds of --database-connections. Durable work needs a quarter of the least.
const (
	leastConnections = 12
	mostConnections  = 10_000
)

// workConnections is how many of the connections to PostgreSQL durable work has for itself.
func (c config) workConnections() int { return c.Connections / 4 }

// mostHTTPConnections bounds --http-connections.
const mostHTTPConnections = 1_000_000

// room is for how many calls there are ports. What is beyond it waits, or goes to another node: a call that is begun
// without a port for its media has failed.
func (c config) room() int {
	if c.RTPPorts == (ports{}) {
		return mostCalls
	}
	low := int(c.RTPPorts.low) + int(c.RTPPorts.low)%2 // RTP takes even ports and RTCP those above them
	return max(1, min(mostCalls, (int(c.RTPPorts.high)-low+1)/2))
}

// texts are flags that become something else than a text.
type texts struct{ mediaIP, publicIP, firewallIPs, allowPrivate, portedCallsFrom, portGateways, trustedProxies, sipTrusted, modelKeys string }

// nodeFlag declares the name of this process in the log.
func (c *config) nodeFlag(f *flag.FlagSet) {
	host, err := os.Hostname()
	if err != nil {
		host = "callwright"
	}
	f.StringVar(&c.Node, "node", host, "name of this server in its log")
}

// httpFlags declares the flags of connections over HTTP.
func (c *config) httpFlags(f *flag.FlagSet, given *texts) {
	f.Var(wholeNumber(&c.HTTPConnections), "http-connections", "HTTP connections at once")
	f.Var(wholeNumber(&c.HTTPConnectionsPerAddress), "http-connections-per-address",
		"HTTP connections of one address; as many as --http-connections behind a reverse proxy")
	f.StringVar(&given.trustedProxies, "trusted-proxies", "",
		"addresses of reverse proxies, such as 10.0.0.0/8, with commas: their Forwarded and X-Forwarded-For name the clients")
}

// trustFlags declares who is never banned for what others do.
func trustFlags(f *flag.FlagSet, given *texts) {
	f.StringVar(&given.sipTrusted, "sip-trusted", "",
		"addresses and networks of carriers and SIP proxies, with commas: never banned for calls behind them, as are those that trunks name")
}

// parse reads the command line and the environment, whose entries are NAME=value.
func parse(args, environ []string) (config, error) {
	c := config{
		RTPPorts: ports{10000, 20000}, CallLogDays: 90, FailedCallIssues: true, FailedTestIssues: true, FailedPortIssues: true, PortsPerHour: 60, SampleDays: 90, DrainTimeout: 30 * time.Second, Connections: 22,
		HTTPConnections: httpapi.DefaultConnections, HTTPConnectionsPerAddress: httpapi.DefaultConnectionsPerAddress,
	}
	var given texts
	f := flag.NewFlagSet("server", flag.ContinueOnError)
	f.SetOutput(io.Discard) // who gave a wrong value wants to know which, and not to search for it above all flags
	f.StringVar(&c.Addr, "addr", "127.0.0.1:8080", "address of the HTTP API")
	f.StringVar(&c.PublicURL, "public-url", "", "URL of the HTTP API as clients see it, for links (default: that of --addr)")
	c.httpFlags(f, &given)
	c.nodeFlag(f)
	trustFlags(f, &given)
	f.StringVar(&c.Data, "data", "./data", "folder of the database, keys, certificates and recordings")
	c.addDatabase(f)
	f.StringVar(&c.SIPAddr, "sip-addr", "127.0.0.1:5061", "address of SIP over TLS")
	f.StringVar(&c.SIPCert, "sip-cert", "", "PEM file of the certificate shown to SIP peers (default: the test authority's)")
	f.StringVar(&c.SIPKey, "sip-key", "", "PEM file of its private key")
	f.StringVar(&c.SIPRoots, "sip-roots", "", "PEM file of further roots that peers' certificates may chain to")
	f.StringVar(&given.mediaIP, "media-ip", "", "address to send and take media at (default: that of --sip-addr)")
	f.Var(&c.RTPPorts, "rtp-ports", "UDP ports for media; 0-0 lets the machine choose")
	f.StringVar(&c.Region, "region", "local", "name of the region that this server is in")
	f.StringVar(&given.publicIP, "public-ip", "", "address at which peers reach this machine (default: that of --sip-addr)")
	f.StringVar(&c.PublicHost, "public-host", "", "name for customers' telephone systems to call (default: that of --public-ip)")
	f.StringVar(&given.firewallIPs, "firewall-ips", "", "this deployment's addresses for customers' firewalls, with commas (default: those of --public-ip and --media-ip)")
	f.StringVar(&c.DNSServer, "dns-server", "", "host:port of the DNS server for the names of SIP servers (default: the system's)")
	f.StringVar(&c.LLMBaseURL, "llm-base-url", "", "an OpenAI-compatible API (default: the scripted model)")
	f.StringVar(&c.LLMModel, "llm-model", "", "the model to ask for there")
	f.StringVar(&c.LLMAPIKey, "llm-api-key", "", "the key to that API")
	f.Var(&c.LLMModels, "llm-models", "further models by the names that clients ask for: name=model@base-url,... (without @base-url: at --llm-base-url)")
	f.StringVar(&given.modelKeys, "llm-api-keys", "", "the keys to the APIs of --llm-models: name=key,... (without: that of --llm-api-key, at the same base URL only)")
	f.StringVar(&c.TTS, "tts", "", "flite, espeak or openai (default: the first that is installed)")
	f.StringVar(&c.STT, "stt", "", "pocketsphinx or openai (default: pocketsphinx)")
	f.StringVar(&c.SMTPURL, "smtp-url", "", "smtp:// or smtps://, with user and password, to send mail by (default: files in the data folder)")
	f.StringVar(&c.MailFrom, "mail-from", "", "the sender's address of mail (default: the user of --smtp-url)")
	f.StringVar(&c.ContactEmail, "contact-email", "", "where the first organization is told of what needs a person")
	f.StringVar(&given.allowPrivate, "allow-private", "",
		"true or false: whether trunks and webhooks may point at private addresses (default: when --sip-addr is loopback)")
	c.addDays(f)
	f.Var(trueOrFalse(&c.FailedCallIssues), "failed-call-issues", "whether calls that fail open issues, one for those that fail alike")
	f.Var(trueOrFalse(&c.FailedTestIssues), "failed-test-issues", "whether runs of tests that fail open issues, one for those that fail alike")
	f.Var(trueOrFalse(&c.FailedPortIssues), "failed-port-issues", "whether port requests that fail open issues, one for each cause")
	c.addPorts(f, &given)
	c.addStop(f)
	c.addLog(f)
	if err := setFromEnv(f, environ); err != nil {
		return config{}, err
	}
	if err := parseFlags(f, args); err != nil {
		return config{}, err
	}
	if f.NArg() > 0 {
		return config{}, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	err := c.complete(given)
	return c, err // in two steps: in one, c might be read before it is complete
}

// addDatabase adds the flags of the database.
func (c *config) addDatabase(f *flag.FlagSet) {
	f.StringVar(&c.DatabaseURL, "database-url", "", "sqlite:PATH, postgres://... or postgresql://... (default: SQLite in the data folder)")
	f.Var(wholeNumber(&c.Connections), "database-connections", "connections to PostgreSQL of this node; a quarter of them does durable work")
}

// addLog adds the flags of the log.
func (c *config) addLog(f *flag.FlagSet) {
	f.StringVar(&c.LogFormat, "log-format", "text", "text or json")
	f.Var(levelOf(&c.LogLevel), "log-level", "least level of what is logged: debug, info, warn or error")
}

// addStop adds the flags of how the server stops.
func (c *config) addStop(f *flag.FlagSet) {
	f.Var(durationOf(&c.DrainTimeout), "drain-timeout", "how long running calls may go on after SIGTERM and --shutdown-delay")
	f.Var(durationOf(&c.ShutdownDelay), "shutdown-delay", "how long calls and requests are still taken after SIGTERM, while /readyz and OPTIONS say 503")
}

// addPorts adds the flags of port requests.
func (c *config) addPorts(f *flag.FlagSet, given *texts) {
	f.StringVar(&given.portedCallsFrom, "ported-calls-from", "", "addresses and networks from which calls to ported numbers come, with commas: those of your carrier. A ported number without an inbound trunk gets one for them (default: it waits for a trunk)")
	f.StringVar(&given.portGateways, "port-gateway", portgateway.SimulatedName,
		"simulated or manual, or both with a comma: port requests are begun with the first, and those of the other go on")
	f.Var(wholeNumber(&c.PortsPerHour), "ports-per-hour", "port requests that an organization may make in an hour: each mails a stranger")
	f.StringVar(&c.ProviderName, "provider-name", "the operator of this server", "your company: letters of authorization name it as the new provider of numbers")
	f.StringVar(&c.LOALink, "loa-link", linkInAnswers, "answers: whoever makes a port request gets the link to its letter, too; mail-only: it is only mailed to the signer")
	f.Var(&c.CarrierTimes, "simulated-carrier", "when the simulated carrier accepts, confirms and ports, after the signature, such as 1s,2s,3s")
	f.StringVar(&c.CarrierSecret, "simulated-carrier-secret", "", "signs the simulated carrier's events (default: it sends none)")
}

// addDays adds the flags of how long what grows is kept.
func (c *config) addDays(f *flag.FlagSet) {
	f.Var(wholeNumber(&c.CallLogDays), "call-log-days", "how many days the log of SIP calls is kept")
	f.Var(trueOrFalse(&c.ReplaceVoices), "replace-unknown-voices", "the default voice speaks in place of one that is not here, and answers say so (default: it is refused)")
	f.Var(wholeNumber(&c.SampleDays), "sample-days", "how many days samples of speech are kept")
}

// checkLimits refuses numbers and durations that are out of range.
func (c *config) checkLimits() error {
	if c.CallLogDays < 1 || c.CallLogDays > 36500 {
		return errors.New("--call-log-days must be from 1 to 36500")
	}
	if c.SampleDays < 1 || c.SampleDays > 36500 {
		return errors.New("--sample-days must be from 1 to 36500")
	}
	if c.HTTPConnections < 1 || c.HTTPConnections > mostHTTPConnections || c.HTTPConnectionsPerAddress < 1 {
		return fmt.Errorf("--http-connections must be from 1 to %d, and --http-connections-per-address at least 1", mostHTTPConnections)
	}
	if c.Connections < leastConnections || c.Connections > mostConnections {
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
func (c *config) checkPublicURL() error {
	c.PublicURL = strings.TrimSuffix(c.PublicURL, "/")
	u, err := url.Parse(c.PublicURL)
	switch {
	case c.PublicURL == "":
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("--public-url must be a URL such as https://voice.example.com, without a query")
	case !strings.HasSuffix(c.PublicURL, u.EscapedPath()):
		return fmt.Errorf("--public-url must have a path as URLs carry it: %s, not %s", u.EscapedPath(), u.Path)
	}
	return nil
}

// complete checks the flags against each other and fills in what follows from others.
func (c *config) complete(given texts) error {
	if err := c.addresses(given); err != nil {
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
	c.PortGateways = strings.Split(given.portGateways, ",")
	if err := errors.Join(c.checkEngines(), c.checkPortGateways(), c.checkLOALink()); err != nil {
		return err
	}
	if (c.SIPCert == "") != (c.SIPKey == "") {
		return errors.New("--sip-cert and --sip-key go together")
	}
	if (c.LLMBaseURL == "") != (c.LLMModel == "") {
		return errors.New("--llm-base-url and --llm-model go together")
	}
	return c.completeModels(given.modelKeys)
}

// checkEngines refuses engines that there are not, and a remote one without an address.
func (c *config) checkEngines() error {
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

// newLogger logs to stderr. Each line has the node, and those about a call its id.
func newLogger(c config, level logLevel) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	var h slog.Handler = slog.NewTextHandler(os.Stderr, options)
	if c.LogFormat == "json" {
		h = slog.NewJSONHandler(os.Stderr, options)
	}
	return slog.New(callwright.LogHandler(h)).With("node", c.Node)
}
