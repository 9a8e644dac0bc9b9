package call

import (
	"context"
	"errors"

	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/speech/pcm"
)

// taped is a call's audio with a recording made of it. Writing to disk is left to a goroutine of its own: a slow disk
// costs the recording some of its frames, which become silence, and never the call its time.
type taped struct {
	conversation.Audio
	frames chan tapeFrame
	spare  chan tapeFrame // buffers to use again
	missed int            // frames that found no room, to be made up for as silence
	done   chan struct{}
	err    error // of the writer; read after done
}

// tapeFrame is 20 ms of both sides, and the silence to put before them.
type tapeFrame struct {
	in, out []int16
	missed  int
}

// tapeFrames is how many frames may wait for the disk: 5 s.
const tapeFrames = 250

// tape begins a recording.
func tape(audio conversation.Audio, file RecordingFile) (*taped, error) {
	w, err := pcm.NewRecording(file, audio.Rate())
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	t := &taped{
		Audio: audio, frames: make(chan tapeFrame, tapeFrames), spare: make(chan tapeFrame, tapeFrames),
		done: make(chan struct{}),
	}
	go func() {
		defer close(t.done)
		t.err = errors.Join(t.write(w), w.Close(), file.Close())
	}()
	return t, nil
}

// write writes frames until there are no more.
func (t *taped) write(w *pcm.Recording) (err error) {
	for f := range t.frames {
		silence := make([]int16, f.missed*len(f.in))
		if len(silence) > 0 && err == nil {
			err = w.Write(silence, nil)
		}
		if err == nil {
			err = w.Write(f.in, f.out)
		}
		select {
		case t.spare <- f:
		default:
		}
	}
	return err
}

// Read reads a frame and hands a copy of it to the recording.
func (t *taped) Read(ctx context.Context) (conversation.Frame, error) {
	f, err := t.Audio.Read(ctx)
	if err != nil {
		return f, err
	}
	var copied tapeFrame
	select {
	case copied = <-t.spare:
	default:
	}
	copied.in, copied.out = append(copied.in[:0], f.In...), append(copied.out[:0], f.Out...)
	copied.missed = t.missed
	select {
	case t.frames <- copied:
		t.missed = 0
	default:
		t.missed++
	}
	return f, nil
}

// stop ends the recording and waits until it is written. Nobody reads any more.
func (t *taped) stop() error {
	close(t.frames)
	<-t.done
	return t.err
}
