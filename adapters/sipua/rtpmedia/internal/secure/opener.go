package secure

import (
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"github.com/pion/rtp"

	"github.com/callwright/callwright/sip/sdp"
)

// An Opener rejects a packet with one of these errors.
var (
	ErrMalformed = errors.New("not an RTP or RTCP packet")
	ErrForged    = errors.New("not authentic")
	ErrReplayed  = errors.New("seen before, or older than the replay window")
)

// Overlap is the time for which the peer's former key still decrypts packets after a change.
const Overlap = 2 * time.Second

// maxKeys bounds the keys that an Opener stores for one call, including the current key.
const maxKeys = 8

// Opener decrypts the peer's packets under the current key, and under former keys until their Overlap is over. The zero value rejects every
// packet until Use is called.
type Opener struct {
	keys   []*key // the current one first
	header rtp.Header
}

// Use makes c the current key from now on. If c is already the current key, nothing changes. If c is a former key that is still stored, it
// continues with its state. Use returns an error if c contains no usable key.
func (o *Opener) Use(now time.Duration, c sdp.Crypto) error {
	i := slices.IndexFunc(o.keys, func(k *key) bool { return sameKey(k.crypto, c) })
	if i == 0 {
		return nil
	}
	var current *key
	if i > 0 {
		current = o.keys[i]
		o.keys = slices.Delete(o.keys, i, i+1)
	} else {
		var err error
		if current, err = newKey(c); err != nil {
			return err
		}
	}
	if len(o.keys) > 0 {
		o.keys[0].until = now + Overlap
	}
	o.keys = slices.Insert(o.keys, 0, current)
	o.keys = o.keys[:min(len(o.keys), maxKeys)]
	return nil
}

// Opens reports whether c is the current key.
func (o *Opener) Opens(c sdp.Crypto) bool { return len(o.keys) > 0 && sameKey(o.keys[0].crypto, c) }

// RTP decrypts a packet in place: the result shares the memory of packet. The error is ErrMalformed, ErrForged or ErrReplayed.
func (o *Opener) RTP(now time.Duration, packet []byte) ([]byte, error) {
	const fixedHeader, tag = 12, 10
	if len(packet) < fixedHeader+tag || packet[0]>>6 != 2 {
		return nil, ErrMalformed
	}
	if n, err := o.header.Unmarshal(packet); err != nil || len(packet) < n+tag {
		return nil, ErrMalformed
	}
	return o.open(now, packet, (*key).openRTP)
}

// RTCP decrypts a compound packet in place: the result shares the memory of packet. The error is ErrMalformed, ErrForged or ErrReplayed.
func (o *Opener) RTCP(now time.Duration, packet []byte) ([]byte, error) {
	const fixedHeader = 8
	if len(packet) < fixedHeader+Overhead || packet[0]>>6 != 2 {
		return nil, ErrMalformed
	}
	return o.open(now, packet, (*key).openRTCP)
}

// open tries the current key and then the former keys whose overlap is not over. If none decrypts the packet, it returns the current key's
// error.
func (o *Opener) open(now time.Duration, packet []byte, with func(*key, []byte, *rtp.Header) ([]byte, error)) ([]byte, error) {
	reason := ErrForged
	for i, k := range o.keys {
		if i > 0 && now >= k.until {
			continue
		}
		plain, err := with(k, packet, &o.header)
		if err == nil {
			return plain, nil
		}
		if i == 0 {
			reason = err
		}
	}
	return nil, reason
}

// maxSources bounds the sources of one key. A peer chooses a new SSRC when it restarts its media, which happens far less often in a call.
const maxSources = 64

// maxProbes is the number of packets after which a probe is replaced, because the probe stores the SSRC of each packet.
const maxProbes = 64

// key is one of the peer's keys, with the SRTP state of the packets under it.
type key struct {
	crypto    sdp.Crypto
	until     time.Duration // end of a former key's overlap
	ctx       context       // decrypts packets of authentic sources only
	probe     context       // checks the packets of unknown sources
	probes    int
	scratch   []byte
	media     []uint32 // authentic SSRCs of SRTP packets
	reporters []uint32 // authentic SSRCs of SRTCP packets
}

func newKey(c sdp.Crypto) (*key, error) {
	ctx, err := newContext(c)
	if err != nil {
		return nil, err
	}
	k := &key{crypto: c, ctx: ctx}
	return k, k.renewProbe()
}

func (k *key) renewProbe() error {
	probe, err := newProbe(k.crypto)
	k.probe, k.probes = probe, 0
	return err
}

func (k *key) openRTP(packet []byte, header *rtp.Header) ([]byte, error) {
	if !slices.Contains(k.media, header.SSRC) {
		if err := k.admitMedia(packet, header); err != nil {
			return nil, err
		}
	}
	plain, err := k.ctx.DecryptRTP(packet, packet, header)
	return plain, classify(err)
}

// admitMedia checks the first packet of an unknown source, and admits the source if the packet is authentic. The source may be past its
// first rollover already, because it began near 65535 and the packets before the rollover were lost, or were sent before we knew the key.
func (k *key) admitMedia(packet []byte, header *rtp.Header) error {
	const half = 1 << 15
	ssrc, sequence := header.SSRC, header.SequenceNumber
	prove := func(roc uint32) error {
		k.probe.SetROC(ssrc, roc)
		plain, err := k.probe.DecryptRTP(k.scratch, packet, header)
		if err == nil {
			k.scratch = plain
		}
		return err
	}
	if err := k.count(k.media); err != nil {
		return err
	}
	err := prove(0)
	if err != nil && sequence < half {
		if err = prove(1); err == nil {
			k.ctx.SetROC(ssrc, 1)
		}
	}
	if err == nil {
		k.media = append(k.media, ssrc)
	}
	return classify(err)
}

func (k *key) openRTCP(packet []byte, _ *rtp.Header) ([]byte, error) {
	ssrc := binary.BigEndian.Uint32(packet[4:])
	if !slices.Contains(k.reporters, ssrc) {
		if err := k.count(k.reporters); err != nil {
			return nil, err
		}
		if _, err := k.probe.DecryptRTCP(nil, packet, nil); err != nil {
			return nil, classify(err)
		}
		k.reporters = append(k.reporters, ssrc)
	}
	plain, err := k.ctx.DecryptRTCP(packet, packet, nil)
	return plain, classify(err)
}

// count counts a use of the probe, and renews the probe after maxProbes uses. It returns ErrForged if sources already contains maxSources
// sources.
func (k *key) count(sources []uint32) error {
	if len(sources) >= maxSources {
		return ErrForged
	}
	if k.probes++; k.probes > maxProbes {
		return k.renewProbe()
	}
	return nil
}
