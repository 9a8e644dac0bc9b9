package call

import (
	"bytes"
	"context"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/speech/pcm"
)

// lateAudio returns frames at the given times, in whose samples both sides have the number of the frame plus one.
type lateAudio struct {
	conversation.Audio
	times []time.Duration
}

func (*lateAudio) Rate() int { return 8000 }

func (a *lateAudio) Read(context.Context) (conversation.Frame, error) {
	if len(a.times) == 0 {
		return conversation.Frame{}, io.EOF
	}
	at := a.times[0]
	a.times = a.times[1:]
	samples := slices.Repeat([]int16{int16(at/(20*time.Millisecond)) + 1}, 160)
	return conversation.Frame{In: samples, Out: samples, Elapsed: at}, nil
}

// memoryFile is a RecordingFile in memory.
type memoryFile struct {
	data []byte
	at   int64
}

func (f *memoryFile) Write(p []byte) (int, error) {
	if missing := int(f.at) + len(p) - len(f.data); missing > 0 {
		f.data = append(f.data, make([]byte, missing)...)
	}
	f.at += int64(copy(f.data[f.at:], p))
	return len(p), nil
}

func (f *memoryFile) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += f.at
	case io.SeekEnd:
		offset += int64(len(f.data))
	}
	f.at = offset
	return f.at, nil
}

func (*memoryFile) Close() error { return nil }

// TestMissingFramesAreSilent checks that a recording has silence for frames that came too late to be read, also before the first frame, so
// that every frame lies at its time of the call.
func TestMissingFramesAreSilent(t *testing.T) {
	t.Parallel()
	const frame = 20 * time.Millisecond
	file := &memoryFile{}
	tape, err := recordAudio(&lateAudio{times: []time.Duration{2 * frame, 3 * frame, 350 * frame, 350 * frame, 351 * frame}}, file, &background{})
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := tape.Read(t.Context()); err != nil {
			break
		}
	}
	if err := tape.stop(); err != nil {
		t.Fatal(err)
	}
	audio, err := pcm.ReadWAV(bytes.NewReader(file.data), 1<<24)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]int16, 353*160)
	for at, n := range map[int]int16{2: 3, 3: 4, 350: 351, 351: 351, 352: 352} {
		copy(want[at*160:], slices.Repeat([]int16{n}, 160))
	}
	for channel := range 2 {
		if got := audio.Channel(channel); !slices.Equal(got, want) {
			t.Errorf("channel %d has %d samples, want %d", channel, len(got), len(want))
		}
	}
}
