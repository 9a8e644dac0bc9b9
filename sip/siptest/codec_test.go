package siptest_test

import (
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/siptest"
)

// late is a codec without compression that delays audio by three frames, like a codec with look-ahead.
type late struct{ waiting [3 * 160]int16 }

func (*late) Name() string { return "L16" }
func (*late) Rate() int    { return 8000 }
func (*late) Clock() int   { return 8000 }

func (*late) Encode(dst []byte, pcm []int16) ([]byte, error) {
	if len(pcm) != 160 {
		return dst, errors.New("a payload holds 20 ms")
	}
	for _, sample := range pcm {
		dst = binary.BigEndian.AppendUint16(dst, uint16(sample))
	}
	return dst, nil
}

func (l *late) Decode(dst []int16, payload []byte) ([]int16, error) {
	if len(payload) != 320 {
		return dst, errors.New("a payload holds 20 ms")
	}
	dst = append(dst, l.waiting[:160]...)
	copy(l.waiting[:], l.waiting[160:])
	for i := range 160 {
		l.waiting[320+i] = int16(binary.BigEndian.Uint16(payload[2*i:]))
	}
	return dst, nil
}

func TestCodecWithADelay(t *testing.T) { //nolint:paralleltest // the suite counts allocations
	siptest.RunCodec(t, func() (sip.Codec, error) { return new(late), nil }, siptest.CodecFeatures{SignalToNoise: 40, Delay: 60 * time.Millisecond})
}
