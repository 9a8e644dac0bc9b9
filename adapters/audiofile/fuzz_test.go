package audiofile_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"path/filepath"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/audiofile"
)

// seeds returns short files of each format, written by sox and ffmpeg.
func seeds(f *testing.F) map[string][]byte {
	f.Helper()
	path := filepath.Join(f.TempDir(), "tone.wav")
	run(f, "sox", "-n", "-r", "16000", "-c", "1", "-b", "16", path, "synth", "0.3", "sine", "300", "gain", "-6")
	return map[string][]byte{
		"wav":    read(f, path),
		"mp3":    convert(f, path, "a.mp3", "-ar", "16000", "-b:a", "8k"),
		"repack": convert(f, path, "a.mp3", "-ar", "22050", "-b:a", "24k"),
		"vorbis": convert(f, path, "a.ogg", "-c:a", "libvorbis", "-q:a", "0"),
		"opus":   convert(f, path, "a.opus", "-c:a", "libopus", "-b:a", "6k"),
	}
}

// check checks that decoding random input finishes within 30 seconds, and returns either mono audio that lasts at most about a second, or
// an error with CodeUnsupportedMedia or CodePayloadTooLarge.
func check(t *testing.T, d audiofile.Decoder, raw []byte) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	audio, err := d.Decode(ctx, bytes.NewReader(raw), time.Second)
	code := callwright.CodeOf(err)
	switch {
	case err == nil && (audio.Channels != 1 || audio.Rate > audiofile.MaxRate || len(audio.Samples) == 0 || audio.Duration() > 1100*time.Millisecond):
		t.Errorf("%d samples of %d channels at %d", len(audio.Samples), audio.Channels, audio.Rate)
	case err != nil && code != callwright.CodeUnsupportedMedia && code != callwright.CodePayloadTooLarge:
		t.Errorf("error %v (%v)", err, code)
	}
}

func FuzzDecode(f *testing.F) {
	for _, raw := range seeds(f) {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) { check(t, decoder, raw) })
}

// FuzzDecodeOgg corrects the checksums of the pages first, so that the decoder reads their contents.
func FuzzDecodeOgg(f *testing.F) {
	all := seeds(f)
	f.Add(all["vorbis"])
	f.Add(all["opus"])
	f.Fuzz(func(t *testing.T, raw []byte) { check(t, decoder, checksums(bytes.Clone(raw))) })
}

// checksums corrects the checksum of each Ogg page in raw.
func checksums(raw []byte) []byte {
	for rest := raw; len(rest) >= 27; {
		size := 27 + int(rest[26])
		if size > len(rest) {
			break
		}
		for _, n := range rest[27:size] {
			size += int(n)
		}
		if size > len(rest) {
			break
		}
		clear(rest[22:26])
		binary.LittleEndian.PutUint32(rest[22:], oggSum(rest[:size]))
		rest = rest[size:]
	}
	return raw
}

// oggSum returns the checksum of RFC 3533, computed bit by bit, independently of the tested code.
func oggSum(b []byte) uint32 {
	sum := uint32(0)
	for _, c := range b {
		sum ^= uint32(c) << 24
		for range 8 {
			carry := sum >> 31
			sum = sum<<1 ^ carry*0x04C11DB7
		}
	}
	return sum
}
