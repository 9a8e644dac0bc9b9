package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/portgateway"
	"github.com/callwright/callwright/platform"
	"github.com/callwright/callwright/transport/httpapi"
)

// config holds the settings of the server. A setting is a flag such as --sip-addr, or an environment variable such as CALLWRIGHT_SIP_ADDR.
// If both are set, the flag is used.
type config struct {
	to      platform.Config
	ports   ports
	models  models
	carrier carrierTimes
	check   bool // whether to check the engines instead of serving
}

// ports is a flag for a range of UDP ports. 0-0 means any free ports.
type ports platform.PortRange

// String returns the range in the format of the flag.
func (p *ports) String() string { return fmt.Sprintf("%d-%d", p.Low, p.High) }

// Set parses a range such as "10000-20000".
func (p *ports) Set(text string) error {
	low, high, ok := strings.Cut(text, "-")
	l, lowErr := strconv.ParseUint(low, 10, 16)
	h, highErr := strconv.ParseUint(high, 10, 16)
	if !ok || lowErr != nil || highErr != nil || l > h {
		return errors.New("must be a range of ports from 0 to 65535, the lower one first, such as 10000-20000")
	}
	p.Low, p.High = uint16(l), uint16(h)
	return nil
}

// texts holds the raw values of flags that the method complete parses.
type texts struct {
	mediaIP, publicIP, firewallIPs, allowPrivate, portedCallsFrom, portGateways, trustedProxies, sipTrusted, modelKeys string
}

// httpFlags adds the flags for HTTP connections.
func (c *config) httpFlags(f *flag.FlagSet, given *texts) {
	f.Var(wholeNumber(&c.to.HTTPConnections), "http-connections", "limit of concurrent HTTP connections")
	f.Var(wholeNumber(&c.to.HTTPConnectionsPerAddress), "http-connections-per-address",
		"HTTP connections of one address; as many as --http-connections behind a reverse proxy")
	f.StringVar(&given.trustedProxies, "trusted-proxies", "",
		"addresses of reverse proxies, such as 10.0.0.0/8, with commas: their Forwarded and X-Forwarded-For name the clients")
}

// trustFlags adds the flag for addresses that are never banned.
func trustFlags(f *flag.FlagSet, given *texts) {
	f.StringVar(&given.sipTrusted, "sip-trusted", "",
		"addresses and networks of carriers and SIP proxies, with commas: never banned for calls behind them, as are those that trunks name")
}

// parse reads the command line and the environment, which is a list of NAME=value. It returns an error for an invalid or unknown setting.
func parse(args, environ []string) (config, error) {
	c := config{to: platform.Defaults()}
	c.ports = ports(c.to.RTPPorts)
	var given texts
	f := flag.NewFlagSet("server", flag.ContinueOnError)
	f.SetOutput(io.Discard) // the list of all flags must not push an error off the screen
	f.StringVar(&c.to.Addr, "addr", c.to.Addr, "address of the HTTP API")
	f.StringVar(&c.to.PublicURL, "public-url", "", "URL of the HTTP API as clients see it, for links (default: that of --addr)")
	c.httpFlags(f, &given)
	f.StringVar(&c.to.Node, "node", c.to.Node, "name of this server in its log")
	trustFlags(f, &given)
	f.StringVar(&c.to.Data, "data", c.to.Data, "folder of the database, keys, certificates and recordings")
	c.addDatabase(f)
	f.StringVar(&c.to.SIPAddr, "sip-addr", c.to.SIPAddr, "address of SIP over TLS")
	f.StringVar(&c.to.SIPCert, "sip-cert", "", "PEM file of the certificate shown to SIP peers (default: the test authority's)")
	f.StringVar(&c.to.SIPKey, "sip-key", "", "PEM file of its private key")
	f.StringVar(&c.to.SIPRoots, "sip-roots", "", "PEM file of further roots that peers' certificates may chain to")
	f.StringVar(&given.mediaIP, "media-ip", "", "address to send and take media at (default: that of --sip-addr)")
	f.Var(&c.ports, "rtp-ports", "UDP ports for media; 0-0 lets the machine choose")
	f.StringVar(&c.to.Region, "region", c.to.Region, "name of the region that this server is in")
	f.StringVar(&given.publicIP, "public-ip", "", "address at which peers reach this machine (default: that of --sip-addr)")
	f.StringVar(&c.to.PublicHost, "public-host", "", "name for customers' telephone systems to call (default: that of --public-ip)")
	f.StringVar(&given.firewallIPs, "firewall-ips", "", "this deployment's addresses for customers' firewalls, with commas (default: those of --public-ip and --media-ip)")
	f.StringVar(&c.to.DNSServer, "dns-server", "", "host:port of the DNS server for the names of SIP servers (default: the system's)")
	c.addModels(f, &given)
	c.addVoice(f)
	c.addRecognizer(f)
	f.StringVar((*string)(&c.to.SMTPURL), "smtp-url", "", "smtp:// or smtps://, with user and password, to send mail by (default: files in the data folder)")
	f.StringVar(&c.to.MailFrom, "mail-from", "", "the sender's address of mail (default: the user of --smtp-url)")
	f.StringVar(&c.to.ContactEmail, "contact-email", "", "where the first organization is told of what needs a person")
	f.StringVar(&given.allowPrivate, "allow-private", "",
		"true or false: whether trunks and webhooks may point at private addresses (default: when --sip-addr is loopback)")
	c.addDays(f)
	f.Var(trueOrFalse(&c.to.FailedCallIssues), "failed-call-issues", "whether calls that fail open issues, one for those that fail alike")
	f.Var(trueOrFalse(&c.to.FailedTestIssues), "failed-test-issues", "whether runs of tests that fail open issues, one for those that fail alike")
	f.Var(trueOrFalse(&c.to.FailedPortIssues), "failed-port-issues", "whether port requests that fail open issues, one for each cause")
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
		return config{}, fmt.Errorf("unexpected argument %q: settings are flags, which -help lists", f.Arg(0))
	}
	err := c.complete(given)
	return c, err // a single return statement might read c before complete changes it
}

// addDatabase adds the flags of the database.
func (c *config) addDatabase(f *flag.FlagSet) {
	f.StringVar(&c.to.DatabaseURL, "database-url", "", "sqlite:PATH, postgres://... or postgresql://... (default: SQLite in the data folder)")
	f.Var(wholeNumber(&c.to.DatabaseConnections), "database-connections", "connections to PostgreSQL of this node; a quarter of them does durable work")
}

// addModels adds the flags of language models.
func (c *config) addModels(f *flag.FlagSet, given *texts) {
	f.StringVar(&c.to.LLMBaseURL, "llm-base-url", "", "an OpenAI-compatible API, or anthropic+https://... or gemini+https://... (default: the scripted model)")
	f.StringVar(&c.to.LLMModel, "llm-model", "", "the model to ask for there")
	f.StringVar((*string)(&c.to.LLMAPIKey), "llm-api-key", "", "the key to that API")
	f.Var(&c.models, "llm-models", "further models by the names that clients ask for: name=model@base-url,... (without @base-url: at --llm-base-url)")
	f.StringVar(&given.modelKeys, "llm-api-keys", "", "the keys to the APIs of --llm-models: name=key,... (without: that of --llm-api-key, at the same base URL only)")
	f.StringVar(&c.to.LLMFallback, "llm-fallback", "", "the name in --llm-models of the model that replies if --llm-model fails or is silent for 4 seconds")
	f.StringVar(&c.to.LLMPrices, "llm-prices", "", "JSON file with the prices of models (default: the built-in prices, which say their date)")
}

// addVoice adds the flags of the synthesizer.
func (c *config) addVoice(f *flag.FlagSet) {
	f.StringVar(&c.to.TTS, "tts", "", "flite, espeak, openai, elevenlabs, cartesia or deepgram (default: the first local one that is installed)")
	f.StringVar(&c.to.TTSURL, "tts-url", "", "the address of elevenlabs, cartesia or deepgram (default: the service's own)")
	f.StringVar(&c.to.TTSModel, "tts-model", "", "the model that speaks (default: eleven_flash_v2_5, sonic-3.5, or gpt-4o-mini-tts of openai)")
	f.StringVar(&c.to.TTSVoice, "tts-voice", "", "voices, separated by commas, the default first; elevenlabs and cartesia need an id (default: aura-2-thalia-en, or alloy of openai)")
	f.StringVar((*string)(&c.to.TTSAPIKey), "tts-api-key", "", "the key to elevenlabs, cartesia or deepgram")
}

// addRecognizer adds the flags of the recognizer, and of the check of all engines.
func (c *config) addRecognizer(f *flag.FlagSet) {
	f.BoolVar(&c.check, "check-engines", false, "ask each model, the voice and the recognizer a small thing, print what they did, and exit")
	f.StringVar(&c.to.STT, "stt", "", "pocketsphinx, openai, openai-realtime, assemblyai, cartesia, deepgram, elevenlabs, sherpa-offline, sherpa-online, vosk or wyoming (default: pocketsphinx)")
	f.StringVar(&c.to.STTURL, "stt-url", "", "the address of the recognizer (default: the vendor's, or a server on this machine: ws://127.0.0.1:2700 of vosk, tcp://127.0.0.1:10300 of wyoming, ws://127.0.0.1:6006 of sherpa)")
	f.StringVar(&c.to.STTModel, "stt-model", "", "the recognizer's model (default: the adapter's, such as nova-3 of deepgram and gpt-4o-mini-transcribe of openai)")
	f.StringVar((*string)(&c.to.STTAPIKey), "stt-api-key", "", "the key to the recognizer's vendor")
}

// addLog adds the flags of the log.
func (c *config) addLog(f *flag.FlagSet) {
	f.StringVar(&c.to.LogFormat, "log-format", c.to.LogFormat, "text or json")
	f.Var(levelOf(&c.to.LogLevel), "log-level", "least level of what is logged: debug, info, warn or error")
}

// addStop adds the flags for the stop of the server.
func (c *config) addStop(f *flag.FlagSet) {
	f.Var(durationOf(&c.to.DrainTimeout), "drain-timeout", "how long running calls may go on after SIGTERM and --shutdown-delay")
	f.Var(durationOf(&c.to.ShutdownDelay), "shutdown-delay", "how long calls and requests are still taken after SIGTERM, while /readyz and OPTIONS say 503")
}

// addPorts adds the flags of port requests.
func (c *config) addPorts(f *flag.FlagSet, given *texts) {
	f.StringVar(&c.to.NumberProof, "number-proof", c.to.NumberProof, "none, or call: a number is attached inbound after a call to it has read out a code, and the code was sent back")
	f.StringVar((*string)(&c.to.NumberProofFrom), "number-proof-from", "", "an outbound number of yours, whose trunk makes these calls (default: one of the organization, whose own server could answer for every number)")
	f.StringVar(&given.portedCallsFrom, "ported-calls-from", "", "addresses and networks from which calls to ported numbers come, with commas: those of your carrier. A ported number without an inbound trunk gets one for them (default: it waits for a trunk)")
	f.StringVar(&given.portGateways, "port-gateway", portgateway.SimulatedName,
		"simulated or manual, or both with a comma: port requests are begun with the first, and those of the other go on")
	f.Var(wholeNumber(&c.to.PortsPerHour), "ports-per-hour", "port requests that an organization may make in an hour: each mails a stranger")
	f.StringVar(&c.to.ProviderName, "provider-name", c.to.ProviderName, "your company: letters of authorization name it as the new provider of numbers")
	f.StringVar(&c.to.LOALink, "loa-link", c.to.LOALink, "answers: whoever makes a port request gets the link to its letter, too; mail-only: it is only mailed to the signer")
	f.Var(&c.carrier, "simulated-carrier", "when the simulated carrier accepts, confirms and ports, after the signature, such as 1s,2s,3s")
	f.StringVar((*string)(&c.to.CarrierSecret), "simulated-carrier-secret", "", "signs the simulated carrier's events (default: it sends none)")
}

// addDays adds the flags of retention, in days, and the flag for unknown voices.
func (c *config) addDays(f *flag.FlagSet) {
	f.Var(wholeNumber(&c.to.CallLogDays), "call-log-days", "how many days the log of SIP calls is kept")
	f.Var(trueOrFalse(&c.to.ReplaceVoices), "replace-unknown-voices", "the default voice speaks in place of one that is not here, and answers say so (default: it is refused)")
	f.Var(wholeNumber(&c.to.SampleDays), "sample-days", "how many days samples of speech are kept")
}

// complete parses the raw values of texts and completes the platform's configuration.
func (c *config) complete(given texts) (err error) {
	if c.to.Addr == "" {
		return errors.New("--addr must be an address and a port such as 127.0.0.1:8080, or :8080 for every address")
	}
	c.to.RTPPorts = platform.PortRange(c.ports)
	c.to.CarrierTimes = platform.CarrierTimes(c.carrier)
	c.to.PortGateway = strings.Split(given.portGateways, ",")
	if c.to.MediaIP, err = address("--media-ip", given.mediaIP); err != nil {
		return err
	}
	if c.to.PublicIP, err = address("--public-ip", given.publicIP); err != nil {
		return err
	}
	for text := range strings.SplitSeq(given.firewallIPs, ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		ip, err := netip.ParseAddr(text)
		if err != nil {
			return fmt.Errorf("--firewall-ips must be IP addresses, separated by commas, not %q", text)
		}
		c.to.FirewallIPs = append(c.to.FirewallIPs, ip.String())
	}
	if c.to.PortedCallsFrom, err = networks("--ported-calls-from", given.portedCallsFrom); err != nil {
		return err
	}
	if c.to.SIPTrusted, err = networks("--sip-trusted", given.sipTrusted); err != nil {
		return err
	}
	if c.to.TrustedProxies, err = httpapi.ParseProxies(given.trustedProxies); err != nil {
		return fmt.Errorf("--trusted-proxies %w", err)
	}
	if given.allowPrivate != "" {
		allowed, err := strconv.ParseBool(given.allowPrivate)
		if err != nil {
			return errors.New("--allow-private must be true or false")
		}
		c.to.AllowPrivate = &allowed
	}
	if err := c.completeModels(given.modelKeys); err != nil {
		return err
	}
	c.to, err = c.to.Complete()
	return err
}

// networks parses a flag of comma-separated addresses and networks. name is the flag's name in errors.
func networks(name, given string) (all []netip.Prefix, err error) {
	for text := range strings.SplitSeq(given, ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		network, err := callwright.ParseNetwork(text)
		if err != nil {
			return nil, fmt.Errorf("%s must be IP addresses and networks, separated by commas, not %q", name, text)
		}
		all = append(all, network)
	}
	return all, nil
}

// address parses a flag that contains an IP address. An empty text results in the zero Addr.
func address(name, text string) (netip.Addr, error) {
	if text == "" {
		return netip.Addr{}, nil
	}
	ip, err := netip.ParseAddr(text)
	if err != nil {
		return ip, fmt.Errorf("%s must be an IP address such as 192.0.2.1, not %q", name, text)
	}
	return ip, nil
}

// carrierTimes is a flag for three rising durations.
type carrierTimes platform.CarrierTimes

// String returns the durations in the format of the flag, or "" if none is set.
func (c *carrierTimes) String() string {
	if c == nil || *c == (carrierTimes{}) {
		return ""
	}
	return fmt.Sprintf("%s,%s,%s", c.Accept, c.Confirm, c.Port)
}

// Set parses three rising durations such as "1s,2s,3s".
func (c *carrierTimes) Set(text string) error {
	var read [3]time.Duration
	parts := strings.Split(text, ",")
	var before time.Duration
	for i, part := range parts {
		d, err := time.ParseDuration(part)
		if err != nil || len(parts) != len(read) || d <= before {
			return errors.New("must be three rising durations such as 1s,2s,3s")
		}
		read[i], before = d, d
	}
	*c = carrierTimes{read[0], read[1], read[2]}
	return nil
}
