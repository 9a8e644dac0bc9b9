package speech

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech/pcm"
)

// Stream speaks a text and stores it, as Speak does, but returns the WAV file while the text is synthesized. It returns when the first
// sentence is available, or immediately if it uses the audio of an earlier sample again. It returns the same errors as Speak. While a text
// of several sentences or a mu-law file is synthesized, the header of the file does not state its length. When ctx ends, or the Playback is
// closed early, the synthesis ends and nothing is stored.
func (s *Service) Stream(ctx context.Context, org callwright.OrgID, r Request) (*Playback, error) {
	j, err := s.prepare(ctx, org, r)
	if err != nil {
		return nil, err
	}
	if kept, err := j.repeat(ctx); !errors.Is(err, callwright.ErrNotFound) {
		if err != nil {
			return nil, err
		}
		audio, err := s.Audio(ctx, org, kept.ID)
		if err != nil {
			return nil, err
		}
		return &Playback{Sample: kept, source: audio}, nil
	}
	leave, err := j.admit(ctx, org, j.memory())
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	known := j.sample // copied, because the job changes its sample concurrently
	t := &tape{job: j, changed: make(chan struct{}), cancel: cancel, leave: leave}
	t.running.Go(func() { t.finish(t.record(ctx)) })
	if err := t.started(); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return &Playback{Sample: known, source: t}, nil
}

// Playback is the WAV file of a sample that may still be in synthesis. Only one goroutine may read it.
type Playback struct {
	Sample Sample // Blob, Bytes, Duration, Latency and CreatedAt are not set if the text is still being synthesized

	source io.ReadCloser
}

// Read reads the next bytes, and waits for them if necessary. io.EOF means that the audio is complete and the sample is stored.
func (p *Playback) Read(b []byte) (int, error) { return p.source.Read(b) }

// Close ends the synthesis if it is still running, and frees the audio. It may be called twice.
func (p *Playback) Close() error { return p.source.Close() }

// tape holds the WAV file of a text while the text is spoken. It implements io.ReadCloser.
type tape struct {
	job     *job
	cancel  context.CancelFunc
	leave   func()
	running sync.WaitGroup

	mu      sync.Mutex
	audio   []byte
	at      int   // number of bytes already read
	err     error // result of the synthesis; io.EOF means that the audio is complete
	changed chan struct{}
}

// record speaks the text and stores the sample. It returns io.EOF after success.
func (t *tape) record(ctx context.Context) error {
	pieces := len(sentences(t.job.request.Text))
	samples, err := t.job.speak(ctx, func(samples []int16) { t.add(samples, pieces == 1) })
	if err != nil {
		return err
	}
	if _, err = t.job.store(ctx, samples); err != nil {
		return err
	}
	return io.EOF
}

// add appends a sentence to the file. It writes the header first, with the length only if whole is set and the length is known.
func (t *tape) add(samples []int16, whole bool) {
	if len(samples) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	mulaw := t.job.request.Format == ULaw8000
	if t.audio == nil {
		length := -1
		if whole && !mulaw { // a mu-law file may end with a padding byte
			length = len(samples)
		}
		t.audio = pcm.AppendHeader(nil, t.job.request.Format.Rate(), mulaw, length)
	}
	if mulaw {
		t.audio = pcm.AppendMuLaw(t.audio, samples)
	} else {
		t.audio = pcm.AppendBytes(t.audio, samples)
	}
	t.wake()
}

// wake wakes the reader. The caller holds mu.
func (t *tape) wake() {
	close(t.changed)
	t.changed = make(chan struct{})
}

func (t *tape) finish(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.err = err
	t.wake()
}

// started waits for the first sentence. It returns the error if the synthesis ends earlier.
func (t *tape) started() error {
	for {
		t.mu.Lock()
		begun, err, changed := len(t.audio) > 0, t.err, t.changed
		t.mu.Unlock()
		if begun {
			return nil
		}
		if err != nil {
			return err
		}
		<-changed
	}
}

// Read waits until bytes are available, or returns the result of the synthesis after the last byte.
func (t *tape) Read(b []byte) (int, error) {
	for {
		t.mu.Lock()
		n := copy(b, t.audio[t.at:])
		t.at += n
		err, changed := t.err, t.changed
		t.mu.Unlock()
		if n > 0 || len(b) == 0 {
			return n, nil
		}
		if err != nil {
			return 0, err
		}
		<-changed
	}
}

// Close cancels the synthesis, waits for its end, and releases the claim of admit.
func (t *tape) Close() error {
	t.cancel()
	t.running.Wait()
	t.leave()
	return nil
}
