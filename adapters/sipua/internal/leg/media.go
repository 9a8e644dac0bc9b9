package leg

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/callwright/callwright/agents/call"
	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/dialog"
	"github.com/callwright/callwright/sip/sdp"
)

// media is a leg's offer/answer state (RFC 3264) and its media session. Only the leg's mailbox uses it, except for the fields that the
// mutex guards.
type media struct {
	audio  *Audio      // nil until an inbound call is admitted
	claims bool        // the audio is another leg's until our first answer applies; audio's mutex guards it
	codecs []sdp.Codec // of the trunk, in its order
	// transcode lets the peer send another of the codecs than we do; see sip.CodecConfig.
	transcode bool
	// publicOnly keeps media from addresses that are not public.
	publicOnly bool
	proven     func() netip.Addr // of the signaling connection
	log        *slog.Logger

	remoteSDP []byte           // the peer's last description, until it is used
	offer     *sdp.Description // ours that waits for an answer
	reply     *sdp.Description // our answer to the peer's offer
	current   *sdp.Description // ours that was agreed on last
	agreed    []sdp.Codec      // the codecs that were agreed on last; none before the first answer

	mu     sync.Mutex
	codec  sdp.Codec
	closed bool
	stats  call.Stats
}

var errNoOffer = errors.New("an answer without an offer")

// requested returns the description for a request of ours. A later description refreshes the session: it offers the agreed parameters.
func (m *media) requested() ([]byte, error) {
	if m.agreed != nil {
		return m.offered(m.agreed)
	}
	return m.offered(m.codecs)
}

// responded returns the description for a 2xx: our answer, or our offer when the INVITE had none. The latter names every
// codec, because the peer may connect the call to another party (RFC 6337, 5.2.5).
func (m *media) responded(b dialog.Body) ([]byte, error) {
	if b == dialog.Offer {
		return m.offered(m.preferred())
	}
	if m.reply == nil {
		return nil, errNoOffer
	}
	return m.reply.Bytes(), nil
}

func (m *media) offered(codecs []sdp.Codec) ([]byte, error) {
	offer, err := sdp.Offer(m.capabilities(codecs))
	if err != nil {
		return nil, err
	}
	m.offer = offer
	return offer.Bytes(), nil
}

// preferred returns the trunk's codecs, those before the others that were agreed on: a re-INVITE changes the codec only if
// it no longer offers the one in use.
func (m *media) preferred() []sdp.Codec {
	codecs := slices.Clone(m.agreed)
	for _, c := range m.codecs {
		if !slices.Contains(codecs, c) {
			codecs = append(codecs, c)
		}
	}
	return codecs
}

func (m *media) capabilities(codecs []sdp.Codec) sdp.Capabilities {
	return sdp.Capabilities{
		Media: m.audio.session.Local(), Codecs: codecs, Transcode: m.transcode, PublicOnly: m.publicOnly, Previous: m.current,
	}
}

// accept applies the peer's answer to our offer, if there is an offer.
func (m *media) accept() error {
	if m.offer == nil {
		return nil
	}
	answer, err := sdp.Parse(m.remoteSDP)
	if err != nil {
		return err
	}
	n, err := sdp.Accept(m.offer, answer)
	if err != nil {
		return err
	}
	return m.use(m.offer, n)
}

// answer builds our answer to the peer's offer and applies it.
func (m *media) answer() error {
	offer, err := sdp.Parse(m.remoteSDP)
	if err != nil {
		return err
	}
	reply, n, err := sdp.Answer(m.capabilities(m.preferred()), offer)
	if err != nil {
		return err
	}
	m.reply = reply
	return m.use(reply, n)
}

// use applies the negotiated parameters. It changes nothing when it fails.
func (m *media) use(ours *sdp.Description, n sdp.Negotiated) error {
	n.Proven = m.proven()
	m.mu.Lock()
	closed := m.closed
	m.mu.Unlock()
	if !closed {
		if err := m.audio.apply(m, n); err != nil {
			return fmt.Errorf("media: %w", err)
		}
	}
	m.mu.Lock()
	m.codec = n.Codec
	m.mu.Unlock()
	m.current, m.offer, m.remoteSDP = ours, nil, nil
	m.agreed = []sdp.Codec{n.Codec}
	for _, other := range n.Others {
		m.agreed = append(m.agreed, other.Codec)
	}
	return nil
}

// renegotiate answers the offer of a re-INVITE.
func (m *media) renegotiate(host string) dialog.Decide {
	err := m.answer()
	if err == nil {
		return dialog.Decide{Status: 200}
	}
	m.log.Info("re-INVITE refused", "error", err)
	r := rejectionOf(err)
	return dialog.Decide{Status: r.Status, Warning: warning(r, host)}
}

// reject refuses an INVITE whose offer cannot be answered. host names us in the Warning.
func reject(err error, host string) dialog.Reject {
	r := rejectionOf(err)
	return dialog.Reject{Status: r.Status, Cause: dialog.NotAcceptable, Reason: r.Text, Warning: warning(r, host)}
}

// Preflight tries the negotiation of an INVITE's offer before a media port is taken. It returns nil when the offer can be
// answered, and for an INVITE without an offer, which gets one from us.
func Preflight(body []byte, codecs []sdp.Codec, host string) *dialog.Reject {
	if len(body) == 0 {
		return nil
	}
	offer, err := sdp.Parse(body)
	if err == nil {
		// Addresses of the documentation stand for the port that is not taken yet, of one family or the other.
		for _, local := range []string{"192.0.2.1:2", "[2001:db8::1]:2"} {
			_, _, err = sdp.Answer(sdp.Capabilities{Media: netip.MustParseAddrPort(local), Codecs: codecs}, offer)
			if !errors.Is(err, sdp.ErrAddress) {
				break
			}
		}
	}
	if err == nil {
		return nil
	}
	r := reject(err, host)
	return &r
}

// rejectionOf returns the SIP response to a failed negotiation.
func rejectionOf(err error) *sdp.Rejection {
	if r, ok := errors.AsType[*sdp.Rejection](err); ok {
		return r
	}
	return &sdp.Rejection{Status: 500}
}

// warning returns the Warning header of a rejection (RFC 3261, 20.43); empty without one.
func warning(r *sdp.Rejection, host string) string {
	if r.Warning == 0 {
		return ""
	}
	return strconv.Itoa(r.Warning) + " " + host + " " + strconv.Quote(r.Text)
}

// close closes the media session and keeps its final statistics.
func (m *media) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	m.closed = true
	if m.audio == nil {
		return
	}
	m.stats = statsOf(m.audio.session.Stats())
	if err := m.audio.close(m); err != nil {
		m.log.Warn("media session not closed", "error", err)
	}
}

func (m *media) statistics() call.Stats {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed || m.audio == nil {
		return m.stats
	}
	return statsOf(m.audio.session.Stats())
}

func (m *media) codecName() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.codec.Name()
}

func statsOf(s trunk.MediaStats) call.Stats {
	return call.Stats{
		Sent: s.Sent, Received: s.Received, Lost: s.Lost, Late: s.Late,
		Jitter: s.Jitter, RoundTrip: s.RoundTrip.Round(time.Microsecond), Fault: s.Fault,
	}
}

// Codecs returns a route's codecs in its order; the two of G.711 for a route without codecs.
func Codecs(names []string) ([]sdp.Codec, error) {
	codecs := make([]sdp.Codec, 0, len(names))
	for _, name := range names {
		c, ok := sdp.ParseCodec(name)
		if !ok {
			return nil, fmt.Errorf("unknown codec %q", name)
		}
		codecs = append(codecs, c)
	}
	if len(codecs) == 0 {
		return []sdp.Codec{sdp.PCMU, sdp.PCMA}, nil
	}
	return codecs, nil
}
