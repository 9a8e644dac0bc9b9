package platform

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.uber.org/fx/fxtest"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/internal/testdns"
	"github.com/callwright/callwright/sip/proof"
	"github.com/callwright/callwright/sip/setup"
	"github.com/callwright/callwright/sip/siptest"
	"github.com/callwright/callwright/sip/uri"
	"github.com/callwright/callwright/speech/tts"
)

func TestRegion(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(c *Config)
		want   setup.Region
	}{
		"by itself": {func(*Config) {}, setup.Region{
			Name: "local", Addresses: []string{"127.0.0.1"}, Host: "127.0.0.1", Port: 5071, RTPLow: 10000, RTPHigh: 20000,
		}},
		"with addresses of its own": {func(c *Config) {
			c.SIPAddr, c.PublicIP, c.MediaIP = "0.0.0.0:5061", netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("198.51.100.1")
		}, setup.Region{
			Name: "local", Addresses: []string{"192.0.2.1", "198.51.100.1"}, Host: "192.0.2.1", Port: 5071, RTPLow: 10000, RTPHigh: 20000,
		}},
		"behind a public address": {func(c *Config) {
			c.SIPAddr, c.PublicIP, c.PublicHost = "10.0.0.5:5061", netip.MustParseAddr("192.0.2.1"), "sip.example.com"
		}, setup.Region{
			Name: "local", Addresses: []string{"192.0.2.1"}, Host: "sip.example.com", Port: 5071, RTPLow: 10000, RTPHigh: 20000,
		}},
		"with settings": {func(c *Config) {
			c.Region, c.FirewallIPs, c.RTPPorts = "east", []string{"192.0.2.7", "192.0.2.8"}, PortRange{Low: 30000, High: 30100}
		}, setup.Region{
			Name: "east", Addresses: []string{"192.0.2.7", "192.0.2.8"}, Host: "127.0.0.1", Port: 5071, RTPLow: 30000, RTPHigh: 30100,
		}},
		"with any port": {func(c *Config) { c.RTPPorts = PortRange{} }, setup.Region{
			Name: "local", Addresses: []string{"127.0.0.1"}, Host: "127.0.0.1", Port: 5071, RTPLow: 1024, RTPHigh: 65535,
		}},
	} {
		c := Defaults()
		test.change(&c)
		c, err := c.Complete()
		if err != nil {
			t.Fatal(err)
		}
		got, err := regionOf(c, &net.TCPAddr{Port: 5071})
		if err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: got %+v, %v; want %+v", name, got, err, test.want)
		}
	}
}

// TestStatusNamesWhatIsRefused checks that docs/status.md lists the codec G.729 exactly if it has no engine, and each of five node types
// exactly if this server refuses it.
func TestStatusNamesWhatIsRefused(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "docs", "status.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, refused, found := strings.Cut(string(page), "## What the contract offers and this server refuses")
	if !found {
		t.Fatal("docs/status.md has no list of what is refused")
	}
	if missing := !slices.Contains(codecs.Names(), "G729"); missing != strings.Contains(refused, "`G.729`") {
		t.Errorf("G.729 has no engine: %t; docs/status.md says otherwise", missing)
	}
	for _, node := range []string{"SMS", "Custom Code", "Transfer Pathway", "Scheduling", "Default"} {
		text := fmt.Sprintf(`{"id":"n","type":%q,"data":{"name":"n","isStart":true,"text":"Hello."}}`, node)
		_, err := graph.Compile(graph.Document{Nodes: []json.RawMessage{json.RawMessage(text)}})
		if refuses := err != nil; refuses != strings.Contains(refused, "`"+node+"`") {
			t.Errorf("a node of type %s gives %v; docs/status.md says otherwise", node, err)
		}
	}
}

// TestDNSServer checks that a resolver with --dns-server resolves a name that exists only on that DNS server.
func TestDNSServer(t *testing.T) {
	t.Parallel()
	dns := testdns.Start(t, "pbx.callwright.test. 60 IN A 192.0.2.7")
	r, err := newResolver(Config{DNSServer: dns.Address()}, newSelf(), callwright.Runtime{})
	if err != nil {
		t.Fatal(err)
	}
	targets, err := r.Targets(t.Context(), uri.URI{Scheme: uri.SIP, Host: "pbx.callwright.test", Port: 5071})
	if err != nil || len(targets) != 1 || targets[0].Address.String() != "192.0.2.7:5071" {
		t.Errorf("got %v, %v", targets, err)
	}
}

func TestMailer(t *testing.T) {
	t.Parallel()
	lc := fxtest.NewLifecycle(t)
	data := t.TempDir()
	m, _, err := newMailer(lc, Config{Data: data}, callwright.Runtime{})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.SendMail(t.Context(), "1", "ops@example.com", "subject", "text"); err != nil {
		t.Fatal(err)
	}
	if files, err := os.ReadDir(filepath.Join(data, "mail")); err != nil || len(files) != 1 {
		t.Errorf("the folder holds %v, %v", files, err)
	}
	_, by, err := newMailer(lc, Config{SMTPURL: "smtps://ops%40example.com:secret@mail.example.com"}, callwright.Runtime{})
	if err != nil || by != "mail.example.com" {
		t.Errorf("by %q, %v", by, err)
	}
	for _, url := range []string{"http://user:secret@x", "smtp://user:secret@x", "smtp://user:secret@x:y"} {
		if _, _, err := newMailer(lc, Config{SMTPURL: callwright.Secret(url)}, callwright.Runtime{}); err == nil || !strings.Contains(err.Error(), "--smtp-url") ||
			strings.Contains(err.Error(), "secret") {
			t.Errorf("%s gave %v", url, err)
		}
	}
	lc.RequireStart().RequireStop()
}

func TestVoice(t *testing.T) {
	t.Parallel()
	siptest.RunSpeaker(t, func(*testing.T) proof.Speaker { return voice{&agentstest.Synthesizer{}} })
}

func TestPrompt(t *testing.T) {
	t.Parallel()
	samples, err := prompt{voice{&agentstest.Synthesizer{}}}.Prompt(t.Context(), 16000)
	if err != nil || len(samples) < 8000 {
		t.Errorf("%d samples, %v", len(samples), err)
	}
	missing := errors.New("no engine")
	if _, err := (prompt{voice{absent{missing}}}).Prompt(t.Context(), 16000); !errors.Is(err, missing) {
		t.Errorf("got %v", err)
	}
	if _, err := (prompt{voice{broken{}}}).Prompt(t.Context(), 16000); !errors.Is(err, errBroken) {
		t.Errorf("got %v", err)
	}
}

var errBroken = errors.New("broken")

// broken is a synthesizer whose stream returns samples and an error in every read.
type broken struct{}

func (broken) Synthesize(context.Context, tts.Request) (tts.Stream, error) {
	return broken{}, nil
}
func (broken) Read(p []int16) (int, error) { return len(p), errBroken }
func (broken) Close() error                { return nil }
