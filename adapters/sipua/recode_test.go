package sipua_test

import (
	"context"
	"math"
	"net/netip"
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters/codec"
	"github.com/callwright/callwright/adapters/codec/g711"
	"github.com/callwright/callwright/adapters/codec/g722"
	"github.com/callwright/callwright/adapters/sipua"
	"github.com/callwright/callwright/adapters/sipua/rtpmedia"
	"github.com/callwright/callwright/agents/call"
	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/sdp"
)

// speaking returns an SDP offer of the peer with the given payload types.
func speaking(types string, attributes ...string) string {
	return strings.Replace(offerSDP("RTP/SAVP", attributes...), "SAVP 0 101", "SAVP "+types+" 101", 1)
}

// formats returns the payload types in the audio line of an SDP.
func formats(body string) string {
	_, rest, _ := strings.Cut(body, "RTP/SAVP ")
	line, _, _ := strings.Cut(rest, "\r\n")
	return line
}

// TestReinviteChangesCodec checks that a re-INVITE may change to any of the trunk's codecs and back. A PBX sends such a re-INVITE when it
// bridges the call to another phone.
func TestReinviteChangesCodec(t *testing.T) {
	t.Parallel()
	a, c, legs := taking(t)
	c.connected()
	l := legOf(t, legs)
	for _, tt := range []struct {
		offer, want string
		status      int
	}{
		{offer: "8", want: "8 101", status: 200}, {offer: "0", want: "0 101", status: 200},
		{offer: "8 0", want: "0 8 101", status: 200}, // the current codec has priority
		{offer: "9", status: 488}, {offer: "9 8", want: "8 101", status: 200},
	} {
		c.ask("INVITE", speaking(tt.offer))
		r := c.response(tt.status)
		if got := formats(r.body); got != tt.want {
			t.Errorf("%s is answered with %q", tt.offer, got)
		}
		c.ask("ACK", "")
	}
	if codec := l.Info().Codec; codec != "PCMA" {
		t.Errorf("the call has %s", codec)
	}
	if n := len(a.media.last(t).negotiated()); n != 5 {
		t.Errorf("%d negotiations", n)
	}
	c.ask("BYE", "")
	c.response(200)
	ends(t, l)
}

// TestReinviteWithoutOfferChangesCodec checks that our offer to a re-INVITE without an offer contains all codecs of the trunk, and that the
// answer in the ACK may change the codec.
func TestReinviteWithoutOfferChangesCodec(t *testing.T) {
	t.Parallel()
	a, c, legs := taking(t)
	c.connected()
	l := legOf(t, legs)
	c.ask("INVITE", "")
	if r := c.response(200); formats(r.body) != "0 8 101" {
		t.Errorf("our offer has %q", formats(r.body))
	}
	c.ask("ACK", speaking("8"))
	eventually(t, "the codec changes", func() bool { return l.Info().Codec == "PCMA" })
	c.ask("BYE", "")
	c.response(200)
	ends(t, l)
	if n := len(a.media.last(t).negotiated()); n != 2 {
		t.Errorf("%d negotiations", n)
	}
}

// engines contains real codecs with two sample rates.
var engines = codec.Set{g711.PCMU(), g711.PCMA(), g722.Engine()}

func newMedia(t *testing.T) *rtpmedia.Media {
	t.Helper()
	m, err := rtpmedia.New(rtpmedia.Config{IP: netip.MustParseAddr("127.0.0.1"), Codecs: engines.New})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestAudioAfterChangeOfCodec checks that audio flows in both directions through real sockets after each change of the codec and its sample
// rate.
func TestAudioAfterChangeOfCodec(t *testing.T) {
	t.Parallel()
	a := newAgent(t, func(cfg *sipua.Config) { cfg.Media = newMedia(t) })
	a.routes.mu.Lock()
	a.routes.route.Codecs = engines.Names()
	a.routes.mu.Unlock()
	legs, c := answer(t, a), newCaller(t, a)
	peer, err := newMedia(t).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var offered *sdp.Description
	var l call.Leg
	for i, name := range []sdp.Codec{sdp.PCMU, sdp.PCMA, sdp.G722, sdp.PCMU, sdp.G722, sdp.PCMA} {
		offered, err = sdp.Offer(sdp.Capabilities{Media: peer.Local(), Codecs: []sdp.Codec{name}, Previous: offered})
		if err != nil {
			t.Fatal(err)
		}
		c.ask("INVITE", string(offered.Bytes()))
		if i == 0 {
			c.response(180)
		}
		r := c.taken()
		answered, err := sdp.Parse([]byte(r.body))
		if err != nil {
			t.Fatal(err)
		}
		n, err := sdp.Accept(offered, answered)
		if err == nil {
			err = peer.Apply(n)
		}
		if err != nil {
			t.Fatal(err)
		}
		c.ask("ACK", "")
		if l == nil {
			l = legOf(t, legs)
		}
		if n.Codec != name || l.Rate() != 8000 || l.Info().Codec != name.Name() {
			t.Fatalf("%s: %s at %d", name, l.Info().Codec, l.Rate())
		}
		hears(t, string(name)+" of the peer", peer.Write, func(ctx context.Context) ([]int16, error) {
			f, err := l.Read(ctx)
			return f.In, err
		})
		hears(t, string(name)+" of ours", l.Write, func(ctx context.Context) ([]int16, error) {
			var f trunk.Frame
			f, err := peer.Read(ctx)
			return f.In, err
		})
		peer.Flush()
		l.Flush()
	}
	c.ask("BYE", "")
	c.response(200)
	ends(t, l)
	if err := peer.Close(); err != nil {
		t.Error(err)
	}
}

// hears sends a tone with the function write, until the function read has returned half a second of loud audio. It fails the test if read
// returns an error.
func hears(
	t *testing.T, what string, write func(context.Context, []int16) error, read func(context.Context) ([]int16, error),
) {
	t.Helper()
	tone := make([]int16, 160)
	for i := range tone {
		tone[i] = int16(12000 * math.Sin(2*math.Pi*400*float64(i)/8000))
	}
	ctx, stop := context.WithCancel(within(t))
	said := make(chan struct{})
	go func() {
		defer close(said)
		for write(ctx, tone) == nil {
		}
	}()
	defer func() {
		stop()
		<-said
	}()
	for loud := 0; loud < 25; {
		in, err := read(ctx)
		if err != nil {
			t.Fatalf("%s is not heard: %v", what, err)
		}
		sum := 0.0
		for _, s := range in {
			sum += float64(s) * float64(s)
		}
		if loud++; math.Sqrt(sum/float64(len(in))) < 6000 {
			loud = 0
		}
	}
}

// TestAnswerOfSeveralCodecs checks that a peer whose answer contains both laws of G.711 may send either law, regardless of ours. Audio in
// any other codec is a media fault in the call record.
func TestAnswerOfSeveralCodecs(t *testing.T) {
	t.Parallel()
	a, j := watched(t, func(cfg *sipua.Config) { cfg.Media = newMedia(t) })
	address, accept := listenWire(t, "127.0.0.1")
	a.callsTo(t, address)
	peer, err := newMedia(t).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p := dial(t, a, call.DialRequest{Org: org, From: alice, To: bob})
	w := accept()
	invite := w.request("INVITE")
	offer, err := sdp.Parse([]byte(invite.body))
	if err != nil {
		t.Fatal(err)
	}
	both := sdp.Capabilities{Media: peer.Local(), Codecs: []sdp.Codec{sdp.PCMU, sdp.PCMA}}
	answer, n, err := sdp.Answer(both, offer)
	if err != nil {
		t.Fatal(err)
	}
	if got := formats(string(answer.Bytes())); got != "0 8 101" {
		t.Fatalf("the answer has %s", got)
	}
	w.reply(invite, 200, "x", string(answer.Bytes()))
	w.request("ACK")
	l := p.leg()
	for name, payload := range map[sdp.Codec]uint8{sdp.PCMA: 8, sdp.PCMU: 0} {
		n.Codec, n.Payload.Send = name, payload
		if err := peer.Apply(n); err != nil {
			t.Fatal(err)
		}
		hears(t, string(name), peer.Write, func(ctx context.Context) ([]int16, error) {
			f, err := l.Read(ctx)
			return f.In, err
		})
		peer.Flush()
	}
	n.Payload.Send = 18
	if err := peer.Apply(n); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the fault", func() bool { return strings.HasPrefix(l.Stats().Fault, trunk.FaultUndecodable) })
	go func() { _ = l.Hangup(t.Context()) }()
	w.reply(w.request("BYE"), 200, "", "")
	ends(t, l)
	if text := shown(j.all(t, 1)[0].steps); !strings.Contains(text, "- media fault\n- ended") {
		t.Errorf("the ladder is\n%s", text)
	}
	if err := peer.Close(); err != nil {
		t.Error(err)
	}
}
