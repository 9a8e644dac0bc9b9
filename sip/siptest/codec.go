package siptest

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/sip"
)

// CodecFeatures describes the guarantees of a codec beyond those of sip.Codec.
type CodecFeatures struct {
	// SignalToNoise is the minimum ratio, in dB, of speech-like audio to the noise that encoding and decoding add. RunCodec measures it
	// after it has aligned the decoded audio by the codec's delay.
	SignalToNoise float64
	// Delay is the codec's maximum delay, up to 200 ms. 0 means up to 20 ms.
	Delay time.Duration
	// EveryPayload states that any bytes are a valid payload, so that Decode never fails.
	EveryPayload bool
}

// lossMargin is how far, in dB, the signal-to-noise ratio may drop if payloads are lost.
const lossMargin = 6

// frameTime is the duration of the audio in a payload.
const frameTime = 20 * time.Millisecond

// RunCodec tests a codec. newCodec returns a new codec for one direction of a call. The test that calls RunCodec must not be parallel,
// because RunCodec counts allocations.
func RunCodec(t *testing.T, newCodec func() (sip.Codec, error), f CodecFeatures) {
	t.Helper()
	open := func(t testing.TB) sip.Codec {
		t.Helper()
		c, err := newCodec()
		if err != nil {
			t.Fatalf("making a codec: %v", err)
		}
		return c
	}
	tests := map[string]func(*testing.T){
		"has whole frames at its rates": func(t *testing.T) { hasWholeFrames(t, open) },
		"appends":                       func(t *testing.T) { appendsToBuffers(t, open) },
		"carries 20 ms in each payload": func(t *testing.T) { carriesFrames(t, open) },
		"gives back what it was given":  func(t *testing.T) { givesBackAudio(t, open, nil, f.SignalToNoise, f.Delay) },
		"goes on after lost payloads": func(t *testing.T) {
			givesBackAudio(t, open, []int{10, 11, 12, 20}, f.SignalToNoise-lossMargin, f.Delay)
		},
		"shares no state between calls":   func(t *testing.T) { sharesNoState(t, open) },
		"refuses what is not 20 ms whole": func(t *testing.T) { refusesOtherLengths(t, open) },
		"survives any payload":            func(t *testing.T) { survivesAnyPayload(t, open, newCodec, f) },
		"allocates nothing":               func(t *testing.T) { allocatesNothing(t, open) },
	}
	for name, test := range tests {
		t.Run(name, test)
	}
}

// tone returns 20 ms of speech-like audio: two tones and a little noise. rate is in Hz. n is the number of the frame, so that successive
// frames are continuous.
func tone(rate, n int) []int16 {
	pcm := make([]int16, rate/50)
	for i := range pcm {
		at := float64(n*len(pcm)+i) / float64(rate)
		pcm[i] = int16(6000*math.Sin(2*math.Pi*440*at) + 3000*math.Sin(2*math.Pi*1210*at) + float64((n*31+i*17)%200))
	}
	return pcm
}

func encode(t testing.TB, c sip.Codec, pcm []int16) []byte {
	t.Helper()
	payload, err := c.Encode(nil, pcm)
	if err != nil {
		t.Fatalf("encoding %d samples: %v", len(pcm), err)
	}
	return payload
}

func hasWholeFrames(t *testing.T, open func(testing.TB) sip.Codec) {
	c := open(t)
	if c.Name() == "" || c.Rate() < 8000 || c.Clock() < 8000 || c.Rate()%50 != 0 || c.Clock()%50 != 0 {
		t.Errorf("%q has a rate of %d and a clock of %d, which must be 8000 or more and whole in 20 ms", c.Name(), c.Rate(), c.Clock())
	}
	if again := open(t); again.Name() != c.Name() || again.Rate() != c.Rate() || again.Clock() != c.Clock() {
		t.Errorf("%q at %d, %d is %q at %d, %d when made again", c.Name(), c.Rate(), c.Clock(), again.Name(), again.Rate(), again.Clock())
	}
}

func appendsToBuffers(t *testing.T, open func(testing.TB) sip.Codec) {
	c, d := open(t), open(t)
	alone := encode(t, open(t), tone(c.Rate(), 0))
	payload, err := c.Encode([]byte("before"), tone(c.Rate(), 0))
	if err != nil || string(payload[:6]) != "before" || !bytes.Equal(payload[6:], alone) {
		t.Fatalf("a frame was appended as %d bytes instead of %d, %v", len(payload)-6, len(alone), err)
	}
	pcm, err := d.Decode([]int16{42, -42}, alone)
	if err != nil || pcm[0] != 42 || pcm[1] != -42 || len(pcm) != 2+d.Rate()/50 {
		t.Fatalf("a payload was appended as %d samples, %v", len(pcm)-2, err)
	}
}

// maxPayload is the maximum size of a payload, in bytes. Together with the IP, UDP, RTP and SRTP headers it fits into a datagram on any
// network.
const maxPayload = 1200

func carriesFrames(t *testing.T, open func(testing.TB) sip.Codec) {
	encoder, decoder := open(t), open(t)
	for n := range 100 {
		frame := tone(encoder.Rate(), n)
		if n%10 > 6 {
			clear(frame) // silence is sent as well
		}
		payload := encode(t, encoder, frame)
		if len(payload) == 0 || len(payload) > maxPayload {
			t.Fatalf("frame %d became %d bytes, which must be 1 to %d", n, len(payload), maxPayload)
		}
		pcm, err := decoder.Decode(nil, payload)
		if err != nil || len(pcm) != decoder.Rate()/50 {
			t.Fatalf("frame %d came back with %d samples, %v", n, len(pcm), err)
		}
	}
}

// givesBackAudio encodes a second of audio, loses the given payloads, and decodes the others. It checks the signal-to-noise ratio of the
// second half, by which the codec has recovered from the loss.
func givesBackAudio(t *testing.T, open func(testing.TB) sip.Codec, lost []int, least float64, most time.Duration) {
	encoder, decoder := open(t), open(t)
	var sent, received []int16
	for n := range 50 {
		frame := tone(encoder.Rate(), n)
		payload := encode(t, encoder, frame)
		if slices.Contains(lost, n) {
			received = append(received, make([]int16, len(frame))...)
		} else {
			var err error
			if received, err = decoder.Decode(received, payload); err != nil {
				t.Fatal(err)
			}
		}
		sent = append(sent, frame...)
	}
	if len(received) != len(sent) {
		t.Fatalf("%d samples came of %d", len(received), len(sent))
	}
	if ratio := signalToNoise(sent, received, int(cmp.Or(most, frameTime).Seconds()*float64(encoder.Rate()))); ratio < least {
		t.Errorf("the signal is %.1f dB above the noise, which must be %.1f", ratio, least)
	}
}

// signalToNoise returns the signal-to-noise ratio of the second half, in dB. It tries every delay up to the number of samples in the
// parameter most, and returns the best ratio.
func signalToNoise(sent, received []int16, most int) float64 {
	ratio := math.Inf(-1)
	for delay := range most + 1 {
		var signal, noise float64
		for i := len(received) / 2; i < len(received); i++ {
			s, r := float64(sent[i-delay]), float64(received[i])
			signal += s * s
			noise += (r - s) * (r - s)
		}
		ratio = max(ratio, 10*math.Log10(signal/noise))
	}
	return ratio
}

// sharesNoState checks that a codec returns the same bytes and samples whether or not a second call uses other codecs at the same time.
func sharesNoState(t *testing.T, open func(testing.TB) sip.Codec) {
	encoder, decoder, otherEncoder, otherDecoder := open(t), open(t), open(t), open(t)
	alone, aloneDecoder := open(t), open(t)
	for n := range 20 {
		frame := tone(encoder.Rate(), n)
		if _, err := otherDecoder.Decode(nil, encode(t, otherEncoder, tone(encoder.Rate(), 7*n+3))); err != nil {
			t.Fatal(err)
		}
		payload, want := encode(t, encoder, frame), encode(t, alone, frame)
		if !bytes.Equal(payload, want) {
			t.Fatalf("frame %d has other bytes beside another call than alone", n)
		}
		pcm, err := decoder.Decode(nil, payload)
		wantPCM, wantErr := aloneDecoder.Decode(nil, want)
		if err != nil || wantErr != nil || !slices.Equal(pcm, wantPCM) {
			t.Fatalf("frame %d sounds different beside another call: %v, %v", n, err, wantErr)
		}
	}
}

// refusesOtherLengths passes audio that is not 20 ms long to a codec. The codec must either encode all of it, or append nothing and return
// an error.
func refusesOtherLengths(t *testing.T, open func(testing.TB) sip.Codec) {
	c := open(t)
	for _, n := range []int{0, 2, c.Rate()/50 - 2, c.Rate()/50 + 2, c.Rate()} {
		payload, err := c.Encode([]byte("before"), make([]int16, n))
		switch {
		case !bytes.HasPrefix(payload, []byte("before")), err != nil && len(payload) != 6:
			t.Errorf("%d samples left %q, %v", n, payload, err)
		case err == nil:
			if pcm, err := open(t).Decode(nil, payload[6:]); n > 0 && (err != nil || len(pcm) != n) {
				t.Errorf("%d samples were taken and came back as %d, %v", n, len(pcm), err)
			}
		}
	}
	if pcm, err := c.Decode(nil, encode(t, c, tone(c.Rate(), 0))); err != nil || len(pcm) != c.Rate()/50 {
		t.Errorf("afterwards 20 ms decode to %d samples, %v", len(pcm), err)
	}
}

// survivesAnyPayload passes arbitrary payloads, as from a hostile peer, to a decoder. Each must either decode or fail without appending
// samples, and a valid payload must decode afterwards.
func survivesAnyPayload(t *testing.T, open func(testing.TB) sip.Codec, newCodec func() (sip.Codec, error), f CodecFeatures) {
	good := encode(t, open(t), tone(open(t).Rate(), 0))
	rapid.Check(t, func(t *rapid.T) {
		c, err := newCodec()
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			payload := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "payload")
			got, err := c.Decode([]int16{42}, payload)
			if len(got) < 1 || got[0] != 42 || err != nil && len(got) != 1 {
				t.Fatalf("%d bytes left %d samples, %v", len(payload), len(got)-1, err)
			}
			if err != nil && f.EveryPayload {
				t.Fatalf("%d bytes are refused: %v", len(payload), err)
			}
		}
		if got, err := c.Decode(nil, good); err != nil || len(got) != c.Rate()/50 {
			t.Fatalf("afterwards 20 ms decode to %d samples, %v", len(got), err)
		}
	})
}

func allocatesNothing(t *testing.T, open func(testing.TB) sip.Codec) {
	c := open(t)
	frame, payload, pcm := tone(c.Rate(), 0), make([]byte, 0, 1500), make([]int16, 0, c.Rate())
	n := testing.AllocsPerRun(100, func() {
		packet, _ := c.Encode(payload, frame)
		_, _ = c.Decode(pcm, packet)
	})
	if n != 0 {
		t.Errorf("%v allocations a frame, into buffers that have room", n)
	}
}
