package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/speech/activity"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/speech/tts"
)

// player plays, speaks, listens and sends digits in a call, as the options say.
type player struct {
	options
	synthesizer tts.Synthesizer // nil if the phone speaks nothing
}

// greetingWait is how long the phone waits for the peer to speak before it continues, for example with its first line.
const greetingWait = 5 * time.Second

// maxWAV is the maximum size of the file of --play in bytes.
const maxWAV = 64 << 20

// play listens to a call until the call ends. Meanwhile it plays, speaks, sends digits and hangs up, as the flags say.
func (p player) play(ctx context.Context, leg call.Leg) error {
	info := leg.Info()
	fmt.Printf("talking: %s, %s, %s\n", info.Codec, info.SRTPSuite, info.TLS)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	heard := peer{began: make(chan struct{}, 1), finished: make(chan struct{}, 1)}
	var acting sync.WaitGroup
	acting.Go(func() {
		if err := p.act(ctx, leg, heard); err != nil && ctx.Err() == nil {
			fmt.Fprintln(os.Stderr, "softphone:", err)
		}
	})
	err := p.listen(ctx, leg, heard)
	cancel()
	acting.Wait()
	hanging, cancelHanging := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancelHanging()
	hangupErr := leg.Hangup(hanging)
	ending := leg.Ending()
	fmt.Println("ended:", ending.Error())
	return errors.Join(err, hangupErr)
}

// peer signals what the peer does. Each channel contains at most one signal.
type peer struct {
	began    chan struct{} // the peer has begun to speak
	finished chan struct{} // the peer has finished speaking, or both sides are silent
}

// act plays the file, speaks the lines, sends the digits and hangs up, in this order. Before each of these except the file and the lines of
// --over, it waits until the peer has finished speaking.
func (p player) act(ctx context.Context, leg call.Leg, heard peer) error {
	if p.Play != "" {
		if err := p.playFile(ctx, leg); err != nil {
			return err
		}
	}
	for _, l := range p.Lines {
		spoken, err := p.synthesize(ctx, l, leg.Rate()) // first, so that the engine does not lengthen the pauses
		if err != nil {
			return err
		}
		if err := await(ctx, l, heard); err != nil {
			return err
		}
		fmt.Println("saying:", l)
		if err := leg.Write(ctx, spoken); err != nil {
			return err
		}
	}
	if p.DTMF != "" {
		if err := wait(ctx, heard.finished); err != nil {
			return err
		}
		fmt.Println("pressing:", p.DTMF)
		if err := leg.SendDTMF(ctx, p.DTMF); err != nil {
			return err
		}
	}
	if !p.Hangup {
		return nil
	}
	if err := wait(ctx, heard.finished); err != nil {
		return err
	}
	return leg.Hangup(ctx)
}

// await waits until it is time for a line.
func await(ctx context.Context, l line, heard peer) error {
	if l.over == 0 {
		return wait(ctx, heard.finished)
	}
	select {
	case <-heard.began: // perhaps long ago
	default:
	}
	if err := wait(ctx, heard.began); err != nil {
		return err
	}
	timer := time.NewTimer(l.over)
	defer timer.Stop()
	return wait(ctx, timer.C)
}

// wait waits for a signal. It returns the error of ctx if ctx ends first.
func wait[T any](ctx context.Context, event <-chan T) error {
	select {
	case <-event:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p player) playFile(ctx context.Context, leg call.Leg) error {
	f, err := os.Open(p.Play)
	if err != nil {
		return err
	}
	defer f.Close()
	audio, err := pcm.ReadWAV(f, maxWAV)
	if err != nil {
		return err
	}
	samples, err := pcm.Resample(audio.Mono(), audio.Rate, leg.Rate())
	if err != nil {
		return err
	}
	return leg.Write(ctx, samples)
}

// synthesize returns the audio of a line with its pauses.
func (p player) synthesize(ctx context.Context, l line, rate int) (audio []int16, err error) {
	for _, piece := range l.pieces {
		audio = append(audio, make([]int16, pcm.Samples(piece.pause, rate))...)
		if audio, err = p.speak(ctx, audio, piece.text, rate); err != nil {
			return nil, err
		}
	}
	return audio, nil
}

// speak appends the audio of a text.
func (p player) speak(ctx context.Context, audio []int16, text string, rate int) ([]int16, error) {
	stream, err := p.synthesizer.Synthesize(ctx, tts.Request{Text: text, Rate: rate})
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	buf := make([]int16, pcm.FrameSamples(rate))
	for {
		n, err := stream.Read(buf)
		audio = append(audio, buf[:n]...)
		if errors.Is(err, io.EOF) {
			return audio, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// listen reads and records the call until it ends. It signals on heard.began when the peer begins to speak, and on heard.finished when the
// peer has spoken and then paused for p.Pause, or when both sides have been silent for greetingWait.
func (p player) listen(ctx context.Context, leg call.Leg, heard peer) (err error) {
	recording, err := p.recording(leg.Rate())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, recording.close()) }()
	voices := activity.New(leg.Rate(), nil)
	var spoke bool
	var quiet time.Duration
	for {
		f, err := leg.Read(ctx)
		if errors.Is(err, io.EOF) || ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		if err := recording.write(f); err != nil {
			return err
		}
		if f.Digit != 0 {
			fmt.Printf("heard digit: %c\n", f.Digit)
		}
		quiet += pcm.FrameDuration
		if voices.Hear(f.In, f.Out).Voice() || f.Out != nil {
			if f.Out == nil && !spoke {
				spoke = true
				raise(heard.began)
			}
			quiet = 0
		}
		if spoke && quiet >= p.Pause || quiet >= greetingWait {
			spoke, quiet = false, 0
			raise(heard.finished)
		}
	}
}

// raise sends a signal unless the channel contains one.
func raise(to chan<- struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}

// tape records a call to a WAV file. A nil *tape records nothing.
type tape struct {
	file *os.File
	wav  *pcm.Recording
}

func (p player) recording(rate int) (*tape, error) {
	if p.Record == "" {
		return nil, nil //nolint:nilnil // no recording is wanted
	}
	f, err := os.Create(p.Record)
	if err != nil {
		return nil, err
	}
	wav, err := pcm.NewRecording(f, rate)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &tape{f, wav}, nil
}

func (t *tape) write(f conversation.Frame) error {
	if t == nil {
		return nil
	}
	return t.wav.Write(f.In, f.Out)
}

func (t *tape) close() error {
	if t == nil {
		return nil
	}
	return errors.Join(t.wav.Close(), t.file.Close())
}
