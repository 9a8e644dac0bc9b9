package sipua

import (
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/callwright/callwright/agents/call"
	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/dialog"
	"github.com/callwright/callwright/sip/sdp"
)

// talk is what a call's two sides say about their media, and the media itself. Only the call's mailbox uses it, but for
// what the mutex guards.
type talk struct {
	session trunk.MediaSession // nil until an inbound call is admitted
	codecs  []sdp.Codec
	// transcode lets the peer send another of the codecs than we do; see sip.CodecConfig.
	transcode bool
	log       *slog.Logger

	heard   []byte           // the peer's last description that was not used yet
	offer   *sdp.Description // ours that waits for an answer
	reply   *sdp.Description // ours to the peer's offer, as judge has made it
	current *sdp.Description // ours that was agreed on last

	mu     sync.Mutex
	agreed sdp.Negotiated
	closed bool
	stats  call.Stats
}

var errNoOffer = errors.New("an answer without an offer")

// hear keeps a description of the peer until the machine says what it is for.
func (t *talk) hear(body []byte) { t.heard = body }

// describe gives the body that a message is to carry.
func (t *talk) describe(b dialog.Body) ([]byte, error) {
	if b == dialog.Reply {
		if t.reply == nil {
			return nil, errNoOffer
		}
		return t.reply.Bytes(), nil
	}
	offer, err := sdp.Offer(t.capabilities())
	if err != nil {
		return nil, err
	}
	t.offer = offer
	return offer.Bytes(), nil
}

func (t *talk) capabilities() sdp.Capabilities {
	return sdp.Capabilities{Media: t.session.Local(), Codecs: t.codecs, Transcode: t.transcode, Previous: t.current}
}

// accept takes the peer's answer to our offer, if there is an offer, and sets the media to it.
func (t *talk) accept() error {
	if t.offer == nil {
		return nil
	}
	answer, err := sdp.Parse(t.heard)
	if err != nil {
		return err
	}
	n, err := sdp.Accept(t.offer, answer)
	if err != nil {
		return err
	}
	return t.use(t.offer, n)
}

// answer makes our answer to the peer's offer and sets the media to it.
func (t *talk) answer() error {
	offer, err := sdp.Parse(t.heard)
	if err != nil {
		return err
	}
	reply, n, err := sdp.Answer(t.capabilities(), offer)
	if err != nil {
		return err
	}
	t.reply = reply
	return t.use(reply, n)
}

func (t *talk) use(ours *sdp.Description, n sdp.Negotiated) error {
	t.mu.Lock()
	closed := t.closed
	t.agreed = n
	t.mu.Unlock()
	t.current, t.offer, t.heard = ours, nil, nil
	t.codecs = []sdp.Codec{n.Codec} // a later offer of ours refreshes; it does not start over
	for _, other := range n.Others {
		t.codecs = append(t.codecs, other.Codec)
	}
	if closed {
		return nil
	}
	if err := t.session.Apply(n); err != nil {
		return fmt.Errorf("media: %w", err)
	}
	return nil
}

// judge answers the offer of a re-INVITE.
func (t *talk) judge(host string) dialog.Decide {
	err := t.answer()
	if err == nil {
		return dialog.Decide{Status: 200}
	}
	t.log.Info("re-INVITE refused", "error", err)
	r := refusalOf(err)
	return dialog.Decide{Status: r.Status, Warning: warning(r, host)}
}

// refusalOf is the SIP side of a failed negotiation.
func refusalOf(err error) *sdp.Rejection {
	if r, ok := errors.AsType[*sdp.Rejection](err); ok {
		return r
	}
	return &sdp.Rejection{Status: 500}
}

// warning is the Warning header of a rejection (RFC 3261, 20.43); empty for one without.
func warning(r *sdp.Rejection, host string) string {
	if r.Warning == 0 {
		return ""
	}
	return strconv.Itoa(r.Warning) + " " + host + " " + strconv.Quote(r.Text)
}

// close frees the media. What it has counted stays.
func (t *talk) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	t.closed = true
	if t.session == nil {
		return
	}
	t.stats = statsOf(t.session.Stats())
	if err := t.session.Close(); err != nil {
		t.log.Warn("media did not close well", "error", err)
	}
}

func (t *talk) counted() call.Stats {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || t.session == nil {
		return t.stats
	}
	return statsOf(t.session.Stats())
}

func (t *talk) codec() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.agreed.Codec)
}

func statsOf(s trunk.MediaStats) call.Stats {
	return call.Stats{
		Sent: s.Sent, Received: s.Received, Lost: s.Lost, Late: s.Late,
		Jitter: s.Jitter, RoundTrip: s.RoundTrip.Round(time.Microsecond),
	}
}

// codecsOf are a route's codecs as SDP knows them, in its order.
func codecsOf(names []string) ([]sdp.Codec, error) {
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
