package transport_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/adapters/sipua/internal/transport"
)

func options(id, body string, headers ...string) string {
	lines := append([]string{
		"OPTIONS sip:a@b SIP/2.0", "Via: SIP/2.0/TLS x;branch=z9hG4bK" + id, "From: <sip:a@b>;tag=t", "To: <sip:a@b>",
		"Call-ID: " + id, "CSeq: 1 OPTIONS",
	}, headers...)
	return strings.Join(lines, "\r\n") + fmt.Sprintf("\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

// TestFramerCuts checks that the messages do not depend on how a stream is split into reads.
func TestFramerCuts(t *testing.T) {
	t.Parallel()
	piece := rapid.SampledFrom([]string{
		options("good", ""), options("body", "v=0\r\n\r\nOPTIONS sip:x SIP/2.0\r\n\r\n"), options("bad", "body", "no colon"),
		"SIP/2.0 200 OK\r\nCSeq: 1 INVITE\r\nl:\r\n 0\r\n\r\n", "SIP/2.0 abc\r\nContent-Length: 0\r\n\r\n",
		"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", "\r\n\r\n", "\r\n",
	})
	rapid.Check(t, func(t *rapid.T) {
		stream := strings.Join(rapid.SliceOfN(piece, 1, 8).Draw(t, "pieces"), "")
		want, refused := frame(t, []string{stream})
		var reads []string
		for rest := stream; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "read")
			reads, rest = append(reads, rest[:n]), rest[n:]
		}
		got, refusals := frame(t, reads)
		if got != want || refusals != refused {
			t.Fatalf("%q and %d responses, not %q and %d", got, refusals, want, refused)
		}
		if bad := strings.Count(stream, "no colon"); refused != bad {
			t.Fatalf("%d responses to %d malformed requests", refused, bad)
		}
	})
}

// frame feeds reads to a framer. It returns the text of the messages, and the number of responses to malformed requests.
func frame(t *rapid.T, reads []string) (whole string, refusals int) {
	t.Helper()
	var f transport.Framer
	var all []string
	for _, read := range reads {
		got, refused, err := f.Feed([]byte(read))
		if err != nil {
			t.Fatal(err)
		}
		for _, msg := range got {
			all = append(all, msg.String())
		}
		for _, r := range refused {
			if r != "" {
				refusals++
			}
		}
	}
	return strings.Join(all, "\n"), refusals
}

// TestFramerLosesTheStream checks that a message whose end cannot be found ends the connection, but only after earlier messages of the same
// read.
func TestFramerLosesTheStream(t *testing.T) {
	t.Parallel()
	head := "OPTIONS sip:a@b SIP/2.0\r\nVia: SIP/2.0/TLS x\r\n"
	for name, broken := range map[string]string{
		"no length":       head + "\r\n",
		"a negative one":  head + "Content-Length: -999\r\n\r\n",
		"two that differ": head + "Content-Length: 1\r\nl: 2\r\n\r\n",
		"a huge body":     head + "Content-Length: 99999999\r\n\r\n",
		"endless headers": head + "X: " + strings.Repeat("a", transport.MaxMessage),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var alone transport.Framer
			_, refusals, err := alone.Feed([]byte(broken))
			if err == nil || len(refusals) != 1 || !strings.HasPrefix(refusals[0], "SIP/2.0 400 ") {
				t.Errorf("alone: %v, %q", err, refusals)
			}
			var behind transport.Framer
			whole, refusals, err := behind.Feed([]byte(options("good", "") + broken))
			if len(whole) != 1 || len(refusals) != 1 || err != nil {
				t.Errorf("behind a request: %q, %q, %v", whole, refusals, err)
			}
			if _, _, err := behind.Feed([]byte("\r\n")); err == nil {
				t.Error("the stream goes on")
			}
		})
	}
}

// FuzzFramer checks that a framer stores a bounded number of bytes for any input.
func FuzzFramer(f *testing.F) {
	f.Add([]byte(options("good", "body")+options("bad", "", "no colon")), 7)
	f.Add([]byte("SIP/2.0 200 OK\r\nl: 0\r\n\r\n\r\n\r\nOPTIONS a SIP/9\r\nv: x\r\n l\r\nl: 0\r\n\r\n"), 1)
	f.Fuzz(func(t *testing.T, stream []byte, size int) {
		size = max(1, min(size, 1<<15))
		var framer transport.Framer
		for rest := stream; len(rest) > 0; {
			n := min(size, len(rest))
			if _, _, err := framer.Feed(rest[:n]); err != nil {
				return
			}
			if framer.Held() > transport.MaxMessage+size {
				t.Fatalf("holds %d bytes", framer.Held())
			}
			rest = rest[n:]
		}
	})
}
