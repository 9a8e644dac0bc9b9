package sipua_test

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// message is a parsed SIP message.
type message struct {
	start  string
	header textproto.MIMEHeader
	body   string
}

func (m message) method() string { return strings.Fields(m.start)[0] }

func (m message) status() int {
	n, _ := strconv.Atoi(strings.Fields(m.start)[1])
	return n
}

func (m message) get(name string) string { return m.header.Get(name) }

func (m message) cseq() int {
	n, _ := strconv.Atoi(strings.Fields(m.get("CSeq"))[0])
	return n
}

// toTag returns the tag of the To header, or an empty text.
func (m message) toTag() string {
	_, tag, _ := strings.Cut(m.get("To"), ";tag=")
	return tag
}

// wire is a scripted peer at one end of a TLS connection.
type wire struct {
	t        testing.TB
	conn     *tls.Conn
	incoming chan message
	closed   chan struct{}   // closed when the connection ends
	pings    atomic.Int32    // number of empty lines between messages
	answered map[string]bool // Via headers of answered INVITEs; see repeated
	repeats  bool            // makes next return repeated answers, too
}

func newWire(t testing.TB, conn *tls.Conn) *wire {
	t.Helper()
	w := &wire{t: t, conn: conn, incoming: make(chan message, 100), closed: make(chan struct{}), answered: map[string]bool{}}
	go w.read()
	t.Cleanup(func() {
		_ = conn.Close()
		<-w.closed
	})
	return w
}

func (w *wire) read() {
	defer close(w.closed)
	r := textproto.NewReader(bufio.NewReader(w.conn))
	for {
		start, err := r.ReadLine()
		if err != nil {
			return
		}
		if start == "" {
			w.pings.Add(1)
			continue
		}
		header, err := r.ReadMIMEHeader()
		if err != nil {
			return
		}
		n, _ := strconv.Atoi(header.Get("Content-Length"))
		body := make([]byte, n)
		if _, err := io.ReadFull(r.R, body); err != nil {
			return
		}
		w.incoming <- message{start: start, header: header, body: string(body)}
	}
}

// next returns the next message. Unless repeats is set, it skips retransmitted 200 responses to an INVITE, which arrive if a test is slow.
func (w *wire) next() message {
	w.t.Helper()
	for {
		select {
		case m := <-w.incoming:
			if !w.repeated(m) || w.repeats {
				return m
			}
		case <-time.After(patience):
			w.t.Fatal("no message comes")
			return message{}
		}
	}
}

// repeated reports whether a message is a retransmitted 200 to an INVITE.
func (w *wire) repeated(m message) bool {
	if m.method() != "SIP/2.0" || m.status() != 200 || !strings.HasSuffix(m.get("CSeq"), "INVITE") {
		return false
	}
	via := m.get("Via")
	was := w.answered[via]
	w.answered[via] = true
	return was
}

// request waits for the next message and fails the test if it is not a request with the given method.
func (w *wire) request(method string) message {
	w.t.Helper()
	m := w.next()
	if m.method() != method {
		w.t.Fatalf("not %s but\n%s\n%v\n%s", method, m.start, m.header, m.body)
	}
	return m
}

// response waits for a response with the given status, and fails the test for any other message. It skips a 100 unless status is 100.
func (w *wire) response(status int) message {
	w.t.Helper()
	for {
		m := w.next()
		if m.method() != "SIP/2.0" || m.status() != status && m.status() != 100 {
			w.t.Fatalf("not %d but\n%s\n%v\n%s", status, m.start, m.header, m.body)
		}
		if m.status() == status {
			return m
		}
	}
}

// send writes a message that consists of header lines, Content-Length, and the body. A body is marked as SDP.
func (w *wire) send(body string, lines ...string) {
	w.t.Helper()
	if body != "" {
		lines = append(lines, "Content-Type: application/sdp")
	}
	lines = append(lines, "Content-Length: "+strconv.Itoa(len(body)), "", body)
	w.raw(strings.Join(lines, "\r\n"))
}

func (w *wire) raw(text string) {
	w.t.Helper()
	if _, err := w.conn.Write([]byte(text)); err != nil {
		w.t.Fatal(err)
	}
}

// reply answers a request. It adds the given To tag if the request has none, unless status is 100. A 2xx response to an INVITE also
// contains a Contact.
func (w *wire) reply(req message, status int, tag, body string, extra ...string) {
	w.t.Helper()
	to := req.get("To")
	if req.toTag() == "" && status > 100 {
		to += ";tag=" + tag
	}
	lines := []string{fmt.Sprintf("SIP/2.0 %d Test", status)}
	for _, via := range req.header["Via"] {
		lines = append(lines, "Via: "+via)
	}
	lines = append(lines, "From: "+req.get("From"), "To: "+to, "Call-Id: "+req.get("Call-Id"), "CSeq: "+req.get("CSeq"))
	own := slices.ContainsFunc(extra, func(line string) bool { return strings.HasPrefix(line, "Contact:") })
	if status/100 == 2 && req.method() == "INVITE" && !own {
		lines = append(lines, "Contact: <sip:peer@"+w.conn.LocalAddr().String()+";transport=tls>")
	}
	w.send(body, append(lines, extra...)...)
}

// answerSDP returns the peer's SDP answer to an offer of the user agent.
func answerSDP(attributes ...string) string {
	return offerSDP("RTP/SAVP", attributes...)
}

const testKey = "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:d0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj"

// offerSDP returns the peer's SDP with PCMU and the given transport protocol and attributes.
func offerSDP(proto string, attributes ...string) string {
	lines := []string{
		"v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0", "m=audio 30000 " + proto + " 0 101",
		"a=rtpmap:101 telephone-event/8000",
	}
	if proto == "RTP/SAVP" {
		lines = append(lines, testKey)
	}
	return strings.Join(append(lines, attributes...), "\r\n") + "\r\n"
}

// listenWire starts a server with a certificate for hosts, and returns its address. accept waits for the next connection.
func listenWire(t testing.TB, hosts ...string) (address string, accept func() *wire) {
	t.Helper()
	cert, _ := issue(t, hosts...)
	var lc net.ListenConfig
	tcp, err := lc.Listen(within(t), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln := tls.NewListener(tcp, &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12})
	conns := make(chan *tls.Conn, 10)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			secure := conn.(*tls.Conn)
			if secure.HandshakeContext(context.Background()) != nil {
				_ = secure.Close()
				continue
			}
			conns <- secure
		}
	}()
	t.Cleanup(func() { _ = ln.Close(); <-done })
	return ln.Addr().String(), func() *wire {
		t.Helper()
		select {
		case c := <-conns:
			return newWire(t, c)
		case <-time.After(patience):
			t.Fatal("no connection comes")
			return nil
		}
	}
}

// dialWire returns a new connection from a peer to the agent.
func dialWire(t testing.TB, a *agent) *wire {
	t.Helper()
	return dialWireFrom(t, a, "127.0.0.1")
}

// dialWireFrom returns a new connection to the agent from the given address of this machine.
func dialWireFrom(t testing.TB, a *agent, source string) *wire {
	t.Helper()
	conn, err := dialFrom(t, a, source)
	if err != nil {
		t.Fatal(err)
	}
	return newWire(t, conn)
}

func dialFrom(t testing.TB, a *agent, source string) (*tls.Conn, error) {
	t.Helper()
	_, pool := issue(t, "unused")
	d := tls.Dialer{
		NetDialer: &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(source)}},
		Config:    &tls.Config{RootCAs: pool, ServerName: "127.0.0.1", MinVersion: tls.VersionTLS12},
	}
	conn, err := d.DialContext(within(t), "tcp", a.Addr().String())
	if err != nil {
		return nil, err
	}
	return conn.(*tls.Conn), nil
}

// caller is a scripted peer's side of a call to the agent.
type caller struct {
	*wire
	uri     string
	from    string // the From value with its tag; if empty, alice's
	callID  string
	tag     string // the agent's To tag
	target  string // the Request-URI, after the 200 the agent's Contact
	contact string // the caller's own URI; if empty, the local end of its connection
	cseq    int
	branch  int
}

func newCaller(t testing.TB, a *agent) *caller {
	t.Helper()
	return callerOver(dialWire(t, a), a)
}

func callerOver(w *wire, a *agent) *caller {
	uri := "sip:" + bob.String() + "@" + a.Addr().String() + ";transport=tls"
	return &caller{wire: w, uri: uri, target: uri, callID: w.conn.LocalAddr().String()}
}

// ask sends a request of the call. ACK and CANCEL use the CSeq of the INVITE.
func (c *caller) ask(method, body string, extra ...string) {
	c.t.Helper()
	if method != "CANCEL" { // a CANCEL has the branch of its INVITE
		c.branch++
	}
	if method != "ACK" && method != "CANCEL" {
		c.cseq++
	}
	to := "To: <" + c.uri + ">"
	if c.tag != "" && method != "CANCEL" {
		to += ";tag=" + c.tag
	}
	from := c.from
	if from == "" {
		from = "<sip:" + alice.String() + "@peer.test>;tag=peer"
	}
	lines := append([]string{
		method + " " + c.target + " SIP/2.0",
		fmt.Sprintf("Via: SIP/2.0/TLS %s;branch=z9hG4bK%s-%d", c.conn.LocalAddr(), c.callID, c.branch),
		"Max-Forwards: 70", "From: " + from, to, "Call-ID: " + c.callID,
		fmt.Sprintf("CSeq: %d %s", c.cseq, method),
	}, extra...)
	if method == "INVITE" {
		lines = append(lines, "Contact: <"+cmp.Or(c.contact, "sip:peer@"+c.conn.LocalAddr().String()+";transport=tls")+">")
	}
	c.send(body, lines...)
}

// connected establishes a call with INVITE, 180, 200 and ACK, and returns the 200.
func (c *caller) connected(extra ...string) message {
	c.t.Helper()
	c.ask("INVITE", offerSDP("RTP/SAVP"), extra...)
	c.response(180)
	ok := c.taken()
	c.ask("ACK", "")
	return ok
}

func (c *caller) taken() message {
	c.t.Helper()
	ok := c.response(200)
	c.tag = ok.toTag()
	_, contact, _ := strings.Cut(ok.get("Contact"), "<")
	c.target, _, _ = strings.Cut(contact, ">")
	return ok
}

// hungUp waits until the connection is closed by the other side.
func (w *wire) hungUp() {
	w.t.Helper()
	select {
	case <-w.closed:
	case <-time.After(patience):
		w.t.Fatal("the connection stays open")
	}
}

// silent checks that no message arrives within d.
func (w *wire) silent(d time.Duration) {
	w.t.Helper()
	select {
	case m := <-w.incoming:
		w.t.Fatalf("unexpected\n%s\n%v\n%s", m.start, m.header, m.body)
	case <-time.After(d):
	}
}

func isTimeout(err error) bool {
	netErr, ok := errors.AsType[net.Error](err)
	return ok && netErr.Timeout()
}
