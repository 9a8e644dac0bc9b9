package sipua_test

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/sipua"
)

func TestGarbageOnTheWire(t *testing.T) {
	t.Parallel()
	caller, callee := pair(t)
	for _, garbage := range []string{
		"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"INVITE sip:a@b SIP/2.0\r\nno colon here\r\n\r\n",
		strings.Repeat("\x00\xff", 5000) + "\r\n\r\n",
		"INVITE sip:a@b SIP/2.0\r\nContent-Length: 99999999\r\n\r\n",
		"INVITE sip:a@b SIP/2.0\r\nX: " + strings.Repeat("a", 70000) + "\r\n\r\n",
		"SIP/2.0 200 OK\r\nVia: SIP/2.0/TLS x;branch=z9hG4bKnobody\r\nCSeq: 1 INVITE\r\nContent-Length: 0\r\n\r\n",
		"\r\n\r\n\r\n\r\n",
	} {
		w := dialWire(t, callee)
		_, _ = w.conn.Write([]byte(garbage)) // the server may close the connection before the end
		_ = w.conn.Close()
	}
	out, _ := connect(t, caller, callee)
	if err := out.Hangup(within(t)); err != nil {
		t.Error(err)
	}
}

func TestSilentConnections(t *testing.T) {
	t.Parallel()
	const limit = 50
	caller := newAgent(t, nil)
	callee := newAgent(t, func(c *sipua.Config) { c.MaxConnectionsPerIP = limit })
	caller.callsTo(t, callee.Addr().String())
	var conns []net.Conn
	for range 200 {
		var d net.Dialer
		conn, err := d.DialContext(within(t), "tcp", callee.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, conn)
	}
	// Connections above the limit of one address are closed immediately, the others at the handshake timeout.
	closed := make(chan error, len(conns))
	for _, conn := range conns {
		go func() {
			_ = conn.SetReadDeadline(time.Now().Add(2 * patience))
			_, err := conn.Read(make([]byte, 1))
			closed <- err
		}()
	}
	for range conns {
		if err := <-closed; isTimeout(err) {
			t.Error("a silent connection stays open")
		}
	}
	for _, conn := range conns {
		_ = conn.Close()
	}
	out, _ := connect(t, caller, callee)
	if err := out.Hangup(within(t)); err != nil {
		t.Error(err)
	}
}

// TestSilentConnectionsOfManySources checks that silent connections from eleven addresses, more than MaxConnections in total, do not block
// other peers.
func TestSilentConnectionsOfManySources(t *testing.T) {
	t.Parallel()
	const perSource = 20
	caller := newAgent(t, nil)
	callee := newAgent(t, func(c *sipua.Config) { c.MaxConnections, c.MaxConnectionsPerIP = 10*perSource, perSource })
	caller.callsTo(t, callee.Addr().String())
	out, _ := connect(t, caller, callee)
	for n := range 11 {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(10+n))}}
		for range perSource {
			conn, err := d.DialContext(within(t), "tcp", callee.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close() })
		}
	}
	newcomer := callerOver(dialWireFrom(t, callee, "127.0.0.2"), callee)
	newcomer.ask("INVITE", offerSDP("RTP/SAVP"))
	newcomer.comesIn(callee)
	if err := out.Hangup(within(t)); err != nil { // uses its existing connection
		t.Error(err)
	}
	select {
	case <-newcomer.closed:
		t.Error("a connection with a call is closed")
	default:
	}
}

// TestCancelAtOnce checks that a CANCEL that immediately follows its INVITE ends the call, even during its admission.
func TestCancelAtOnce(t *testing.T) {
	t.Parallel()
	a := newAgent(t, nil)
	for range 20 {
		c := newCaller(t, a)
		c.ask("INVITE", offerSDP("RTP/SAVP"))
		c.ask("CANCEL", "")
		m := c.next()
		for ; m.status() == 100 || m.status() == 200; m = c.next() {
		}
		if m.status() != 487 {
			t.Fatalf("%s %v", m.start, m.header)
		}
	}
	eventually(t, "the cancelled calls are gone", func() bool { return a.Calls() == 0 })
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	cert, _ := issue(t, "127.0.0.1")
	good := func() sipua.Config {
		c := sipua.Config{Listen: "127.0.0.1:0", Media: &media{}, Routes: &routes{}}
		c.Certificates = append(c.Certificates, cert)
		return c
	}
	for name, change := range map[string]func(*sipua.Config){
		"no media":        func(c *sipua.Config) { c.Media = nil },
		"no routes":       func(c *sipua.Config) { c.Routes = nil },
		"no certificate":  func(c *sipua.Config) { c.Certificates = nil },
		"rings for ever":  func(c *sipua.Config) { c.Ring = time.Hour },
		"short session":   func(c *sipua.Config) { c.SessionExpires = time.Second },
		"injected header": func(c *sipua.Config) { c.UserAgent = "a\r\nb: c" },
		"no such address": func(c *sipua.Config) { c.Listen = "192.0.2.1:0" },
		"nowhere to call": func(c *sipua.Config) { c.Listen = "0.0.0.0:0" },
	} {
		c := good()
		change(&c)
		if ua, err := sipua.New(c); err == nil {
			t.Errorf("%s is accepted", name)
			_ = ua.Close(within(t))
		}
	}
}
