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

// Config configures a phone. Only CA is required.
type Config struct {
	CA     *testca.Authority // signs the phone's certificate
	User   string            // user part of the phone's URI, such as its number; empty means "phone"
	Also   string            // second user part for which the phone answers calls
	Manual bool              // rings until Accept or Hangup instead of answering immediately
	Codec  string            // PCMU, PCMA, G722 or opus; empty means PCMU
	Plain  bool              // no SRTP: offers and accepts only RTP/AVP
	Hosts  []string          // hosts of the certificate; empty means 127.0.0.1
}

// Phone is a running baresip. Its methods must not be called concurrently.
type Phone struct {
	*process.Process

	user    string
	rate    int            // sample rate of the files that it plays, in hertz
	addr    netip.AddrPort // address for SIP over TLS
	home    string
	control *control
}

// startAttempts limits the attempts to start a phone. Each uses new ports, in case another program took the ports that were free.
const startAttempts = 5

// Start starts a phone and waits until it accepts calls. The phone stops at the end of the test.
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

// start starts a phone on the given ports. It returns nil if the phone stops immediately, or if another program uses one of the ports.
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

// Server returns the phone's URI without a user, for the server of a trunk, which adds the called number.
func (p *Phone) Server() string { return "sip:" + p.addr.String() + ";transport=tls" }

// ports are the ports of a phone on 127.0.0.1: for SIP over UDP and TCP, and for the control connection.
type ports struct{ sip, ctrl uint16 }

// tls returns the phone's address for SIP over TLS. baresip 1.0 has no option for its port, but uses the port after the SIP port.
func (p ports) tls() netip.AddrPort { return local(p.sip + 1) }

func (p ports) control() netip.AddrPort { return local(p.ctrl) }

func local(port uint16) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port)
}

// findPorts returns ports that are free now. They most likely stay free until baresip uses them, because the system does not assign the
// same port twice in a row.
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

// Dial calls a SIP URI, such as sip:+14155550100@127.0.0.1:5061.
func (p *Phone) Dial(t testing.TB, uri string) {
	t.Helper()
	p.Do(t, "dial", uri)
}

// Accept answers the ringing call.
func (p *Phone) Accept(t testing.TB) {
	t.Helper()
	p.Do(t, "accept")
}

// Hangup ends the call. It answers a ringing call with 486.
func (p *Phone) Hangup(t testing.TB) {
	t.Helper()
	p.Do(t, "hangup")
}

// Hold puts the peer on hold (a re-INVITE with a=sendonly). From then on, even after Resume, baresip 1.0 decodes no audio. It still sends
// and receives audio and digits, but Heard does not return the later audio.
func (p *Phone) Hold(t testing.TB) {
	t.Helper()
	p.Do(t, "hold")
}

// Resume ends the hold.
func (p *Phone) Resume(t testing.TB) {
	t.Helper()
	p.Do(t, "resume")
}

// Press sends digits as RFC 4733 events, one after another.
func (p *Phone) Press(t testing.TB, digits string) {
	t.Helper()
	for i, digit := range digits {
		p.Do(t, "sndcode", string(digit))
		await.That(t, "digit "+strconv.Itoa(i+1)+" to be sent", func() bool {
			return strings.Count(p.Log(), "audio: send DTMF digit end: '") >= i+1
		})
	}
}
