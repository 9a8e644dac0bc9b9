package pcm_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"testing/iotest"
	"time"

	"pgregory.net/rapid"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech/pcm"
)

// chunk returns a RIFF chunk whose length field contains size, which may differ from the length of body.
func chunk(id string, size uint32, body []byte) []byte {
	out := binary.LittleEndian.AppendUint32([]byte(id), size)
	return append(out, body...)
}

// format returns the body of a format chunk.
func format(tag, channels, rate, bits int) []byte {
	var out []byte
	out = binary.LittleEndian.AppendUint16(out, uint16(tag))
	out = binary.LittleEndian.AppendUint16(out, uint16(channels))
	out = binary.LittleEndian.AppendUint32(out, uint32(rate))
	out = binary.LittleEndian.AppendUint32(out, uint32(rate*channels*bits/8))
	out = binary.LittleEndian.AppendUint16(out, uint16(channels*bits/8))
	return binary.LittleEndian.AppendUint16(out, uint16(bits))
}

func wav(chunks ...[]byte) []byte {
	return append([]byte("RIFF\xff\xff\xff\xffWAVE"), bytes.Join(chunks, nil)...)
}

var plain = chunk("fmt ", 16, format(1, 1, 8000, 16))

func TestReadWAV(t *testing.T) {
	t.Parallel()
	float := binary.LittleEndian.AppendUint32(nil, math.Float32bits(-0.5))
	extensible := append(format(0xFFFE, 1, 8000, 16), 22, 0, 16, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71)
	tests := map[string]struct {
		raw      []byte
		channels int
		want     []int16
	}{
		"plain":                   {wav(plain, chunk("data", 4, []byte{1, 0, 254, 255})), 1, []int16{1, -2}},
		"nothing in it":           {wav(plain, chunk("data", 0, nil)), 1, nil},
		"length of a pipe":        {wav(plain, chunk("data", 0xFFFFFFFF, []byte{1, 0, 2, 0})), 1, []int16{1, 2}},
		"length as espeak has it": {wav(plain, chunk("data", 0x7FFFF000, []byte{1, 0, 2, 0})), 1, []int16{1, 2}},
		"length never filled in":  {wav(plain, chunk("data", 0, []byte{1, 0, 2, 0})), 1, []int16{1, 2}},
		"shorter than it says":    {wav(plain, chunk("data", 100, []byte{1, 0, 2, 0, 9})), 1, []int16{1, 2}},
		"chunk after the audio":   {wav(plain, chunk("data", 2, []byte{1, 0}), chunk("LIST", 2, []byte{7, 7})), 1, []int16{1}},
		"odd chunk before it":     {wav(chunk("LIST", 3, []byte{1, 2, 3, 0}), plain, chunk("data", 2, []byte{1, 0})), 1, []int16{1}},
		"stereo":                  {wav(chunk("fmt ", 16, format(1, 2, 8000, 16)), chunk("data", 6, []byte{1, 0, 2, 0, 3, 0})), 2, []int16{1, 2}},
		"8 bits are unsigned":     {wav(chunk("fmt ", 16, format(1, 1, 8000, 8)), chunk("data", 3, []byte{0, 128, 255})), 1, []int16{-32768, 0, 32512}},
		"24 bits":                 {wav(chunk("fmt ", 16, format(1, 1, 8000, 24)), chunk("data", 3, []byte{9, 1, 0x80})), 1, []int16{-32767}},
		"32 bits":                 {wav(chunk("fmt ", 16, format(1, 1, 8000, 32)), chunk("data", 4, []byte{9, 9, 1, 0})), 1, []int16{1}},
		"float":                   {wav(chunk("fmt ", 16, format(3, 1, 8000, 32)), chunk("data", 4, float)), 1, []int16{-16384}},
		"mu-law":                  {wav(chunk("fmt ", 18, append(format(7, 1, 8000, 8), 0, 0)), chunk("fact", 4, []byte{2, 0, 0, 0}), chunk("data", 2, []byte{0x80, 0xFF})), 1, []int16{32124, 0}},
		"A-law":                   {wav(chunk("fmt ", 16, format(6, 1, 8000, 8)), chunk("data", 2, []byte{0xAA, 0xD5})), 1, []int16{32256, 8}},
		"extensible":              {wav(chunk("fmt ", 40, extensible), chunk("data", 2, []byte{1, 0})), 1, []int16{1}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, src := range []io.Reader{bytes.NewReader(tt.raw), iotest.OneByteReader(bytes.NewReader(tt.raw)), iotest.DataErrReader(bytes.NewReader(tt.raw))} {
				got, err := pcm.ReadWAV(src, 100)
				if err != nil || got.Rate != 8000 || got.Channels != tt.channels || !slices.Equal(got.Samples, tt.want) {
					t.Errorf("got %+v, %v; want %d channels of %v", got, err, tt.channels, tt.want)
				}
			}
		})
	}
}

func TestReadWAVRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		raw  []byte
		code callwright.Code
	}{
		"empty":              {nil, callwright.CodeUnsupportedMedia},
		"text":               {[]byte("what is this, a letter?"), callwright.CodeUnsupportedMedia},
		"no chunks":          {wav(), callwright.CodeUnsupportedMedia},
		"no format":          {wav(chunk("data", 2, []byte{1, 0})), callwright.CodeUnsupportedMedia},
		"short format":       {wav(chunk("fmt ", 4, []byte{1, 0, 1, 0})), callwright.CodeUnsupportedMedia},
		"MP3 inside":         {wav(chunk("fmt ", 16, format(0x55, 1, 8000, 16))), callwright.CodeUnsupportedMedia},
		"16 bits of mu-law":  {wav(chunk("fmt ", 16, format(7, 1, 8000, 16))), callwright.CodeUnsupportedMedia},
		"12 bits":            {wav(chunk("fmt ", 16, format(1, 1, 8000, 12))), callwright.CodeUnsupportedMedia},
		"no channel":         {wav(chunk("fmt ", 16, format(1, 0, 8000, 16))), callwright.CodeUnsupportedMedia},
		"no rate":            {wav(chunk("fmt ", 16, format(1, 1, 0, 16))), callwright.CodeUnsupportedMedia},
		"a huge picture":     {wav(plain, chunk("JUNK", 1<<31, nil)), callwright.CodeUnsupportedMedia},
		"a huge format":      {wav(chunk("fmt ", 0xFFFFFFFF, nil)), callwright.CodeUnsupportedMedia},
		"more than is asked": {wav(plain, chunk("data", 0, make([]byte, 2000))), callwright.CodePayloadTooLarge},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := pcm.ReadWAV(bytes.NewReader(tt.raw), 100); callwright.CodeOf(err) != tt.code {
				t.Errorf("error %v with code %v, want %v", err, callwright.CodeOf(err), tt.code)
			}
		})
	}
}

func TestReadWAVReportsAFailingSource(t *testing.T) {
	t.Parallel()
	broken := errors.New("line cut")
	src := io.MultiReader(bytes.NewReader(wav(plain, chunk("data", 100, []byte{1, 0}))), iotest.ErrReader(broken))
	if _, err := pcm.ReadWAV(src, 100); !errors.Is(err, broken) {
		t.Errorf("error %v, want the source's own as its cause", err)
	}
}

func TestWriteWAVReadsBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := pcm.Audio{
			Rate:     rapid.IntRange(pcm.MinRate, pcm.MaxRate).Draw(t, "rate"),
			Channels: rapid.IntRange(1, 8).Draw(t, "channels"),
		}
		want.Samples = rapid.SliceOfN(rapid.Int16(), want.Channels, want.Channels).Draw(t, "samples")
		var file bytes.Buffer
		if err := pcm.WriteWAV(&file, want); err != nil {
			t.Fatal(err)
		}
		got, err := pcm.ReadWAV(&file, 8)
		if err != nil || got.Rate != want.Rate || got.Channels != want.Channels || !slices.Equal(got.Samples, want.Samples) {
			t.Fatalf("wrote %+v, read %+v, %v", want, got, err)
		}
	})
	for _, bad := range []pcm.Audio{{Rate: 8000}, {Rate: 8000, Channels: 9}, {Rate: 1, Channels: 1}} {
		if err := pcm.WriteWAV(io.Discard, bad); callwright.CodeOf(err) != callwright.CodeBadRequest {
			t.Errorf("%+v: error %v", bad, err)
		}
	}
}

// TestRecordingSurvivesACrash reads the file while the recording is open. At any time the file must be valid and lack less than a second of
// audio.
func TestRecordingSurvivesACrash(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "call.wav")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	r, err := pcm.NewRecording(file, 8000)
	if err != nil {
		t.Fatal(err)
	}
	left, right := slices.Repeat([]int16{7}, 160), slices.Repeat([]int16{-7}, 100)
	for i := range 120 { // 2.4 s
		if err := r.Write(left, right); err != nil {
			t.Fatal(err)
		}
		crashed, declared := readFile(t, path)
		if lost := i*160 + 160 - len(crashed.Channel(0)); lost < 0 || lost >= 8000 || declared != len(crashed.Samples)*2 {
			t.Fatalf("after %d frames %d samples are lost and the header says %d bytes of %d", i+1, lost, declared, len(crashed.Samples)*2)
		}
	}
	if err := errors.Join(r.Write(nil, left), r.Flush(), r.Flush()); err != nil {
		t.Fatal(err)
	}
	if flushed, declared := readFile(t, path); len(flushed.Channel(0)) != 121*160 || declared != 121*160*4 {
		t.Errorf("a flush leaves %d samples of %d", len(flushed.Channel(0)), 121*160)
	}
	if d := r.Duration(); d != 2420*time.Millisecond {
		t.Errorf("duration %v", d)
	}
	if err := errors.Join(r.Close(), r.Close()); err != nil {
		t.Fatal(err)
	}
	got, _ := readFile(t, path)
	wantRight := slices.Concat(slices.Repeat(slices.Concat(right, make([]int16, 60)), 120), left)
	if !slices.Equal(got.Channel(0), slices.Concat(slices.Repeat(left, 120), make([]int16, 160))) || !slices.Equal(got.Channel(1), wantRight) {
		t.Error("the file does not hold what was written")
	}
}

// readFile returns the audio that a file's header declares, and the declared number of bytes.
func readFile(t *testing.T, path string) (pcm.Audio, int) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	declared := int(binary.LittleEndian.Uint32(raw[40:]))
	audio, err := pcm.ReadWAV(bytes.NewReader(raw[:44+declared]), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return audio, declared
}

// fullDisk is a file whose Write returns an error if the file would exceed the number of bytes in room.
type fullDisk struct{ room int }

func (d *fullDisk) Write(p []byte) (int, error) {
	if d.room -= len(p); d.room < 0 {
		return 0, os.ErrClosed
	}
	return len(p), nil
}
func (d *fullDisk) Seek(int64, int) (int64, error) { return 0, nil }

func TestRecordingKeepsItsFirstError(t *testing.T) {
	t.Parallel()
	if _, err := pcm.NewRecording(&fullDisk{}, 8000); !errors.Is(err, os.ErrClosed) {
		t.Errorf("no room for the header: %v", err)
	}
	r, err := pcm.NewRecording(&fullDisk{room: 100}, 8000)
	if err != nil {
		t.Fatal(err)
	}
	second := make([]int16, 8000)
	first := r.Write(second, second)
	if !errors.Is(first, os.ErrClosed) || !errors.Is(r.Write(nil, second[:1]), first) || !errors.Is(r.Close(), first) {
		t.Errorf("error %v is not kept", first)
	}
	if _, err := pcm.NewRecording(&fullDisk{room: 100}, 0); callwright.CodeOf(err) != callwright.CodeBadRequest {
		t.Errorf("no rate: %v", err)
	}
}

func FuzzReadWAV(f *testing.F) {
	f.Add(wav(plain, chunk("data", 4, []byte{1, 0, 2, 0})))
	f.Add(wav(chunk("LIST", 3, []byte{1, 2, 3, 0}), chunk("fmt ", 16, format(3, 2, 48000, 32)), chunk("data", 0, make([]byte, 33))))
	f.Add(wav(chunk("fmt ", 18, append(format(7, 1, 8000, 8), 0, 0)), chunk("fact", 4, []byte{3, 0, 0, 0}), chunk("data", 3, []byte{0, 127, 255})))
	f.Add(wav(chunk("fmt ", 16, format(6, 2, 8000, 8)), chunk("data", 1<<30, []byte{0, 127})))
	f.Fuzz(func(t *testing.T, raw []byte) {
		audio, err := pcm.ReadWAV(bytes.NewReader(raw), 1000)
		if err != nil {
			return
		}
		if audio.Channels < 1 || len(audio.Samples)%audio.Channels != 0 || len(audio.Samples) > 1000 || len(audio.Samples) > len(raw) {
			t.Errorf("read %d samples of %d channels from %d bytes", len(audio.Samples), audio.Channels, len(raw))
		}
		// Audio that is written in either format can be read.
		for _, write := range []func(io.Writer, pcm.Audio) error{pcm.WriteWAV, pcm.WriteMuLawWAV} {
			var file bytes.Buffer
			if err := write(&file, audio); err != nil {
				t.Fatal(err)
			}
			again, err := pcm.ReadWAV(&file, 1000)
			if err != nil || again.Rate != audio.Rate || again.Channels != audio.Channels || len(again.Samples) != len(audio.Samples) {
				t.Errorf("wrote %d samples, read %d, %v", len(audio.Samples), len(again.Samples), err)
			}
		}
		if l := pcm.LUFS(audio.Mono(), audio.Rate); math.IsNaN(l) || l > 10 || l < pcm.SilenceDB {
			t.Errorf("a loudness of %v", l)
		}
	})
}

// write writes the output of fill to a file, and returns the bytes.
func write(t *testing.T, path string, fill func(*bytes.Buffer) error) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := fill(&file); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// TestMissing checks that Missing returns the number of declared bytes that a file lacks, and 0 if the header states no length.
func TestMissing(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		raw  []byte
		want int64
	}{
		"whole":                 {wav(plain, chunk("data", 4, []byte{1, 0, 2, 0})), 0},
		"with what follows":     {wav(plain, chunk("data", 2, []byte{1, 0, 2, 0})), 0},
		"cut off":               {wav(plain, chunk("data", 100, []byte{1, 0, 2, 0})), 96},
		"nothing but a header":  {wav(plain, chunk("data", 1<<20, nil)), 1 << 20},
		"a length of a pipe":    {wav(plain, chunk("data", 0xFFFFFFFF, []byte{1, 0})), 0},
		"a length that is left": {wav(plain, chunk("data", 0, nil)), 0},
	} {
		r, err := pcm.NewWAVReader(bytes.NewReader(tt.raw))
		if err != nil {
			t.Fatal(err)
		}
		p := make([]int16, 7)
		for err == nil {
			_, err = r.Read(p)
		}
		if !errors.Is(err, io.EOF) || r.Missing() != tt.want {
			t.Errorf("%s: %d bytes are missing, want %d; %v", name, r.Missing(), tt.want, err)
		}
	}
}

// idle is a reader that never returns bytes or an error.
type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

func TestReadWAVOfAnIdleSource(t *testing.T) {
	t.Parallel()
	if _, err := pcm.ReadWAV(io.MultiReader(bytes.NewReader(wav(plain, chunk("data", 4, nil))), idle{}), 100); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("error %v", err)
	}
}

// TestLyingLengthCostsNothing checks that a header that declares 2 GiB of absent audio does not cause a large allocation.
func TestLyingLengthCostsNothing(t *testing.T) { //nolint:paralleltest // it counts what is allocated
	raw := wav(plain, chunk("data", 0x7FFE0000, []byte{1, 0}))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := pcm.ReadWAV(bytes.NewReader(raw), 1<<31)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; err != nil || n > 1<<20 {
		t.Errorf("%d bytes are allocated for a sample, %v", n, err)
	}
}
