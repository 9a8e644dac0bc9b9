package testca_test

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/callwright/callwright/adapters/testca"
)

func TestIssue(t *testing.T) {
	t.Parallel()
	a, err := testca.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	cert, err := a.Issue("localhost", "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(cert.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	for host, good := range map[string]bool{"localhost": true, "127.0.0.1": true, "127.0.0.2": false, "example.com": false} {
		_, err := leaf.Verify(x509.VerifyOptions{DNSName: host, Roots: a.Pool()})
		if (err == nil) != good {
			t.Errorf("%s: %v", host, err)
		}
	}
	if _, err := leaf.Verify(x509.VerifyOptions{Roots: x509.NewCertPool()}); err == nil {
		t.Error("verified without the root")
	}
	chain, key, err := testca.PEM(cert)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tls.X509KeyPair(chain, key); err != nil {
		t.Errorf("the PEM files do not fit: %v", err)
	}
}

func TestOpenAgain(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "new")
	const openers = 8
	roots := make(chan string, openers)
	var wait sync.WaitGroup
	for range openers {
		wait.Go(func() {
			a, err := testca.Open(folder)
			if err != nil {
				t.Error(err)
				return
			}
			text, err := os.ReadFile(a.CertFile())
			if err != nil {
				t.Error(err)
			}
			roots <- string(text)
		})
	}
	wait.Wait()
	close(roots)
	first := <-roots
	for root := range roots {
		if root != first {
			t.Error("two openers have two roots")
		}
	}
	if info, err := os.Stat(filepath.Join(folder, "ca.key")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key is %v, %v", info, err)
	}
}
