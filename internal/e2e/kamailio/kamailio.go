package kamailio

import (
	"net/netip"
	"os/exec"
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters/testca"
	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/e2e/port"
	"github.com/callwright/callwright/internal/e2e/process"
)

// Config configures Kamailio. CA is required.
type Config struct {
	CA         *testca.Authority // signs its certificate
	Password   string            // of all clients that register
	Algorithm  string            // of its challenges: MD5 when empty, or SHA-256
	MaxExpires int               // seconds that it grants at most; 3600 when 0
	// CallsContacts has it call the Contacts that were registered over connections of its own, as registrars do that have no
	// setting for flows. It does not check certificates then.
	CallsContacts bool
	// Front, unless it is the zero AddrPort, takes all calls over a connection of Kamailio's own: it is a proxy in front of that
	// server. It does not check certificates then.
	Front netip.AddrPort
	// Nodes are servers that calls go to by its dispatcher: to the first one that answers OPTIONS, which it asks each second,
	// with 2xx. It does not check certificates then.
	Nodes []netip.AddrPort
}

// Server is a running Kamailio.
type Server struct {
	*process.Process

	addr netip.AddrPort
}

// startAttempts bounds its starts on another port, after another program took the port that was found free.
const startAttempts = 5

// Start starts Kamailio and waits until it takes connections. The test's end stops it.
func Start(t testing.TB, c Config) *Server {
	t.Helper()
	program := process.Find(t, "kamailio", "kamailio kamailio-tls-modules")
	if c.MaxExpires == 0 {
		c.MaxExpires = 3600
	}
	for range startAttempts {
		home := t.TempDir()
		s := &Server{addr: port.Free(t)}
		file := writeHome(t, home, c, s.addr.String())
		//nolint:noctx // the test's cleanup ends it
		cmd := exec.Command(program, "-f", file, "-w", home, "-Y", home, "-DD", "-E", "-m", "32", "-M", "8")
		s.Process = process.Start(t, "kamailio "+s.addr.String(), cmd, "")
		await.That(t, "kamailio to listen", func() bool { return !s.Running() || port.Listening(t.Context(), s.addr) })
		if s.Running() {
			return s
		}
	}
	t.Fatalf("kamailio did not start in %d attempts on different ports", startAttempts)
	return nil
}

// Addr returns its address for SIP over TLS.
func (s *Server) Addr() netip.AddrPort { return s.addr }

// URI returns the server of a trunk, or a registrar.
func (s *Server) URI() string { return "sip:" + s.addr.String() + ";transport=tls" }

// Number returns the address at which a registered client can be called, by the name or number of the registration.
func (s *Server) Number(number string) string {
	return "sip:" + number + "@" + s.addr.String() + ";transport=tls"
}

// Count counts the occurrences of a text in Kamailio's output: "REQUEST OPTIONS sip:127.0.0.1", "SAVED sip:+1...".
func (s *Server) Count(text string) int { return strings.Count(s.Log(), text) }
