package main

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/fx/fxtest"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/internal/testdns"
	"github.com/callwright/callwright/sip/uri"
)

func TestRegions(t *testing.T) {
	t.Parallel()
	c, err := parse([]string{"--region", "ca1", "--rtp-ports", "30000-30100", "--public-host", "sip.example.com"}, none)
	if err != nil {
		t.Fatal(err)
	}
	all := newRegions(c)
	if err := all.listen(c.Region, &net.TCPAddr{Port: 5071}); err != nil {
		t.Fatal(err)
	}
	own := all["ca1"]
	if own.Host != "sip.example.com" || own.Port != 5071 || own.RTPLow != 30000 || own.RTPHigh != 30100 || len(own.Addresses) != 0 {
		t.Errorf("our region is %+v", own)
	}
	if other := all["eu1"]; other.Host != "" || other.Port != 5061 || other.RTPHigh != 20000 || len(other.Addresses) == 0 {
		t.Errorf("another region is %+v", other)
	}
	c.FirewallIPs, c.RTPPorts = []string{"192.0.2.1"}, ports{}
	if own := newRegions(c)["ca1"]; len(own.Addresses) != 1 || own.RTPLow != 1024 || own.RTPHigh != 65535 {
		t.Errorf("with flags it is %+v", own)
	}
}

// TestDNSServer has a name that only the server of the flag knows.
func TestDNSServer(t *testing.T) {
	t.Parallel()
	dns := testdns.Start(t, "pbx.callwright.test. 60 IN A 192.0.2.7")
	r, err := newResolver(config{DNSServer: dns.Address()})
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
	m, err := newMailer(lc, config{Data: data}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.SendMail(t.Context(), "1", "ops@example.com", "subject", "text"); err != nil {
		t.Fatal(err)
	}
	if files, err := os.ReadDir(filepath.Join(data, "mail")); err != nil || len(files) != 1 {
		t.Errorf("the folder holds %v, %v", files, err)
	}
	m, err = newMailer(lc, config{SMTPURL: "smtps://ops%40example.com:secret@mail.example.com"}, nil)
	if err != nil || m.by != "mail.example.com" {
		t.Errorf("by %q, %v", m.by, err)
	}
	for _, url := range []string{"http://user:secret@x", "smtp://user:secret@x", "smtp://user:secret@x:y"} {
		if _, err := newMailer(lc, config{SMTPURL: url}, nil); err == nil || !strings.Contains(err.Error(), "--smtp-url") ||
			strings.Contains(err.Error(), "secret") {
			t.Errorf("%s gave %v", url, err)
		}
	}
	lc.RequireStart().RequireStop()
}

func TestPrompt(t *testing.T) {
	t.Parallel()
	samples, err := prompt{&agentstest.Synthesizer{}}.Prompt(t.Context(), 16000)
	if err != nil || len(samples) < 8000 {
		t.Errorf("%d samples, %v", len(samples), err)
	}
	missing := errors.New("no engine")
	if _, err := (prompt{absent{missing}}).Prompt(t.Context(), 16000); !errors.Is(err, missing) {
		t.Errorf("got %v", err)
	}
	if _, err := (prompt{broken{}}).Prompt(t.Context(), 16000); !errors.Is(err, errBroken) {
		t.Errorf("got %v", err)
	}
}

var errBroken = errors.New("broken")

// broken is a synthesizer whose voice fails after the first samples.
type broken struct{}

func (broken) Synthesize(context.Context, conversation.Speech) (conversation.AudioStream, error) {
	return broken{}, nil
}
func (broken) Read(p []int16) (int, error) { return len(p), errBroken }
func (broken) Close() error                { return nil }
