package rtpmedia_test

import (
	"net"
	"net/netip"
	"testing"
	"testing/synctest"

	"github.com/callwright/callwright/adapters/sipua/rtpmedia"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/siptest"
)

// inMemory runs a test of package siptest with the fake clock of synctest, on a network without faults.
func inMemory(t *testing.T, test func(*testing.T, siptest.MediaSetup)) {
	t.Helper()
	const pairs = 4
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		cfg := rtpmedia.Config{
			IP: netip.MustParseAddr("192.0.2.1"), Ports: rtpmedia.PortRange{Low: 10000, High: 10000 + 2*pairs}, Codecs: g711s.New,
		}
		port := uint16(20000)
		test(t, siptest.MediaSetup{
			Media: must(rtpmedia.NewOn(cfg, n.listen))(t), Codecs: g711s.New, Pairs: pairs, Bubble: true,
			Listen: func() (siptest.Socket, error) {
				port++
				c, err := n.listen(netip.AddrPortFrom(netip.MustParseAddr("192.0.2.9"), port))
				if err != nil {
					return nil, err
				}
				return c.(*wire), nil
			},
		})
	})
}

// onSockets runs a test of package siptest in real time, on the loopback interface.
func onSockets(t *testing.T, test func(*testing.T, siptest.MediaSetup)) {
	t.Helper()
	test(t, siptest.MediaSetup{
		Media:  newMedia(t, func(cfg *rtpmedia.Config) { cfg.Codecs = g711s.New }),
		Codecs: g711s.New,
		Listen: func() (siptest.Socket, error) {
			return net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(loopback, 0)))
		},
	})
}

func TestMedia(t *testing.T) {
	t.Parallel()
	t.Run("in memory", func(t *testing.T) { t.Parallel(); siptest.RunMedia(t, inMemory) })
	t.Run("on sockets", func(t *testing.T) { t.Parallel(); siptest.RunMedia(t, onSockets) })
}

func TestMediaSession(t *testing.T) {
	t.Parallel()
	t.Run("in memory", func(t *testing.T) { t.Parallel(); siptest.RunMediaSession(t, inMemory) })
	t.Run("on sockets", func(t *testing.T) { t.Parallel(); siptest.RunMediaSession(t, onSockets) })
}

// TestCodecs runs the codec suite of package siptest on this package's test codecs, because the other tests rely on them.
func TestCodecs(t *testing.T) { //nolint:paralleltest // the suite counts allocations
	for _, name := range []string{"PCMU", "G722"} {
		siptest.RunCodec(t, func() (sip.Codec, error) { return codecs(name) }, siptest.CodecFeatures{SignalToNoise: 25})
	}
}
