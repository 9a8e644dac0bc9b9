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

// Config configures Kamailio. Only CA is required.
type Config struct {
	CA         *testca.Authority // signs Kamailio's certificate
	Password   string            // password of all clients that register
	Algorithm  string            // digest algorithm of challenges: MD5 or SHA-256; empty means MD5
	MaxExpires int               // longest granted registration in seconds; 0 means 3600
	// CallsContacts makes Kamailio call registered Contacts over new connections, like registrars without support for flows. It then does
	// not verify certificates.
	CallsContacts bool
	// Front makes Kamailio a proxy that sends all calls to this server over its own connection. It then does not verify certificates. The
	// zero AddrPort disables it.
	Front netip.AddrPort
	// Nodes makes Kamailio a dispatcher that sends each call to the first of these servers that answers OPTIONS with 2xx. Kamailio probes
	// them every second. It then does not verify certificates.
	Nodes []netip.AddrPort
}

// Server is a running Kamailio.
type Server struct {
	*process.Process

	addr netip.AddrPort
}

// startAttempts limits the attempts to start Kamailio. Each uses a new port, in case another program took the port that was free.
const startAttempts = 5

// Start starts Kamailio and waits until it accepts connections. It stops at the end of the test.
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

// Addr returns the server's address for SIP over TLS.
func (s *Server) Addr() netip.AddrPort { return s.addr }

// URI returns the URI of the server, for a trunk or a registration.
func (s *Server) URI() string { return "sip:" + s.addr.String() + ";transport=tls" }

// Number returns the URI at which a registered client can be called. number is the user of the registration.
func (s *Server) Number(number string) string {
	return "sip:" + number + "@" + s.addr.String() + ";transport=tls"
}

// Count counts the occurrences of a text in Kamailio's output, such as "REQUEST OPTIONS sip:127.0.0.1" or "SAVED sip:+1...".
func (s *Server) Count(text string) int { return strings.Count(s.Log(), text) }
