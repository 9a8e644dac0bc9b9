package sipua_test

import (
	"crypto/tls"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/sipua"
)

// floods maps names to functions that return requests. The requests are refused, each for a different reason, except OPTIONS.
var floods = map[string]func(i int, us string) string{
	"body of a wrong type": func(i int, us string) string {
		return request(i, us, "INVITE sip:+15550100002@x.test SIP/2.0", "Contact: <sip:a@b>", "Content-Type: text/plain", "Content-Length: 1\r\n\r\nx")
	},
	"no Contact":        func(i int, us string) string { return request(i, us, "INVITE sip:+15550100002@x.test SIP/2.0", end) },
	"an unknown scheme": func(i int, us string) string { return request(i, us, "INVITE http://x.test SIP/2.0", end) },
	"an unknown method": func(i int, us string) string { return request(i, us, "FOO sip:x.test SIP/2.0", end) },
	"a needed extension": func(i int, us string) string {
		return request(i, us, "OPTIONS sip:x.test SIP/2.0", "Require: foo", end)
	},
	"another version": func(i int, us string) string { return request(i, us, "OPTIONS sip:x.test SIP/3.0", end) },
	"no dialog":       func(i int, us string) string { return request(i, us, "BYE sip:x.test SIP/2.0", end) },
	"OPTIONS":         func(i int, us string) string { return request(i, us, "OPTIONS sip:x.test SIP/2.0", end) },
	"no message":      func(int, string) string { return "FOO\r\nContent-Length: 0\r\n\r\n" },
	"a number of nobody": func(i int, us string) string {
		return request(i, us, "INVITE sip:nobody@x.test SIP/2.0", "Contact: <sip:a@b>", end)
	},
	"the same thing twice": func(_ int, us string) string { return request(0, us, "INVITE sip:+15550100002@x.test SIP/2.0", end) },
}

const end = "Content-Length: 0\r\n\r\n"

// request returns a SIP request. The last of lines must end the headers.
func request(i int, us, start string, lines ...string) string {
	method, _, _ := strings.Cut(start, " ")
	return strings.Join(append([]string{
		start, fmt.Sprintf("Via: SIP/2.0/TLS %s;branch=z9hG4bKflood-%d", us, i), "Max-Forwards: 70",
		"From: <sip:a@peer.test>;tag=a", "To: <sip:b@x.test>", fmt.Sprintf("Call-ID: flood-%d", i), fmt.Sprintf("CSeq: %d %s", i+1, method),
	}, lines...), "\r\n")
}

// TestFloodOfRefusedRequests checks that a source that sends thousands of requests over several connections, and reads no response, is
// blocked. Until then its requests must accumulate neither goroutines nor transactions, and other sources must be served.
func TestFloodOfRefusedRequests(t *testing.T) { //nolint:paralleltest // it counts goroutines
	const each, connections, perSecond = 1500, 3, 20
	const slack = 100 // up to 2*perSecond requests are in admission, each with a goroutine and sometimes a second one for a timer
	a := newAgent(t, func(c *sipua.Config) { c.InvitesPerSecond = perSecond })
	other := callerOver(dialWireFrom(t, a, "127.0.0.2"), a)
	n := 10
	for name, text := range floods {
		n++
		source := fmt.Sprintf("127.0.0.%d", n)
		t.Run(name, func(t *testing.T) {
			var conns []*tls.Conn
			for range connections {
				conn, err := dialFrom(t, a, source)
				if err != nil {
					t.Fatal(err)
				}
				conns = append(conns, conn)
			}
			before := runtime.NumGoroutine()
			var writing sync.WaitGroup
			for c, conn := range conns {
				writing.Go(func() {
					_ = conn.SetWriteDeadline(time.Now().Add(patience))
					for i := range each {
						if _, err := conn.Write([]byte(text(each*c+i, conn.LocalAddr().String()))); err != nil {
							return // the server has closed the connection
						}
					}
				})
			}
			most, cut := 0, make(chan struct{})
			go func() { writing.Wait(); close(cut) }()
			other.ask("OPTIONS", "")
			other.response(200)
			for done := false; !done; {
				most = max(most, runtime.NumGoroutine()-before)
				if n := a.Pending(); n > slack {
					t.Fatalf("%d INVITEs are pending", n)
				}
				select {
				case <-cut:
					done = true
				case <-time.After(time.Millisecond):
				}
			}
			if most > slack {
				t.Errorf("%d goroutines more", most)
			}
			eventually(t, "the source is blocked", func() bool {
				conn, err := dialFrom(t, a, source)
				if err == nil {
					_ = conn.Close()
				}
				return err != nil
			})
			for _, conn := range conns {
				_ = conn.Close()
			}
		})
	}
	other.ask("INVITE", offerSDP("RTP/SAVP"))
	other.comesIn(a)
}
