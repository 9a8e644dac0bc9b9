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
	finished := make(chan struct{}, 1)
	var acting sync.WaitGroup
	acting.Go(func() {
		if err := p.act(ctx, leg, finished); err != nil && ctx.Err() == nil {
			fmt.Fprintln(os.Stderr, "softphone:", err)
		}
	})
	err := p.listen(ctx, leg, finished)
	cancel()
	acting.Wait()
	hanging, cancelHanging := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancelHanging()
	hangupErr := leg.Hangup(hanging)
	ending := leg.Ending()
	fmt.Println("ended:", ending.Error())
	return errors.Join(err, hangupErr)
}

// act plays the file, speaks the lines, sends the digits and hangs up, in this order. Before each of these except the file, it waits until
// the peer has finished speaking.
func (p player) act(ctx context.Context, leg call.Leg, finished <-chan struct{}) error {
	if p.Play != "" {
		if err := p.playFile(ctx, leg); err != nil {
			return err
		}
	}
	for _, line := range p.Say {
		if err := wait(ctx, finished); err != nil {
			return err
		}
		fmt.Println("saying:", line)
		if err := p.speak(ctx, leg, line); err != nil {
			return err
		}
	}
	if p.DTMF != "" {
		if err := wait(ctx, finished); err != nil {
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
	if err := wait(ctx, finished); err != nil {
		return err
	}
	return leg.Hangup(ctx)
}

func wait(ctx context.Context, finished <-chan struct{}) error {
	select {
	case <-finished:
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

func (p player) speak(ctx context.Context, leg call.Leg, line string) error {
	stream, err := p.synthesizer.Synthesize(ctx, tts.Request{Text: line, Rate: leg.Rate()})
	if err != nil {
		return err
	}
	defer stream.Close()
	buf := make([]int16, pcm.FrameSamples(leg.Rate()))
	for {
		n, err := stream.Read(buf)
		if err := leg.Write(ctx, buf[:n]); err != nil {
			return err
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// listen reads and records the call until it ends. It signals on finished when the peer has spoken and then paused for p.Pause, or when
// both sides have been silent for greetingWait.
func (p player) listen(ctx context.Context, leg call.Leg, finished chan<- struct{}) (err error) {
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
			spoke = spoke || f.Out == nil
			quiet = 0
		}
		if spoke && quiet >= p.Pause || quiet >= greetingWait {
			spoke, quiet = false, 0
			select {
			case finished <- struct{}{}:
			default:
			}
		}
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
