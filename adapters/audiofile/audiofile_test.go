package audiofile_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/audiofile"
	"github.com/callwright/callwright/adapters/codec/opus"
	"github.com/callwright/callwright/speech/pcm"
)

var decoder = audiofile.Decoder{Opus: func() (audiofile.PacketDecoder, error) { return opus.Engine().New() }}

// run runs a program that `scripts/install-deps.sh test` installs, and fails the test if the program fails.
func run(t testing.TB, name string, args ...string) {
	t.Helper()
	if printed, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v: %s (scripts/install-deps.sh test installs it)", name, args, err, printed)
	}
}

// speak writes a WAV file of synthesized speech at 16000 samples per second and returns its path.
func speak(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "speech.wav")
	run(t, "flite", "-voice", "slt", "-t", "The shop opens at nine. On Sundays it is closed, but the door is open.\n", "-o", path)
	return path
}

// convert converts a WAV file with ffmpeg and returns the bytes of the result. The extension of name selects the format.
func convert(t testing.TB, wav, name string, args ...string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	run(t, "ffmpeg", slices.Concat([]string{"-v", "error", "-y", "-i", wav}, args, []string{path})...)
	return read(t, path)
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func decode(t testing.TB, raw []byte) (pcm.Audio, error) {
	t.Helper()
	return decoder.Decode(t.Context(), bytes.NewReader(raw), 0)
}

func TestDecode(t *testing.T) {
	t.Parallel()
	speech := speak(t)
	original, err := pcm.ReadWAV(bytes.NewReader(read(t, speech)), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		raw  []byte
		rate int
		most float64 // maximum distance to the original
	}{
		"WAV":                      {read(t, speech), 16000, 0.001},
		"WAV stereo 44.1 kHz":      {convert(t, speech, "a.wav", "-ar", "44100", "-ac", "2"), 16000, 0.02},
		"WAV three channels":       {convert(t, speech, "a.wav", "-af", "pan=3.0|c0=c0|c1=c0|c2=c0"), 16000, 0.02},
		"WAV mu-law 8 kHz":         {convert(t, speech, "a.wav", "-ar", "8000", "-c:a", "pcm_mulaw"), 8000, 0.15},
		"WAV A-law 8 kHz":          {convert(t, speech, "a.wav", "-ar", "8000", "-c:a", "pcm_alaw"), 8000, 0.15},
		"WAV 24 bit":               {convert(t, speech, "a.wav", "-c:a", "pcm_s24le"), 16000, 0.02},
		"MP3 44.1 kHz":             {convert(t, speech, "a.mp3", "-ar", "44100", "-b:a", "64k"), 16000, 0.1},
		"MP3 stereo 48 kHz":        {convert(t, speech, "a.mp3", "-ar", "48000", "-ac", "2", "-b:a", "128k"), 16000, 0.1},
		"MP3 variable 32 kHz":      {convert(t, speech, "a.mp3", "-ar", "32000", "-q:a", "4"), 16000, 0.1},
		"MP3 16 kHz":               {convert(t, speech, "a.mp3", "-ar", "16000", "-b:a", "24k"), 16000, 0.15},
		"MP3 22.05 kHz, 32 kbit/s": {convert(t, speech, "a.mp3", "-ar", "22050", "-b:a", "32k"), 16000, 0.15},
		"MP3 22.05 kHz, stereo":    {convert(t, speech, "a.mp3", "-ar", "22050", "-ac", "2", "-b:a", "48k"), 16000, 0.15},
		"MP3 with tags":            {convert(t, speech, "a.mp3", "-ar", "44100", "-b:a", "64k", "-metadata", "title="+strings.Repeat("long ", 20000), "-write_id3v1", "1"), 16000, 0.1},
		"MP3 without tags":         {convert(t, speech, "a.mp3", "-ar", "44100", "-b:a", "64k", "-id3v2_version", "0", "-write_xing", "0"), 16000, 0.1},
		"MP3 that starts within":   {convert(t, speech, "a.mp3", "-ar", "44100", "-b:a", "64k", "-id3v2_version", "0")[1000:], 16000, 0.15},
		"Ogg Vorbis":               {convert(t, speech, "a.ogg", "-c:a", "libvorbis", "-q:a", "3"), 16000, 0.1},
		"Ogg Vorbis 44.1 stereo":   {convert(t, speech, "a.ogg", "-c:a", "libvorbis", "-ar", "44100", "-ac", "2"), 16000, 0.1},
		"Ogg Vorbis 8 kHz":         {convert(t, speech, "a.ogg", "-c:a", "libvorbis", "-ar", "8000"), 8000, 0.2},
		"Ogg with large comments":  {convert(t, speech, "a.ogg", "-c:a", "libvorbis", "-metadata", "title="+strings.Repeat("long ", 20000)), 16000, 0.1},
		"Ogg Opus":                 {convert(t, speech, "a.ogg", "-c:a", "libopus", "-b:a", "24k"), 16000, 0.1},
		"Ogg Opus stereo":          {convert(t, speech, "a.opus", "-c:a", "libopus", "-ac", "2", "-b:a", "48k"), 16000, 0.1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := decode(t, tt.raw)
			if err != nil {
				t.Fatalf("%v: %v", err, errors.Unwrap(err))
			}
			m, err := pcm.Compare(original.Samples, original.Rate, got.Samples, got.Rate)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("distance %.3f", m.Distance)
			if got.Rate != tt.rate || got.Channels != 1 || m.Distance > tt.most || (got.Duration()-original.Duration()).Abs() > 150*time.Millisecond {
				t.Errorf("%v at %d, distance %.3f; want %v at %d, at most %.3f", got.Duration(), got.Rate, m.Distance, original.Duration(), tt.rate, tt.most)
			}
			if d := pcm.Loudness(got.Samples) - pcm.Loudness(original.Samples); d > 1 || d < -4 { // ffmpeg reduces stereo by 3 dB
				t.Errorf("%.1f dB louder than the original", d)
			}
		})
	}
}

// archive returns a ZIP archive that contains an empty file named voice.wav.
func archive(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	if _, err := z.Create("voice.wav"); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// wav returns a WAV file of samples whose header declares the given length of audio in bytes.
func wav(t testing.TB, samples []int16, declared uint32) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := pcm.WriteWAV(&b, pcm.Audio{Rate: 8000, Channels: 1, Samples: samples}); err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint32(b.Bytes()[40:], declared)
	return b.Bytes()
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	speech := speak(t)
	mp3 := convert(t, speech, "a.mp3", "-ar", "44100", "-b:a", "64k")
	ogg := convert(t, speech, "a.ogg", "-c:a", "libvorbis")
	broken := bytes.Clone(ogg)
	broken[len(broken)/2] ^= 0x55
	noise := make([]byte, 100_000)
	for i := range noise {
		noise[i] = byte(i * i >> 3)
	}
	tests := map[string]struct {
		raw  []byte
		says string
	}{
		"nothing":                 {nil, "empty"},
		"ZIP":                     {archive(t), "ZIP"},
		"PDF":                     {[]byte("%PDF-1.7\n%\xe2\xe3\xcf\xd3"), "PDF"},
		"text":                    {[]byte("Dear Sir or Madam, this is my voice."), "text"},
		"HTML":                    {[]byte("<!DOCTYPE html><html>"), "text"},
		"garbage":                 {noise, "unknown kind"},
		"FLAC":                    {convert(t, speech, "a.flac"), "FLAC"},
		"M4A":                     {convert(t, speech, "a.m4a"), "M4A"},
		"AIFF":                    {convert(t, speech, "a.aiff"), "AIFF"},
		"video":                   {[]byte("\x00\x00\x00\x18ftypisom\x00\x00\x02\x00"), "MP4"},
		"WebM":                    {convert(t, speech, "a.webm", "-c:a", "libopus"), "WebM"},
		"AVI":                     {[]byte("RIFF\x00\x01\x00\x00AVI LIST"), "AVI"},
		"Ogg video":               {oggFirstPage("\x80theora\x03\x02\x01"), "video"},
		"Ogg Speex":               {oggFirstPage("Speex   1.2"), "Speex"},
		"Ogg FLAC":                {convert(t, speech, "a.oga", "-c:a", "flac"), "FLAC"},
		"Ogg of nothing":          {oggFirstPage("whatever it is"), "damaged"},
		"Ogg with an error":       {broken, "damaged"},
		"Ogg cut off":             {ogg[:len(ogg)-100], "damaged"},
		"Ogg header only":         {ogg[:58], "damaged"},
		"MP2":                     {convert(t, speech, "a.mp2"), "unknown kind"},
		"MP3 of 8 kHz":            {convert(t, speech, "a.mp3", "-ar", "8000", "-b:a", "16k"), "MPEG-2.5"},
		"ID3 tag only":            {mp3[:45], "contains no audio"},
		"ID3 tag and garbage":     {slices.Concat([]byte("ID3\x04\x00\x00\x00\x00\x00\x00"), noise), "contains no audio"},
		"ID3 tag of 256 MiB":      {[]byte("ID3\x04\x00\x00\x7f\x7f\x7f\x7f"), "more than 16 MiB"},
		"one frame":               {slices.Concat([]byte("ID3\x04\x00\x00\x00\x00\x00\x00"), mp3[45:100]), "contains no audio"},
		"WAV header only":         {wav(t, nil, 0), "no audio"},
		"WAV without its audio":   {wav(t, nil, 16000), "damaged or cut off"},
		"WAV cut off":             {wav(t, make([]int16, 4000), 16000), "damaged or cut off"},
		"WAV with a lying length": {wav(t, make([]int16, 4000), 0x7FFE0000), "damaged or cut off"},
		"WAV with an MP3 inside":  {convert(t, speech, "a.wav", "-c:a", "libmp3lame", "-ar", "44100"), "0x0055"},
		"WAV start":               {[]byte("RIFF\x00\x01\x00\x00WAVE"), "no data chunk"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := decode(t, tt.raw)
			if callwright.CodeOf(err) != callwright.CodeUnsupportedMedia || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error %v (%v), want one that says %q", err, callwright.CodeOf(err), tt.says)
			}
		})
	}
	_, err := audiofile.Decoder{}.Decode(t.Context(), bytes.NewReader(convert(t, speech, "a.opus", "-c:a", "libopus")), 0)
	if callwright.CodeOf(err) != callwright.CodeUnsupportedMedia || !strings.Contains(err.Error(), "WAV, MP3 or Ogg Vorbis") {
		t.Errorf("Opus without its decoder: %v", err)
	}
}

// oggFirstPage returns the first page of an Ogg stream. The page contains the given packet.
func oggFirstPage(packet string) []byte {
	page := append([]byte("OggS\x00\x02"), make([]byte, 20)...)
	page = append(append(page, 1, byte(len(packet))), packet...)
	binary.LittleEndian.PutUint32(page[22:], oggSum(page))
	return page
}

// TestDecodeStopsAtTheLimit decodes small files of long audio with a limit of one second: Decode must not read the whole file. It also
// checks that more than five minutes of MP3 or Ogg are refused even if the caller permits an hour.
func TestDecodeStopsAtTheLimit(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "silence.wav")
	run(t, "sox", "-n", "-r", "16000", "-c", "1", "-b", "16", path, "trim", "0", "310")
	for name, raw := range map[string][]byte{
		"WAV":        wav(t, make([]int16, 8000*61), 0),
		"MP3":        convert(t, path, "a.mp3", "-ar", "16000", "-b:a", "8k"),
		"Ogg Vorbis": convert(t, path, "a.ogg", "-c:a", "libvorbis", "-q:a", "0"),
		"Ogg Opus":   convert(t, path, "a.opus", "-c:a", "libopus", "-b:a", "6k"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src := &counted{Reader: bytes.NewReader(raw)}
			_, err := decoder.Decode(t.Context(), src, time.Second)
			if callwright.CodeOf(err) != callwright.CodePayloadTooLarge || !strings.Contains(err.Error(), "1s") {
				t.Errorf("error %v", err)
			}
			if src.n > 192<<10 {
				t.Errorf("%d bytes are read for a second", src.n)
			}
			if _, err := decoder.Decode(t.Context(), bytes.NewReader(raw), time.Hour); name != "WAV" && callwright.CodeOf(err) != callwright.CodePayloadTooLarge {
				t.Errorf("more than five minutes: %v", err)
			}
		})
	}
}

// counted is a file that counts the bytes that are read from it.
type counted struct {
	*bytes.Reader
	n int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += n
	return n, err
}

// failing is a file whose Reader the test replaces, so that reads can fail.
type failing struct {
	io.Reader
	io.Seeker
}

func TestDecodeReportsTheSource(t *testing.T) {
	t.Parallel()
	gone := callwright.Errorf(callwright.CodePayloadTooLarge, "more than 10 MB")
	src := failing{Reader: io.MultiReader(bytes.NewReader(wav(t, make([]int16, 40000), 80000)[:30000]), iotest.ErrReader(gone))}
	if _, err := decoder.Decode(t.Context(), src, 0); !errors.Is(err, gone) || callwright.CodeOf(err) != callwright.CodePayloadTooLarge {
		t.Errorf("error %v, want that of the source", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := decoder.Decode(ctx, bytes.NewReader(wav(t, make([]int16, 40000), 80000)), 0); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v of an ended context", err)
	}
}

// panicking is a PacketDecoder that panics on each packet.
type panicking struct{}

func (panicking) Rate() int                               { return 16000 }
func (panicking) Decode([]int16, []byte) ([]int16, error) { panic("index out of range") }

func TestDecodeSurvivesADecoder(t *testing.T) {
	t.Parallel()
	raw := convert(t, speak(t), "a.opus", "-c:a", "libopus")
	d := audiofile.Decoder{Opus: func() (audiofile.PacketDecoder, error) { return panicking{}, nil }}
	if _, err := d.Decode(t.Context(), bytes.NewReader(raw), 0); callwright.CodeOf(err) != callwright.CodeUnsupportedMedia {
		t.Errorf("error %v", err)
	}
	broken := errors.New("no memory")
	d.Opus = func() (audiofile.PacketDecoder, error) { return nil, broken }
	if _, err := d.Decode(t.Context(), bytes.NewReader(raw), 0); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}
