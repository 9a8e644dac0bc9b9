package conversation_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
)

// paced is the audio of a call in real time, with a frame every 20 ms at fixed times. Like a packet capture, it records when the sound to
// the caller last began and ended.
type paced struct {
	in      func(frame int) []int16
	next    time.Time
	silence []int16
	out     [160]int16
	late    int // frames that were read more than 20 ms after they were due

	mu       sync.Mutex
	queue    []int16
	began    time.Time // time of the frame at which the sound last began
	ended    time.Time // time of the frame at which the sound last ended
	sounding bool
	room     chan struct{}
	frames   atomic.Int64
}

func newPaced(in func(frame int) []int16) *paced {
	return &paced{in: in, silence: make([]int16, 160), room: make(chan struct{}, 1)}
}

func (p *paced) Rate() int { return 8000 }

func (p *paced) Read(ctx context.Context) (conversation.Frame, error) {
	if p.next.IsZero() {
		p.next = time.Now()
	}
	p.next = p.next.Add(20 * time.Millisecond)
	if time.Since(p.next) > 20*time.Millisecond {
		p.late++
	}
	select {
	case <-time.After(time.Until(p.next)):
	case <-ctx.Done():
		return conversation.Frame{}, ctx.Err()
	}
	n := int(p.frames.Add(1))
	f := conversation.Frame{In: p.in(n), Elapsed: time.Duration(n) * 20 * time.Millisecond}
	if f.In == nil {
		f.In = p.silence
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if k := copy(p.out[:], p.queue); k > 0 {
		p.queue, f.Out = p.queue[k:], p.out[:]
	}
	if sounding := f.Out != nil; sounding != p.sounding {
		p.sounding = sounding
		if sounding {
			p.began = time.Now()
		} else {
			p.ended = time.Now()
		}
	}
	select {
	case p.room <- struct{}{}:
	default:
	}
	return f, nil
}

func (p *paced) Write(ctx context.Context, samples []int16) error {
	for {
		p.mu.Lock()
		if len(p.queue) <= 1600 {
			p.queue = append(p.queue, samples...)
			p.mu.Unlock()
			return nil
		}
		p.mu.Unlock()
		select {
		case <-p.room:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (p *paced) Queued() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.queue)
}

func (p *paced) Flush() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.queue)
	p.queue = nil
	return n
}

func (p *paced) SendDTMF(context.Context, string) error { return nil }

// edges returns the times at which the sound last began and ended.
func (p *paced) edges() (began, ended time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.began, p.ended
}

// report reports the median and the 95th percentile of d in milliseconds. It sorts d.
func report(b *testing.B, name string, d []time.Duration) {
	b.Helper()
	slices.Sort(d)
	millis := func(share int) float64 { return float64(d[len(d)*share/100].Microseconds()) / 1000 }
	b.ReportMetric(millis(50), name+"-p50-ms")
	b.ReportMetric(millis(95), name+"-p95-ms")
}

// converse starts a conversation with fake engines. stop ends it and waits for its end.
func converse(b *testing.B, c conversation.Config, audio conversation.Audio, with conversation.Brain) (stop func()) {
	b.Helper()
	c.Recognizer, c.Synthesizer, c.Turns = &agentstest.Recognizer{}, &agentstest.Synthesizer{}, fixed{}
	conv, err := conversation.New(c)
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if out, err := conv.Run(ctx, audio, with); err != nil || out.By != conversation.ByContext {
			b.Errorf("outcome %+v, %v", out, err)
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// BenchmarkTurn measures turns in real time: an utterance of 400 ms, the wait for the end of the turn, and an answer of 300 ms. The engines
// and the brain are fakes without latency. "added-ms" is the time from the caller's last sample to the first packet of the answer, less the
// wait. It consists of the detector's hangover, the 20 ms of a frame and the program's own time.
func BenchmarkTurn(b *testing.B) {
	const wait = 200 * time.Millisecond
	voice := agentstest.Voice("abcdefg", 8000)
	const period, speech = 60, 21 // frames of a turn, and frames of the caller's speech in it
	var mu sync.Mutex
	var spoke time.Time
	p := newPaced(func(n int) []int16 {
		if n %= period; n < speech {
			mu.Lock()
			spoke = time.Now()
			mu.Unlock()
			return voice[n*160 : (n+1)*160]
		}
		return nil
	})
	answers := &brain{answer: func(t conversation.Turn) []conversation.Step {
		if t.Kind == conversation.TurnSpeech {
			return say("hello")
		}
		return nil
	}}
	stop := converse(b, conversation.Config{EndOfTurn: wait}, p, answers)
	var added []time.Duration
	var seen time.Time
	b.ReportAllocs()
	for b.Loop() {
		for {
			began, _ := p.edges()
			if began.After(seen) {
				seen = began
				mu.Lock()
				added = append(added, began.Sub(spoke)-wait)
				mu.Unlock()
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	stop()
	report(b, "added", added)
}

// BenchmarkBargeIn measures interruptions of an endless answer. "silent-ms" is the time from the caller's first sample to the first packet
// without the agent's voice, less the interruption threshold.
func BenchmarkBargeIn(b *testing.B) {
	const insist = 200 * time.Millisecond
	voice := agentstest.Voice("abcdefg", 8000)
	const period, pause = 80, 50
	var mu sync.Mutex
	var broke time.Time
	p := newPaced(func(n int) []int16 {
		if n %= period; n < pause || n >= pause+21 {
			return nil
		}
		if n == pause {
			mu.Lock()
			broke = time.Now().Add(-20 * time.Millisecond) // time of the frame's first sample
			mu.Unlock()
		}
		return voice[(n-pause)*160 : (n-pause+1)*160]
	})
	chatter := &brain{answer: func(conversation.Turn) []conversation.Step { return say("an answer without an end to it") }}
	stop := converse(b, conversation.Config{
		EndOfTurn: 100 * time.Millisecond, Interruption: insist, EchoGuard: 20 * time.Millisecond,
	}, p, chatter)
	var silent []time.Duration
	var seen time.Time
	for b.Loop() {
		for {
			_, ended := p.edges()
			mu.Lock()
			since := ended.Sub(broke)
			mu.Unlock()
			if ended.After(seen) && since > 0 && since < time.Second {
				seen = ended
				silent = append(silent, since-insist)
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	stop()
	report(b, "silent", silent)
}

// BenchmarkCalls runs many concurrent conversations for a second of real time in each round. Each conversation receives and sends speech.
// It reports the frames that were late by 20 ms or more.
func BenchmarkCalls(b *testing.B) {
	for _, calls := range []int{50, 200} {
		b.Run(fmt.Sprint(calls), func(b *testing.B) {
			voice := agentstest.Voice("abcdefg", 8000)
			conv, err := conversation.New(conversation.Config{
				Recognizer: &agentstest.Recognizer{}, Synthesizer: &agentstest.Synthesizer{},
			})
			if err != nil {
				b.Fatal(err)
			}
			ctx, cancel := context.WithCancel(b.Context())
			var wait sync.WaitGroup
			late, frames := 0, int64(0)
			var mu sync.Mutex
			for i := range calls {
				p := newPaced(func(n int) []int16 {
					if n = (n + i) % 100; n < 21 {
						return voice[n*160 : (n+1)*160]
					}
					return nil
				})
				wait.Go(func() {
					answers := &brain{answer: func(conversation.Turn) []conversation.Step { return say("hello there") }}
					if out, err := conv.Run(ctx, p, answers); err != nil || out.By != conversation.ByContext {
						b.Errorf("outcome %+v, %v", out, err)
					}
					mu.Lock()
					defer mu.Unlock()
					late += p.late
					frames += p.frames.Load()
				})
			}
			for b.Loop() {
				time.Sleep(time.Second)
			}
			cancel()
			wait.Wait()
			b.ReportMetric(float64(late)/float64(frames), "late/frame")
		})
	}
}
