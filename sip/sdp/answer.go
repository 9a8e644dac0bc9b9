package sdp

import (
	"fmt"
	"slices"

	"github.com/callwright/callwright"
)

// Answer takes a peer's offer: it picks the first usable audio stream and, of our codecs in our order, the first that
// it offers. Every other m= line is refused with port 0. The answer repeats the offer's protocol, payload types and
// crypto tag.
//
// An offer that cannot be taken gives an error that wraps a *Rejection; capabilities that make no sense give a
// CodeBadRequest about the field.
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
	local := c.stream(remote.proto, Crypto{Tag: theirs.Tag, Key: key})
	local.direction = answerDirection(remote.effectiveDirection(), c.Hold)
	local.formats = c.answerFormats(remote, codec)

	streams := slices.Clone(offer.streams)
	for i := range streams {
		streams[i].port = 0
	}
	streams[index] = local
	answer, err := c.describe(streams, index)
	if err != nil {
		return nil, Negotiated{}, err
	}
	n := agree(&local, remote, codec, theirs)
	n.LocalHold = c.Hold
	if c.Transcode {
		n.Others = others(&local, remote, codec)
	}
	return answer, n, nil
}

// choose finds the stream and the codec. Of several streams' failures it gives the one that came closest.
func (c *Capabilities) choose(offer *Description) (int, Codec, error) {
	progress := [...]*Rejection{ErrNoAudio, ErrNoSRTP, ErrAddress, ErrNoCommonCodec} // in the order of match's checks
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

// match says whether one audio stream can be taken, and with which codec.
func (c *Capabilities) match(s *stream) (Codec, *Rejection) {
	if !s.isSecure() {
		return "", ErrNoSRTP
	}
	if !s.reachableFrom(c.Media.Addr().Unmap().Is4()) {
		return "", ErrAddress
	}
	for _, codec := range c.Codecs {
		if _, ok := s.find(codec); ok {
			return codec, nil
		}
	}
	return "", ErrNoCommonCodec
}

// answerFormats are the chosen codec, those that may take its place and telephone-event, if offered, under the offer's
// numbers.
func (c *Capabilities) answerFormats(remote *stream, codec Codec) []format {
	named := []Codec{codec}
	for _, other := range c.Codecs {
		if c.Transcode && other != codec && interchangeable(other, codec) {
			named = append(named, other)
		}
	}
	var formats []format
	for _, codec := range named {
		if f, ok := remote.find(codec); ok {
			f.fmtp = codec.spec().fmtp
			formats = append(formats, f)
		}
	}
	for _, clock := range eventClocks(codec) {
		if event := remote.findEvent(clock); event.name != "" {
			event.fmtp = eventRange
			return append(formats, event)
		}
	}
	return formats
}

// Accept takes the peer's answer to our offer. It holds the peer to what was offered: the same protocol, the offered
// crypto tag with a key of its own, an offered codec. An answer that breaks this gives an error that wraps a *Rejection;
// the call cannot go on then.
func Accept(offer, answer *Description) (Negotiated, error) {
	if offer == nil || offer.active < 0 {
		return Negotiated{}, callwright.Invalid("offer", "not a description that Offer has made")
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
	n.LocalHold = !local.direction.CanReceive()
	if offer.transcode {
		n.Others = others(local, remote, codec)
	}
	return n, nil
}

// acceptCrypto finds the line with the tag that we offered (RFC 4568, 5.1.3).
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

// named is the stream with a meaning for payload types that its owner answered without an a=rtpmap: under the number of
// the offer they mean what the offer says.
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

// firstOf is the first codec of an answer that was offered; the answerer may list several and then prefers the first.
func (s *stream) firstOf(offered *stream) Codec {
	for _, f := range s.formats {
		codec := f.codec()
		if _, ok := offered.find(codec); ok && codec != "" {
			return codec
		}
	}
	return ""
}
