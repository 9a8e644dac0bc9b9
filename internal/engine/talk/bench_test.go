package talk_test

import (
	"context"
	"testing"

	"github.com/callwright/callwright/internal/engine/session"
	"github.com/callwright/callwright/internal/engine/talk"
	"github.com/callwright/callwright/speech/tts"
)

// framed is a protocol whose messages are 20 ms of audio.
type framed struct {
	wire

	audio []int16
}

func (f framed) Receive(session.Message) (talk.Event, error) { return talk.Event{Audio: f.audio}, nil }

// frames is a connection that delivers a message for each token.
type frames chan struct{}

func (f frames) Read(ctx context.Context) (session.Message, error) {
	select {
	case <-f:
		return session.Message{}, nil
	case <-ctx.Done():
		return session.Message{}, ctx.Err()
	}
}
func (frames) Write(context.Context, session.Message) error { return nil }
func (frames) Close() error                                 { return nil }

// BenchmarkFrame measures the time from a message with 20 ms of audio to the samples in its stream. A piece has at most 10 minutes, so that
// the benchmark begins a new Talk for every 10,000 frames.
func BenchmarkFrame(b *testing.B) {
	const limit = 10_000
	b.ReportAllocs()
	samples := make([]int16, 160)
	var t *talk.Talk
	var stream tts.Stream
	connection := make(frames)
	for i := 0; b.Loop(); i++ {
		if i%limit == 0 {
			if t != nil {
				_ = t.Close()
			}
			t = talk.New(b.Context(), tts.Request{Rate: rate}, talk.Config{Rate: rate, Dial: func(context.Context) (session.Conn, talk.Protocol, error) {
				return connection, framed{audio: make([]int16, 160)}, nil
			}})
			stream = t.Answer(b.Context()).Say("Hello.")
		}
		connection <- struct{}{}
		for n := 0; n < len(samples); {
			m, err := stream.Read(samples)
			if n += m; err != nil {
				b.Fatal(err)
			}
		}
	}
	_ = t.Close()
}
