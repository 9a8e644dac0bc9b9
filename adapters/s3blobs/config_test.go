package s3blobs_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/s3blobs"
)

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(c *s3blobs.Config){
		"bucket":      func(c *s3blobs.Config) { c.Bucket = "" },
		"slash":       func(c *s3blobs.Config) { c.Bucket = "a/b" },
		"prefix":      func(c *s3blobs.Config) { c.Prefix = "/a" },
		"traversal":   func(c *s3blobs.Config) { c.Prefix = "a/../b?c" },
		"access key":  func(c *s3blobs.Config) { c.AccessKey = "" },
		"secret key":  func(c *s3blobs.Config) { c.SecretKey = "" },
		"http":        func(c *s3blobs.Config) { c.Endpoint = "http://s3.example.com" },
		"no URL":      func(c *s3blobs.Config) { c.Endpoint = "s3.example.com" },
		"scheme":      func(c *s3blobs.Config) { c.Endpoint = "ftp://s3.example.com" },
		"password":    func(c *s3blobs.Config) { c.Endpoint = "https://key:hunter2@s3.example.com" },
		"encryption":  func(c *s3blobs.Config) { c.Encryption.Algorithm = "rot13" },
		"KMS without": func(c *s3blobs.Config) { c.Encryption.KMSKey = "arn:key" },
	} {
		c := s3blobs.Config{Bucket: "audio", AccessKey: "key", SecretKey: "hunter2"}
		if _, err := s3blobs.New(c); err != nil {
			t.Fatal(err)
		}
		change(&c)
		if _, err := s3blobs.New(c); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSecretsAreNotPrinted checks that fmt does not print the secrets of a configuration.
func TestSecretsAreNotPrinted(t *testing.T) {
	t.Parallel()
	c := s3blobs.Config{Bucket: "audio", AccessKey: "key", SecretKey: "hunter2", SessionToken: "hunter3"}
	if all := fmt.Sprintf("%v %+v %#v", c, c, c); strings.Contains(all, "hunter") {
		t.Error(all)
	}
}

// TestCertificatesAreVerified checks that no request reaches a server with an unknown certificate authority or with TLS 1.1.
func TestCertificatesAreVerified(t *testing.T) {
	t.Parallel()
	reached := false
	handler := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true })
	for name, version := range map[string]uint16{"unknown authority": tls.VersionTLS13, "old version": tls.VersionTLS11} {
		server := httptest.NewUnstartedServer(handler)
		server.TLS = &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: version}
		server.Config.ErrorLog = log.New(io.Discard, "", 0)
		server.StartTLS()
		b, err := s3blobs.New(s3blobs.Config{Bucket: "audio", Endpoint: server.URL, PathStyle: true, AccessKey: "key", SecretKey: "hunter2"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.OpenBlob(t.Context(), "org", "n"); !errors.Is(err, callwright.ErrUnavailable) || reached {
			t.Errorf("%s: %v, reached is %t", name, err, reached)
		}
		server.Close()
	}
}
