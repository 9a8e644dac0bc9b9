package session_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/internal/engine/enginetest"
	"github.com/callwright/callwright/internal/engine/session"
	"github.com/callwright/callwright/speech/pcm"
)

// mulaw is a protocol of mu-law at 8 kHz.
type mulaw struct{ wire }

func (mulaw) Audio(dst []byte, samples []int16) session.Message {
	return session.Message{Data: pcm.AppendMuLaw(dst, samples)}
}

// BenchmarkStreams passes 40 ms of audio through 200 sessions over WebSockets in each iteration, and waits until the server has received all
// of it. "cores" is the share of a core that 200 calls would use in real time, including the server's share.
func BenchmarkStreams(b *testing.B) {
	const streams, part = 200, 40 * time.Millisecond
	received := make(chan struct{}, streams)
	server := enginetest.WebSocket(b, nil, func(_ *http.Request, conn *websocket.Conn) {
		discarded := make([]byte, 1<<10)
		for {
			_, m, err := conn.Reader(context.Background()) // with another context, each message would cost the server allocations
			for err == nil {
				_, err = m.Read(discarded)
			}
			if !errors.Is(err, io.EOF) || m == nil {
				return
			}
			received <- struct{}{}
		}
	})
	var all [streams]conversation.Stream
	for i := range all {
		s, err := session.Open(b.Context(), session.Endpoint{URL: server.URL, Client: server.Client()}, mulaw{}, conversation.Hearing{Rate: 8000}, session.Config{Rate: 8000})
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		all[i] = s
	}
	frame := make([]int16, pcm.Samples(part/2, 8000))
	b.ReportAllocs()
	for b.Loop() {
		for range 2 {
			for _, s := range all {
				if err := s.Write(frame); err != nil {
					b.Fatal(err)
				}
			}
		}
		for range streams {
			<-received
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/part.Seconds(), "cores")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(2*streams), "ns/frame")
}
