package sdp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/callwright/callwright"
)

// Answer returns the answer to a peer's offer, and the negotiated session. It selects the first usable audio stream, and the first of our
// codecs that this stream offers. It refuses every other m= line with port 0. The answer repeats the offer's protocol, payload types and
// crypto tag.
//
// Answer returns an error that wraps a *Rejection if the offer is unacceptable, and CodeBadRequest with the field if c is invalid.
func Answer(c Capabilities, offer *Description) (*Description, Negotiated, error) {
	if err := c.check(); err != nil {
		return nil, Negotiated{}, err
	}
	index, codec, err := c.choose(offer)
	if err != nil {
		return nil, Negotiated{}, err
	}
	key, err := c.key()
	if err != nil {
		return nil, Negotiated{}, err
	}
	remote := &offer.streams[index]
	theirs := remote.crypto[0]
	if theirs.Key.Equal(key) {
		return nil, Negotiated{}, fmt.Errorf("sdp: the offer repeats our own key: %w", ErrNoSRTP)
	}
	// The answer outlives the offer's text, so it must contain copies of the offer's strings.
	local := c.stream(strings.Clone(remote.proto), Crypto{Tag: theirs.Tag, Key: key, written: theirs.written})
	local.direction = answerDirection(remote.effectiveDirection(), c.Hold)
	local.formats = c.answerFormats(remote, codec)

	streams := make([]stream, len(offer.streams))
	for i, s := range offer.streams {
		streams[i] = stream{kind: strings.Clone(s.kind), proto: strings.Clone(s.proto), list: strings.Clone(s.list)}
	}
	streams[index] = local
	answer, err := c.describe(streams, index)
	if err != nil {
		return nil, Negotiated{}, err
	}
	n := agree(&local, remote, codec, theirs)
	n.LocalHold = c.Hold
	n.PublicOnly = c.PublicOnly
	return answer, n, nil
}

// choose returns the index of the first acceptable stream, and its codec. If no stream is acceptable, it returns the rejection of the
// stream that passed most checks. It returns ErrMalformed if it finds an audio stream without a c= line before an acceptable stream.
func (c *Capabilities) choose(offer *Description) (int, Codec, error) {
	progress := [...]*Rejection{ErrNoAudio, ErrNoSRTP, ErrAddress, ErrNoCommonCodec} // from the earliest check to the last: no audio stream, then the checks of match in their order
	closest := 0
	for i := range offer.streams {
		s := &offer.streams[i]
		if !s.isAudio() {
			continue
		}
		if !s.connected {
			return 0, "", fmt.Errorf("sdp: m= line %d has no c= line: %w", i+1, ErrMalformed)
		}
		codec, reason := c.match(s)
		if reason == nil {
			return i, codec, nil
		}
		closest = max(closest, slices.Index(progress[:], reason))
	}
	return 0, "", fmt.Errorf("sdp: offer: %w", progress[closest])
}

// match returns the codec for an audio stream, or the reason why the stream is not acceptable.
func (c *Capabilities) match(s *stream) (Codec, *Rejection) {
	if !s.isSecure() {
		return "", ErrNoSRTP
	}
	if !s.reachableFrom(c.Media.Addr().Unmap().Is4()) {
		return "", ErrAddress
	}
	for _, codec := range c.Codecs {
		if s.takes(codec) {
			return codec, nil
		}
	}
	return "", ErrNoCommonCodec
}

// answerFormats returns the formats of our answer, with the offer's payload types: the chosen codec, its alternatives, and telephone-event
// if it is offered. If the codec is one law of G.711, the other law is an alternative, because old gateways change between them regardless
// of the answer.
func (c *Capabilities) answerFormats(remote *stream, codec Codec) []format {
	named := []Codec{codec}
	for _, other := range c.Codecs {
		if other != codec && (other.isG711() && codec.isG711() || c.Transcode && interchangeable(other, codec)) {
			named = append(named, other)
		}
	}
	var formats []format
	for _, codec := range named {
		if f, ok := remote.find(codec); ok {
			f.name, f.fmtp = strings.Clone(f.name), codec.spec().fmtp
			formats = append(formats, f)
		}
	}
	for _, clock := range eventClocks(codec) {
		if event := remote.findEvent(clock); event.name != "" {
			event.name, event.fmtp = strings.Clone(event.name), eventRange
			return append(formats, event)
		}
	}
	return formats
}

// Accept returns the session that follows from the peer's answer to our offer. The answer must contain the offered protocol, the offered
// crypto tag with a different key, an offered codec, and an address that we can reach. Otherwise Accept returns an error that wraps a
// *Rejection, and the call cannot continue. It returns CodeBadRequest if offer was not made by Offer.
func Accept(offer, answer *Description) (Negotiated, error) {
	if offer == nil || offer.active < 0 {
		return Negotiated{}, callwright.Invalid("offer", "must be a description that Offer returned")
	}
	local := &offer.streams[offer.active]
	if len(answer.streams) <= offer.active {
		return Negotiated{}, fmt.Errorf("sdp: the answer lacks m= line %d: %w", offer.active+1, ErrMalformed)
	}
	remote := &answer.streams[offer.active]
	switch {
	case !remote.isAudio():
		return Negotiated{}, fmt.Errorf("sdp: the answer refuses the audio: %w", ErrNoAudio)
	case !remote.connected:
		return Negotiated{}, fmt.Errorf("sdp: the answer has no c= line: %w", ErrMalformed)
	case remote.proto != local.proto:
		return Negotiated{}, fmt.Errorf("sdp: the answer changes %s to %.20q: %w", local.proto, remote.proto, ErrNoSRTP)
	case !remote.reachableFrom(local.address.Is4()):
		return Negotiated{}, fmt.Errorf("sdp: answer: %w", ErrAddress)
	}
	theirs, err := acceptCrypto(local.crypto[0], remote)
	if err != nil {
		return Negotiated{}, err
	}
	remote = remote.named(local)
	codec := remote.firstOf(local)
	if codec == "" {
		return Negotiated{}, fmt.Errorf("sdp: the answer has none of the offered codecs: %w", ErrNoCommonCodec)
	}
	n := agree(local, remote, codec, theirs)
	n.LocalHold, n.PublicOnly = !local.direction.CanReceive(), offer.publicOnly
	return n, nil
}

// acceptCrypto returns the a=crypto line of an answer with the tag that we offered (RFC 4568, section 5.1.3). It refuses our own key.
func acceptCrypto(ours Crypto, remote *stream) (Crypto, error) {
	for _, theirs := range remote.crypto {
		if theirs.Tag != ours.Tag {
			continue
		}
		if theirs.Key.Equal(ours.Key) {
			return Crypto{}, fmt.Errorf("sdp: the answer repeats our own key: %w", ErrNoSRTP)
		}
		return theirs, nil
	}
	return Crypto{}, fmt.Errorf("sdp: the answer has no usable a=crypto with tag %d: %w", ours.Tag, ErrNoSRTP)
}

// named returns a copy of an answer's stream in which payload types without an a=rtpmap have the meaning that the offer gave them.
func (s *stream) named(offered *stream) *stream {
	named := *s
	named.formats = slices.Clone(s.formats)
	for i := range named.formats {
		if f := &named.formats[i]; f.name == "" {
			for _, o := range offered.formats {
				if o.pt == f.pt {
					*f = o
				}
			}
		}
	}
	return &named
}

// firstOf returns the first codec of an answer that was offered, or "". The answer lists codecs in the order of preference.
func (s *stream) firstOf(offered *stream) Codec {
	for _, f := range s.formats {
		codec := f.codec()
		if _, ok := offered.find(codec); ok && codec != "" && s.takes(codec) {
			return codec
		}
	}
	return ""
}
