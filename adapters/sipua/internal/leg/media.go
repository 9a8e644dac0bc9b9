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

// media holds a leg's offer/answer state (RFC 3264) and its media session. It is used only in the leg's mailbox, except for the fields that
// the mutex guards.
type media struct {
	audio  *Audio      // nil until Admit for an inbound call
	claims bool        // our first SDP answer takes over the audio from another leg; guarded by Audio.mu
	codecs []sdp.Codec // the trunk's codecs in its order
	// transcode allows the peer to send a codec other than the one that we send: see sip.CodecConfig.
	transcode bool
	// publicOnly prevents media from being sent to addresses that are not public.
	publicOnly bool
	proven     func() netip.Addr // returns the peer's address of the signaling connection
	log        *slog.Logger

	remoteSDP []byte           // SDP of the peer that is not yet applied
	offer     *sdp.Description // our offer that awaits an answer
	reply     *sdp.Description // our answer to the peer's offer
	current   *sdp.Description // our SDP of the last agreement
	agreed    []sdp.Codec      // codecs of the last agreement; nil before the first one

	mu     sync.Mutex
	codec  sdp.Codec
	closed bool
	stats  call.Stats
}

var errNoOffer = errors.New("an SDP answer cannot be made, because the peer has sent no offer")

// requested returns the SDP offer for an INVITE of ours. The offer of the first INVITE contains the trunk's codecs, and a later offer only
// the agreed codecs.
func (m *media) requested() ([]byte, error) {
	if m.agreed != nil {
		return m.offered(m.agreed)
	}
	return m.offered(m.codecs)
}

// responded returns the SDP for a 2xx. It is our answer, or our offer if the INVITE contained none. The offer contains every codec, because
// the peer may connect the call to another party (RFC 6337, 5.2.5).
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

// preferred returns the agreed codecs, followed by the trunk's other codecs. A re-INVITE therefore changes the codec only if it no longer
// offers the current one.
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

// accept applies the peer's answer to our offer. It does nothing if no offer awaits an answer.
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

// answer creates our answer to the peer's offer and applies it.
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

// use applies the negotiated parameters and stores them as the current agreement. If it returns an error, it has changed nothing.
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

// renegotiate answers the offer of a re-INVITE, and returns the decision for the state machine. host is our name in a Warning.
func (m *media) renegotiate(host string) dialog.Decide {
	err := m.answer()
	if err == nil {
		return dialog.Decide{Status: 200}
	}
	m.log.Info("re-INVITE refused", "error", err)
	r := rejectionOf(err)
	return dialog.Decide{Status: r.Status, Warning: warning(r, host)}
}

// reject returns the rejection of an INVITE whose offer failed with err. host is our name in the Warning.
func reject(err error, host string) dialog.Reject {
	r := rejectionOf(err)
	return dialog.Reject{Status: r.Status, Cause: dialog.NotAcceptable, Reason: r.Text, Warning: warning(r, host)}
}

// Preflight tries to answer the offer of an INVITE before a media port is opened. It returns nil if an answer is possible, or if the INVITE
// contains no offer, to which we respond with our own.
func Preflight(body []byte, codecs []sdp.Codec, host string) *dialog.Reject {
	if len(body) == 0 {
		return nil
	}
	offer, err := sdp.Parse(body)
	if err == nil {
		// Documentation addresses of both families replace the address of the port that is not yet open.
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

// rejectionOf returns the SIP response to a failed negotiation. It is a 500 unless err is an *sdp.Rejection.
func rejectionOf(err error) *sdp.Rejection {
	if r, ok := errors.AsType[*sdp.Rejection](err); ok {
		return r
	}
	return &sdp.Rejection{Status: 500}
}

// warning returns the Warning header of a rejection (RFC 3261, 20.43), or an empty text if it has no warn-code.
func warning(r *sdp.Rejection, host string) string {
	if r.Warning == 0 {
		return ""
	}
	return strconv.Itoa(r.Warning) + " " + host + " " + strconv.Quote(r.Text)
}

// close ends the leg's use of the media session and stores its final statistics.
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

// Codecs returns the codecs with the given names, in their order. Without names it returns PCMU and PCMA. It returns an error for an
// unknown name.
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
