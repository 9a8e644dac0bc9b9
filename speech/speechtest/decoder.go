package speechtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/speech/pcm"
)

// DecoderHarness contains the constructor of the decoder under test, and the files that RunDecoder passes to it.
type DecoderHarness struct {
	// New returns a new decoder.
	New func(t *testing.T) speech.Decoder
	// Files contains files of the supported types, by name. Each file contains sound throughout, and lasts between a second and a few
	// minutes.
	Files map[string]DecoderFile
	// Undecodable contains files that Decode must refuse, by name. The suite adds further files.
	Undecodable map[string][]byte
}

// DecoderFile is an audio file and the duration of its audio.
type DecoderFile struct {
	Bytes    []byte
	Duration time.Duration // expected duration, with a tolerance of 0.2 s
}

// RunDecoder tests a speech.Decoder.
func RunDecoder(t *testing.T, h DecoderHarness) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, speech.Decoder){
		"decodes":                             h.decodes,
		"refuses what lasts too long":         h.refusesTooLong,
		"refuses what it cannot decode":       h.refusesOther,
		"survives files that were cut":        h.survivesCut,
		"survives files that were damaged":    h.survivesDamage,
		"passes the failure of a reader on":   h.passesFailure,
		"ends with its context":               h.endsDecoding,
		"decodes several at once":             h.decodesSeveral,
		"stops at the limit when lengths lie": h.stopsAtLimit,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, h.New(t))
		})
	}
}

// plenty is a limit that exceeds the duration of every file in the tests.
const plenty = time.Hour

// checkAudio checks that audio is mono, is not silent, and lasts as long as want, with a tolerance of 0.2 s.
func checkAudio(t *testing.T, name string, a pcm.Audio, want time.Duration) {
	t.Helper()
	if a.Channels != 1 || a.Rate < pcm.MinRate || (a.Duration()-want).Abs() > 200*time.Millisecond || level(a.Samples) < 0.005 {
		t.Errorf("%s: %d channels, %d samples a second, %v, level %.3f; want mono of %v", name, a.Channels, a.Rate, a.Duration(), level(a.Samples), want)
	}
}

// checkDamaged checks that Decode returned mono audio that exceeds limit by at most a second, or an error with CodeUnsupportedMedia or
// CodePayloadTooLarge.
func checkDamaged(t *testing.T, name string, a pcm.Audio, err error, limit time.Duration) {
	t.Helper()
	code := callwright.CodeOf(err)
	if err == nil && (a.Channels != 1 || a.Duration() > limit+time.Second) ||
		err != nil && code != callwright.CodeUnsupportedMedia && code != callwright.CodePayloadTooLarge {
		t.Errorf("%s: %v of %d channels, %v", name, a.Duration(), a.Channels, err)
	}
}

func (h DecoderHarness) decodes(t *testing.T, d speech.Decoder) {
	for name, f := range h.Files {
		one, err := d.Decode(t.Context(), bytes.NewReader(f.Bytes), plenty)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		checkAudio(t, name, one, f.Duration)
		again, err := d.Decode(t.Context(), bytes.NewReader(f.Bytes), f.Duration+time.Second)
		if err != nil || again.Rate != one.Rate || !slices.Equal(one.Samples, again.Samples) {
			t.Errorf("%s: decoded again it is other audio, %v", name, err)
		}
	}
}

func (h DecoderHarness) refusesTooLong(t *testing.T, d speech.Decoder) {
	for name, f := range h.Files {
		for _, limit := range []time.Duration{f.Duration / 2, time.Millisecond} {
			_, err := d.Decode(t.Context(), bytes.NewReader(f.Bytes), limit)
			wantCode(t, fmt.Sprintf("%s with the limit %v", name, limit), err, callwright.CodePayloadTooLarge)
		}
	}
}

func (h DecoderHarness) refusesOther(t *testing.T, d speech.Decoder) {
	files := map[string][]byte{
		"nothing": nil, "one byte": {'R'}, "text": []byte(strings.Repeat("Good morning. ", 100)), "zip": []byte("PK\x03\x04" + strings.Repeat("\x00", 500)),
		"png": []byte("\x89PNG\r\n\x1a\n" + strings.Repeat("\x00", 500)), "zeros": make([]byte, 5000), "page": []byte("<!DOCTYPE html><html></html>"),
		"only a name of a type": []byte("RIFF"), "an empty RIFF": []byte("RIFF\x04\x00\x00\x00WAVE"), "an empty Ogg": []byte("OggS"), "an empty tag": []byte("ID3"),
	}
	maps.Copy(files, h.Undecodable)
	for name, content := range files {
		_, err := d.Decode(t.Context(), bytes.NewReader(content), plenty)
		wantCode(t, name, err, callwright.CodeUnsupportedMedia)
		if callwright.MessageOf(err) == "" {
			t.Errorf("%s: the message %q names no types", name, callwright.MessageOf(err))
		}
	}
}

func (h DecoderHarness) survivesCut(t *testing.T, d speech.Decoder) {
	for name, f := range h.Files {
		for _, part := range []int{0, 1, 5, 20, 50, 90, 99} {
			a, err := d.Decode(t.Context(), bytes.NewReader(f.Bytes[:len(f.Bytes)*part/100]), plenty)
			checkDamaged(t, fmt.Sprintf("%d %% of %s", part, name), a, err, f.Duration)
		}
	}
}

func (h DecoderHarness) survivesDamage(t *testing.T, d speech.Decoder) {
	for name, f := range h.Files {
		for seed := range uint32(30) {
			content := slices.Clone(f.Bytes)
			state := seed + 1
			for range 1 + seed%5 {
				state = state*1664525 + 1013904223
				at := int(state>>8) % len(content)
				if seed%2 == 0 {
					at %= 200 // within the header
				}
				content[at] ^= byte(state>>16) | 1
			}
			a, err := d.Decode(t.Context(), bytes.NewReader(content), 10*f.Duration)
			checkDamaged(t, fmt.Sprintf("%s with damage %d", name, seed), a, err, 10*f.Duration)
		}
	}
}

// failing is an io.ReadSeeker whose reads fail at and after the offset in the field good.
type failing struct {
	*bytes.Reader

	good int64
}

// Read returns errReader at and after the offset good, and never reads across this offset.
func (f failing) Read(p []byte) (int, error) {
	at := f.Size() - int64(f.Len())
	if at >= f.good {
		return 0, errReader
	}
	return f.Reader.Read(p[:min(int64(len(p)), f.good-at)])
}

func (h DecoderHarness) passesFailure(t *testing.T, d speech.Decoder) {
	for name, f := range h.Files {
		for _, part := range []int{0, 50} {
			_, err := d.Decode(t.Context(), failing{bytes.NewReader(f.Bytes), int64(len(f.Bytes) * part / 100)}, plenty)
			if err == nil {
				t.Errorf("%s: decoded although its reader fails after %d %%", name, part)
			}
		}
	}
}

func (h DecoderHarness) endsDecoding(t *testing.T, d speech.Decoder) {
	for name, f := range h.Files {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		soon(t, "Decode, whose context has ended,", func() {
			if _, err := d.Decode(ctx, bytes.NewReader(f.Bytes), plenty); err == nil {
				t.Errorf("%s: decoded with a context that had ended", name)
			}
		})
	}
}

func (h DecoderHarness) decodesSeveral(t *testing.T, d speech.Decoder) {
	for name, f := range h.Files {
		atOnce(4, func(int) error {
			a, err := d.Decode(t.Context(), bytes.NewReader(f.Bytes), plenty)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				return nil
			}
			checkAudio(t, name, a, f.Duration)
			return nil
		})
	}
}

// endless is a WAV file whose audio never ends, and whose header states the maximum length.
type endless struct{ at int64 }

// Read returns the header and then bytes that repeat. It never fails.
func (e *endless) Read(p []byte) (int, error) {
	header := someAudio(1 << 20)[:44]
	for i := range p {
		p[i] = byte(e.at * 37)
		if e.at < 44 {
			p[i] = header[e.at]
		}
		if e.at >= 40 && e.at < 44 || e.at >= 4 && e.at < 8 {
			p[i] = 0xff
		}
		e.at++
	}
	return len(p), nil
}

// Seek sets the offset. It fails for offsets relative to the end.
func (e *endless) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekStart:
		e.at = offset
	case io.SeekCurrent:
		e.at += offset
	default:
		return 0, errors.New("there is no end")
	}
	return e.at, nil
}

func (h DecoderHarness) stopsAtLimit(t *testing.T, d speech.Decoder) {
	e := &endless{}
	soon(t, "Decode of an endless file", func() {
		if a, err := d.Decode(t.Context(), e, 5*time.Second); err == nil {
			t.Errorf("%v of an endless file were decoded", a.Duration())
		}
	})
}
