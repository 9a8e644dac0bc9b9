package sipua_test

import (
	"crypto/tls"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/sipua"
	"github.com/callwright/callwright/agents/call"
	trunk "github.com/callwright/callwright/sip"
)

func TestCertificates(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		verify trunk.TLSVerification
		ours   bool // the client trusts the issuing authority
		host   string
		ok     bool
	}{
		{"full, right", trunk.VerifyFull, true, "127.0.0.1", true},
		{"full, another host", trunk.VerifyFull, true, "else.test", false},
		{"full, unknown root", trunk.VerifyFull, false, "127.0.0.1", false},
		{"unset is full", "", true, "else.test", false},
		{"chain, another host", trunk.VerifyChain, true, "else.test", true},
		{"chain, unknown root", trunk.VerifyChain, false, "127.0.0.1", false},
		{"none, unknown root", trunk.VerifyNone, false, "else.test", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := newAgent(t, func(c *sipua.Config) {
				if !tt.ours {
					c.Roots = nil
				}
			})
			address, accept := listenWire(t, tt.host)
			a.callsTo(t, address)
			a.routes.route.Verify = tt.verify
			failed := make(chan error, 1)
			ctx := within(t)
			go func() {
				_, err := a.Dial(ctx, call.DialRequest{Org: org, From: alice, To: bob}, nil)
				failed <- err
			}()
			if tt.ok {
				w := accept()
				w.reply(w.request("INVITE"), 486, "x", "")
				if e := endingOf(t, <-failed); e.Cause != call.CauseBusy {
					t.Errorf("%+v", e)
				}
				return
			}
			if e := endingOf(t, <-failed); e.Cause != call.CauseUnreachable || !strings.Contains(e.Reason, "certificate") {
				t.Errorf("%+v", e)
			}
		})
	}
}

func TestOldTLSIsRefused(t *testing.T) {
	t.Parallel()
	a := newAgent(t, nil)
	_, pool := issue(t, "unused")
	d := tls.Dialer{Config: &tls.Config{
		RootCAs: pool, ServerName: "127.0.0.1", MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11,
	}}
	conn, err := d.DialContext(within(t), "tcp", a.Addr().String())
	if err == nil {
		_ = conn.Close()
		t.Error("TLS 1.1 is accepted")
	}
}

func TestPrivateAddressesAreRefused(t *testing.T) {
	t.Parallel()
	a := newAgent(t, func(c *sipua.Config) { c.AllowPrivate = false })
	address, _ := listenWire(t, "127.0.0.1")
	a.callsTo(t, address)
	_, err := a.Dial(within(t), call.DialRequest{Org: org, From: alice, To: bob}, nil)
	if e := endingOf(t, err); e.Cause != call.CauseUnreachable || !strings.Contains(e.Reason, "public") {
		t.Errorf("%+v", e)
	}
}

func TestNothingIsInjected(t *testing.T) {
	t.Parallel()
	a := newAgent(t, nil)
	a.callsTo(t, "127.0.0.1:1")
	for name, d := range map[string]call.DialRequest{
		"from":         {From: "+1555\r\nX: y", To: bob},
		"to":           {From: alice, To: "bob"},
		"header value": {From: alice, To: bob, Headers: map[string]string{"X-A": "a\r\nVia: b"}},
		"header name":  {From: alice, To: bob, Headers: map[string]string{"X-A:\r\nb": "a"}},
		"long header":  {From: alice, To: bob, Headers: map[string]string{"X-A": strings.Repeat("a", 3000)}},
		"ring":         {From: alice, To: bob, Ring: time.Hour},
	} {
		if _, err := a.Dial(within(t), d, nil); callwright.CodeOf(err) != callwright.CodeBadRequest {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestServersThatHangUpAtOnce checks that the program survives servers that close the connection at any moment, even while a request is
// being sent. sipgo's own transaction layer panics in about one of a hundred such calls.
func TestServersThatHangUpAtOnce(t *testing.T) {
	t.Parallel()
	a := newAgent(t, func(c *sipua.Config) { c.MaxCalls = 1000 })
	cert, _ := issue(t, "127.0.0.1")
	ln, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			_ = conn.(*tls.Conn).HandshakeContext(t.Context())
			<-time.After(time.Duration(rand.IntN(300)) * time.Microsecond)
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() { _ = ln.Close(); <-done })
	a.callsTo(t, ln.Addr().String())
	ctx := within(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 100 {
				_, err := a.Dial(ctx, call.DialRequest{Org: org, From: alice, To: bob}, nil)
				if e, ok := errors.AsType[*call.HangupReason](err); !ok || e.Cause != call.CauseUnreachable {
					t.Errorf("%v", err)
				}
			}
		})
	}
	wg.Wait()
}
