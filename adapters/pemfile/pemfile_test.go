package pemfile_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/pemfile"
	"github.com/callwright/callwright/adapters/testca"
)

// at is a clock that always returns the same time.
type at time.Time

func (a at) Now() time.Time { return time.Time(a) }

func issue(t *testing.T, hosts ...string) tls.Certificate {
	t.Helper()
	ca, err := testca.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	cert, err := ca.Issue(hosts...)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	cert := issue(t, "pbx.example.com", "203.0.113.5")
	leaf, err := x509.ParseCertificate(cert.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		now   time.Time
		hosts []string
		want  string // expected parts, separated by |; empty if no warning is expected
	}{
		"good":           {leaf.NotAfter.Add(-31 * 24 * time.Hour), []string{"pbx.example.com", "203.0.113.5"}, ""},
		"soon":           {leaf.NotAfter.Add(-29*24*time.Hour - time.Minute), nil, "the SIP certificate expires on|in 29 days"},
		"expired":        {leaf.NotAfter.Add(time.Second), nil, "the SIP certificate expired on"},
		"too early":      {leaf.NotBefore.Add(-time.Minute), nil, "is not valid before"},
		"another name":   {leaf.NotBefore.Add(time.Hour), []string{"sip.example.com"}, "does not name sip.example.com"},
		"another number": {leaf.NotBefore.Add(time.Hour), []string{"203.0.113.6"}, "does not name 203.0.113.6"},
	} {
		k, err := pemfile.New(pemfile.Config{
			Read:  func() (tls.Certificate, *x509.CertPool, error) { return cert, nil, nil },
			Hosts: tt.hosts, Name: "the SIP certificate", Runtime: callwright.Runtime{Clock: at(tt.now)},
		})
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(k.Warnings(), "|")
		if tt.want == "" && got != "" {
			t.Errorf("%s: warns %q", name, got)
		}
		for part := range strings.SplitSeq(tt.want, "|") {
			if !strings.Contains(got, part) {
				t.Errorf("%s: warns %q, want %q in it", name, got, part)
			}
		}
	}
}

// files holds the paths of a certificate and its key.
type files struct{ cert, key string }

func (f files) write(t *testing.T, c tls.Certificate) {
	t.Helper()
	chain, key, err := testca.PEM(c)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{f.cert: chain, f.key: key} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRunReads checks that Run uses a new certificate once both of its files are written. While only one is written, the former certificate
// must stay in use.
func TestRunReads(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	f := files{filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key")}
	first, second := issue(t, "first.test"), issue(t, "second.test")
	f.write(t, first)
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		k, err := pemfile.New(pemfile.Config{
			Read: func() (tls.Certificate, *x509.CertPool, error) {
				c, err := tls.LoadX509KeyPair(f.cert, f.key)
				return c, nil, err
			},
			Files: []string{f.cert, f.key}, Runtime: callwright.Runtime{Clock: at(time.Now().AddDate(30, 0, 0)), Logger: slog.New(slog.NewTextHandler(&log, nil))},
		})
		if err != nil {
			t.Fatal(err)
		}
		shows := func(want tls.Certificate) {
			t.Helper()
			if got, _ := k.Certificates(); len(got) != 1 || !bytes.Equal(got[0].Certificate[0], want.Certificate[0]) {
				t.Error("another certificate is shown")
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- k.Run(ctx) }()
		look := func() {
			time.Sleep(11 * time.Second) // on the fake clock of synctest
			synctest.Wait()
		}
		look()
		shows(first)
		chain, key, err := testca.PEM(second)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f.cert, chain, 0o600); err != nil {
			t.Fatal(err)
		}
		look()
		shows(first)
		look()
		if n := strings.Count(log.String(), "stays in use"); n != 1 || !strings.Contains(strings.Join(k.Warnings(), "|"), "stays in use") {
			t.Errorf("%d times in\n%s\nwarnings %q", n, log.String(), k.Warnings())
		}
		if err := os.WriteFile(f.key, key, 0o600); err != nil {
			t.Fatal(err)
		}
		look()
		shows(second)
		if w := k.Warnings(); len(w) != 1 {
			t.Errorf("after the repair: %q", w)
		}
		f.write(t, first)
		k.Reload(ctx)
		shows(first)
		if n := strings.Count(log.String(), "expired on"); n != 4 { // at the start, and after each of three reads
			t.Errorf("%d warnings in\n%s", n, log.String())
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestRunWarnsDaily checks that Run logs a fault at the start and each day, and that Run reads the certificate again each day only if the
// certificate has expired or expires soon.
func TestRunWarnsDaily(t *testing.T) {
	t.Parallel()
	cert := issue(t, "first.test")
	synctest.Test(t, func(t *testing.T) { // starts in the year 2000, before the certificate is valid
		var log bytes.Buffer
		reads := 0
		k, err := pemfile.New(pemfile.Config{
			Read: func() (tls.Certificate, *x509.CertPool, error) {
				reads++
				return cert, nil, nil
			},
			Hosts: []string{"else.test"}, Runtime: callwright.Runtime{Clock: callwright.SystemClock{}, Logger: slog.New(slog.NewTextHandler(&log, nil))},
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 72*time.Hour+time.Minute)
		defer cancel()
		if err := k.Run(ctx); err != nil {
			t.Error(err)
		}
		if n := strings.Count(log.String(), "does not name else.test"); n != 4 || reads != 1 {
			t.Errorf("%d warnings in three days, read %d times", n, reads)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)))
		reads := 0
		k, err := pemfile.New(pemfile.Config{Read: func() (tls.Certificate, *x509.CertPool, error) {
			reads++
			return cert, nil, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 48*time.Hour+time.Minute)
		defer cancel()
		if err := k.Run(ctx); err != nil || reads != 3 {
			t.Errorf("read %d times, %v", reads, err)
		}
	})
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	if _, err := pemfile.New(pemfile.Config{}); err == nil {
		t.Error("a keeper of nothing")
	}
	for name, read := range map[string]func() (tls.Certificate, *x509.CertPool, error){
		"unreadable": func() (tls.Certificate, *x509.CertPool, error) { return tls.Certificate{}, nil, errors.New("gone") },
		"empty":      func() (tls.Certificate, *x509.CertPool, error) { return tls.Certificate{}, nil, nil },
		"malformed": func() (tls.Certificate, *x509.CertPool, error) {
			return tls.Certificate{Certificate: [][]byte{{1}}}, nil, nil
		},
	} {
		if _, err := pemfile.New(pemfile.Config{Read: read}); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
