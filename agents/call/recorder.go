package call

import (
	"context"
	"errors"
	"time"

	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/speech/pcm"
)

// recordedAudio records a call's audio. A separate goroutine writes, so that no packet waits for the disk. It writes all waiting frames
// together: if the process is killed, the file lacks the frames of one write, at most 200 ms of audio. The page cache survives the process,
// so nothing is synced. If a stalled disk fills the buffer, further frames are recorded as silence, as are frames that the call's reader has
// missed: every frame lies at its Frame.Elapsed in the recording, on which the times of the transcript count.
type recordedAudio struct {
	conversation.Audio
	background    *background
	frames        chan tapeFrame
	freeBuffers   chan tapeFrame // buffers for reuse
	droppedFrames int            // frames that the full buffer did not accept, or that were never read; silence replaces them
	position      int            // frames of the call so far, including dropped ones
	size          int            // samples of each dropped frame
	done          chan struct{}
	err           error // error of the writer; read only after done is closed
}

// tapeFrame contains 20 ms of both sides, and the number of dropped frames that precede it as silence.
type tapeFrame struct {
	in, out       []int16
	droppedFrames int
}

// frameTime is the duration of a frame.
const frameTime = 20 * time.Millisecond

// tapeFrames bounds the frames that wait for the disk. 250 frames are 5 s of audio.
const tapeFrames = 250

// recordAudio starts to record audio and its background into a file, and closes the file after stop. If the file's header cannot be written, it closes the
// file and returns the error.
func recordAudio(audio conversation.Audio, file RecordingFile, b *background) (*recordedAudio, error) {
	w, err := pcm.NewRecording(file, audio.Rate())
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	t := &recordedAudio{
		Audio: audio, background: b, frames: make(chan tapeFrame, tapeFrames), freeBuffers: make(chan tapeFrame, tapeFrames),
		done: make(chan struct{}),
	}
	go func() {
		defer close(t.done)
		t.err = errors.Join(t.write(w), w.Close(), file.Close())
	}()
	return t, nil
}

// write writes frames until the channel is closed. It returns the first error, because w returns it again for every later write.
func (t *recordedAudio) write(w *pcm.Recording) (err error) {
	for f := range t.frames {
		for range f.droppedFrames {
			_ = w.Write(make([]int16, len(f.in)), nil)
		}
		err = w.Write(f.in, f.out)
		if len(t.frames) == 0 {
			err = w.Flush()
		}
		select {
		case t.freeBuffers <- f:
		default:
		}
	}
	return err
}

// Read reads a frame and passes a copy of it to the recording. If the recording accepts no more frames, Read counts the frame as dropped.
func (t *recordedAudio) Read(ctx context.Context) (conversation.Frame, error) {
	f, err := t.Audio.Read(ctx)
	if err != nil {
		return f, err
	}
	var copied tapeFrame
	select {
	case copied = <-t.freeBuffers:
	default:
	}
	copied.in, copied.out = append(copied.in[:0], f.In...), append(copied.out[:0], f.Out...)
	if !f.OnHold {
		copied.out = t.background.mix(copied.out, len(f.In))
	}
	if missed := int(f.Elapsed/frameTime) - t.position; missed > 0 {
		t.droppedFrames += missed
		t.position += missed
	}
	t.position++
	copied.droppedFrames = t.droppedFrames
	select {
	case t.frames <- copied:
		t.droppedFrames = 0
	default:
		t.droppedFrames++
		t.size = len(f.In)
	}
	return f, nil
}

// stop finishes the recording, and waits until the file is written and closed. Read must not be called afterwards.
func (t *recordedAudio) stop() error {
	if t.droppedFrames > 0 { // no later frame has reported the last dropped frames
		t.frames <- tapeFrame{in: make([]int16, t.size), droppedFrames: t.droppedFrames - 1}
	}
	close(t.frames)
	<-t.done
	return t.err
}
