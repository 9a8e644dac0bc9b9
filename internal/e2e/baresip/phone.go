package baresip

import (
	"math"
	"net"
	"net/netip"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters/testca"
	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/e2e/port"
	"github.com/callwright/callwright/internal/e2e/process"
)

// Config configures a phone. CA is required.
type Config struct {
	CA     *testca.Authority // signs the phone's certificate
	User   string            // the user part of its address, or the number that it is called at; "phone" when empty
	Also   string            // a second user part, or number, that it answers to
	Manual bool              // rings until Accept or Hangup; otherwise it answers immediately
	Codec  string            // PCMU when empty, PCMA, G722 or opus
	Plain  bool              // no SRTP: offers and takes RTP/AVP only
	Hosts  []string          // hosts of its certificate; 127.0.0.1 when empty
}

// Phone is a running baresip. Its methods may be called from one goroutine at a time.
type Phone struct {
	*process.Process

	user    string
	rate    int            // of the files that it plays, in samples per second
	addr    netip.AddrPort // SIP over TLS
	home    string
	control *control
}

// startAttempts bounds the starts of a phone on other ports, after other programs took the ports that were found free.
const startAttempts = 5

// Start starts a phone and waits until it can be called. The test's end stops it.
func Start(t testing.TB, c Config) *Phone {
	t.Helper()
	program := process.Find(t, "baresip", "baresip-core")
	if c.User == "" {
		c.User = "phone"
	}
	for range startAttempts {
		if p := start(t, program, c, findPorts(t)); p != nil {
			return p
		}
	}
	t.Fatalf("baresip did not start in %d attempts on different ports", startAttempts)
	return nil
}

// start starts a phone on the ports given; nil when they were taken meanwhile.
func start(t testing.TB, program string, c Config, ports ports) *Phone {
	t.Helper()
	p := &Phone{user: c.User, rate: c.sourceRate(), addr: ports.tls(), home: t.TempDir()}
	writeHome(t, p.home, c, ports)
	//nolint:noctx // the test's cleanup ends it
	p.Process = process.Start(t, "baresip "+p.addr.String(), exec.Command(program, "-v", "-s", "-f", p.home), "")
	await.That(t, "baresip's control connection", func() bool {
		var err error
		p.control, err = dialControl(t.Context(), ports.control())
		return err == nil || !p.Running()
	})
	if p.control == nil || strings.Contains(p.Log(), "Address already in use") {
		p.Kill()
		return nil
	}
	t.Cleanup(p.control.close)
	await.That(t, "baresip to listen for TLS", func() bool {
		return strings.Contains(p.Log(), "baresip is ready") && port.Listening(t.Context(), p.addr)
	})
	return p
}

// Addr returns the phone's address for SIP over TLS.
func (p *Phone) Addr() netip.AddrPort { return p.addr }

// URI returns the URI at which the phone can be called.
func (p *Phone) URI() string { return "sip:" + p.user + "@" + p.addr.String() + ";transport=tls" }

// Server returns the phone as the server of a trunk, which puts the number called before it.
func (p *Phone) Server() string { return "sip:" + p.addr.String() + ";transport=tls" }

// ports holds the ports of one phone on 127.0.0.1.
type ports struct{ sip, ctrl uint16 }

// tls returns the phone's address for SIP over TLS: baresip 1.0 has no option for that but takes the port after that for
// UDP.
func (p ports) tls() netip.AddrPort { return local(p.sip + 1) }

func (p ports) control() netip.AddrPort { return local(p.ctrl) }

func local(port uint16) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port)
}

// findPorts finds ports that are free now. They stay free with high probability until baresip takes them: the system
// does not hand out the same port twice in a row.
func findPorts(t testing.TB) (found ports) {
	t.Helper()
	var listen net.ListenConfig
	await.That(t, "free ports", func() bool {
		first, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			return false
		}
		defer first.Close()
		found.sip = uint16(first.Addr().(*net.TCPAddr).Port)
		if found.sip == math.MaxUint16 {
			return false
		}
		second, err := listen.Listen(t.Context(), "tcp", found.tls().String())
		if err != nil {
			return false
		}
		defer second.Close()
		udp, err := listen.ListenPacket(t.Context(), "udp", local(found.sip).String())
		if err != nil {
			return false
		}
		defer udp.Close()
		third, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			return false
		}
		defer third.Close()
		found.ctrl = uint16(third.Addr().(*net.TCPAddr).Port)
		return found.sip+1 != found.ctrl
	})
	return found
}

// Dial calls an address, such as sip:+14155550100@127.0.0.1:5061.
func (p *Phone) Dial(t testing.TB, uri string) {
	t.Helper()
	p.Do(t, "dial", uri)
}

// Accept answers the call that rings.
func (p *Phone) Accept(t testing.TB) {
	t.Helper()
	p.Do(t, "accept")
}

// Hangup ends the call, or refuses it with 486 while it rings.
func (p *Phone) Hangup(t testing.TB) {
	t.Helper()
	p.Do(t, "hangup")
}

// Hold puts the other side on hold (a re-INVITE with a=sendonly). From then on, even after Resume, baresip 1.0 decodes no audio: it
// still sends and receives audio and digits, but Heard does not return the audio.
func (p *Phone) Hold(t testing.TB) {
	t.Helper()
	p.Do(t, "hold")
}

// Resume takes the other side back.
func (p *Phone) Resume(t testing.TB) {
	t.Helper()
	p.Do(t, "resume")
}

// Press sends digits as RFC 4733 events, one after the other.
func (p *Phone) Press(t testing.TB, digits string) {
	t.Helper()
	for i, digit := range digits {
		p.Do(t, "sndcode", string(digit))
		await.That(t, "digit "+strconv.Itoa(i+1)+" to be sent", func() bool {
			return strings.Count(p.Log(), "audio: send DTMF digit end: '") >= i+1
		})
	}
}
