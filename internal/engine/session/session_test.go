package session_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/internal/engine/session"
	"github.com/callwright/callwright/speech/pcm"
)

const rate = 16000

// wire is the protocol of server: raw samples, "force" and "idle"; results are "partial TEXT", "segment TEXT" and "done TEXT".
type wire struct{}

func (wire) Audio(dst []byte, samples []int16) session.Message {
	return session.Message{Data: pcm.AppendBytes(dst, samples)}
}
func (wire) Force() []session.Message                    { return []session.Message{text("force")} }
func (wire) Idle() []session.Message                     { return []session.Message{text("idle")} }
func (wire) Tune(conversation.Hearing) []session.Message { return nil }

func (wire) Receive(m session.Message) ([]session.Event, error) {
	kind, words, _ := strings.Cut(string(m.Data), " ")
	switch kind {
	case "partial":
		return []session.Event{{Text: words}}, nil
	case "segment":
		return []session.Event{{Text: words, Segment: true}}, nil
	case "done":
		return []session.Event{{Text: words, Segment: true, Done: true}}, nil
	case "error":
		return nil, errors.New(words)
	default:
		return nil, nil
	}
}

func text(s string) session.Message { return session.Message{Text: true, Data: []byte(s)} }

// server is the engine's side of a connection.
type server struct {
	answer func(m session.Message, send func(string)) // called for each message

	out    chan session.Message
	closed chan struct{}
	once   sync.Once
}

func newServer(answer func(m session.Message, send func(string))) *server {
	return &server{answer: answer, out: make(chan session.Message, 10_000), closed: make(chan struct{})}
}

func (s *server) Read(ctx context.Context) (session.Message, error) {
	select {
	case m := <-s.out:
		return m, nil
	case <-s.closed:
		return session.Message{}, io.EOF
	case <-ctx.Done():
		return session.Message{}, ctx.Err()
	}
}

func (s *server) Write(_ context.Context, m session.Message) error {
	s.answer(m, func(reply string) { s.out <- text(reply) })
	return nil
}

func (s *server) Close() error {
	s.once.Do(func() { close(s.closed) })
	return nil
}

// engine is a Streamer whose server understands agentstest.Voice.
type engine struct{}

func (engine) Listen(ctx context.Context, h conversation.Hearing) (conversation.Utterance, error) {
	return session.Listen(ctx, h, engine{})
}

func (engine) Open(ctx context.Context, h conversation.Hearing) (conversation.Stream, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var heard []int16
	return session.New(ctx, newServer(func(m session.Message, send func(string)) {
		if m.Text {
			send("done " + agentstest.TextOf(heard))
			heard = nil
			return
		}
		heard = append(heard, pcm.AppendSamples(nil, m.Data)...)
		send("partial " + agentstest.TextOf(heard))
	}), wire{}, h.Rate, session.Config{Rate: rate})
}

func TestSession(t *testing.T) { //nolint:paralleltest // the suite looks for leaked goroutines
	h := agentstest.RecognizerHarness{
		New:   func(*testing.T) conversation.Recognizer { return engine{} },
		Speak: func(_ *testing.T, text string) ([]int16, int) { return agentstest.Voice(text, rate), rate },
	}
	t.Run("Streamer", func(t *testing.T) {
		agentstest.RunStreamer(t, func(*testing.T) conversation.Streamer { return engine{} }, h)
	})
	t.Run("Recognizer", func(t *testing.T) { agentstest.RunRecognizer(t, h) })
}

// start starts a session with a server.
func start(t *testing.T, cfg session.Config, answer func(m session.Message, send func(string))) *session.Session {
	t.Helper()
	cfg.Rate = rate
	s, err := session.New(t.Context(), newServer(answer), wire{}, rate, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// next returns the next final text.
func next(t *testing.T, s *session.Session) (string, error) {
	t.Helper()
	for {
		h, err := s.Next(t.Context())
		if err != nil || h.Final {
			return h.Text, err
		}
	}
}

// TestSegments checks that the segments of an engine are joined to the text of an utterance, and that results after the end of one utterance
// belong to the next one.
func TestSegments(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := start(t, session.Config{}, func(m session.Message, send func(string)) {
			if string(m.Data) == "force" {
				for _, reply := range []string{"segment One", "partial two", "nonsense", "segment two", "partial th", "done three"} {
					send(reply)
				}
			}
		})
		defer func() { _ = s.Close() }()
		for range 2 {
			_ = s.Write(make([]int16, 800))
			if err := s.Force(); err != nil {
				t.Fatal(err)
			}
			if got, err := next(t, s); got != "One two three" || err != nil {
				t.Errorf("%q, %v", got, err)
			}
		}
	})
}

// TestLongUtterance checks that the text of an utterance is bounded, whether it arrives in segments or as a partial result, and that each
// utterance has a bound of its own.
func TestLongUtterance(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 8000) // 40,000 bytes
	for name, replies := range map[string][]string{"segments": {"segment " + long, "segment " + long}, "a partial": {"segment " + long, "partial " + long}} {
		synctest.Test(t, func(t *testing.T) {
			forced := 0
			s := start(t, session.Config{}, func(m session.Message, send func(string)) {
				if string(m.Data) != "force" {
					return
				}
				if forced++; forced <= 2 {
					send("done " + long)
					return
				}
				for _, reply := range replies {
					send(reply)
				}
			})
			defer func() { _ = s.Close() }()
			for range 3 {
				_ = s.Write(make([]int16, 800))
				if err := s.Force(); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				if got, err := next(t, s); got != strings.TrimSpace(long) || err != nil {
					t.Errorf("%s: %d bytes, %v", name, len(got), err)
				}
			}
			if got, err := next(t, s); callwright.CodeOf(err) != callwright.CodeUnavailable || !strings.Contains(err.Error(), "bytes of text") {
				t.Errorf("%s: %d bytes, %v; want an error", name, len(got), err)
			}
		})
	}
}

// TestSettle checks that an utterance ends although the engine does not answer, if the protocol permits that, and otherwise ends the session.
func TestSettle(t *testing.T) {
	t.Parallel()
	for _, settle := range []time.Duration{0, 300 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			s := start(t, session.Config{Settle: settle, Patience: 5 * time.Second}, func(m session.Message, send func(string)) {
				if !m.Text {
					send("partial Hello")
				}
			})
			defer func() { _ = s.Close() }()
			begun := time.Now()
			for range 2 {
				_ = s.Write(make([]int16, 800))
				_ = s.Force()
			}
			got, err := next(t, s)
			if settle > 0 && (got != "Hello" || err != nil || time.Since(begun) != settle) {
				t.Errorf("%q after %v, %v", got, time.Since(begun), err)
			}
			if settle == 0 && (err == nil || time.Since(begun) != 5*time.Second) {
				t.Errorf("%q after %v, %v", got, time.Since(begun), err)
			}
		})
	}
}

// TestSerial checks that the audio of an utterance waits for the end of the utterance before, if the protocol requires that.
func TestSerial(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		received := 0
		s := start(t, session.Config{Serial: true, Settle: time.Second}, func(m session.Message, _ func(string)) {
			if !m.Text {
				received += len(m.Data) / 2
			}
		})
		defer func() { _ = s.Close() }()
		for range 2 {
			_ = s.Write(make([]int16, 640))
			_ = s.Force()
		}
		synctest.Wait()
		if received != 640 {
			t.Errorf("the engine has %d samples before the end of the first utterance", received)
		}
		for i := range 2 {
			if _, err := next(t, s); err != nil {
				t.Fatal(err)
			}
			if synctest.Wait(); received != 1280 {
				t.Errorf("the engine has %d samples after the end of utterance %d", received, i)
			}
		}
	})
}

// over is the protocol of an engine whose partial texts mean that the caller has finished.
type over struct{ wire }

func (o over) Receive(m session.Message) ([]session.Event, error) {
	events, err := o.wire.Receive(m)
	for i := range events {
		events[i].Segment, events[i].Over = true, true
	}
	return events, err
}

// TestOver checks that an utterance ends soon after the end of a turn by the engine's judgment.
func TestOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, err := session.New(t.Context(), newServer(func(m session.Message, send func(string)) {
			if !m.Text {
				send("partial Hello")
			}
		}), over{}, rate, session.Config{Rate: rate, Settle: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		_ = s.Write(make([]int16, 640))
		synctest.Wait()
		begun := time.Now()
		_ = s.Force()
		if got, err := next(t, s); got != "Hello" || err != nil || time.Since(begun) != 200*time.Millisecond {
			t.Errorf("%q after %v, %v", got, time.Since(begun), err)
		}
	})
}

// TestLeast checks that the last message of an utterance is not shorter than the engine accepts.
func TestLeast(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var sizes []int
		s := start(t, session.Config{Piece: 40 * time.Millisecond, Least: 30 * time.Millisecond, Settle: time.Second}, func(m session.Message, _ func(string)) {
			if !m.Text {
				sizes = append(sizes, len(m.Data)/2)
			}
		})
		defer func() { _ = s.Close() }()
		_ = s.Write(make([]int16, 700))
		_ = s.Force()
		synctest.Wait()
		if !slices.Equal(sizes, []int{640, 480}) {
			t.Errorf("the messages have %d samples", sizes)
		}
	})
}

// TestReason checks that a session whose connection takes no messages ends with the reason that the engine has sent.
func TestReason(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &refusing{newServer(nil)}
		s, err := session.New(t.Context(), c, wire{}, rate, session.Config{Rate: rate})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		_ = s.Write(make([]int16, 640))
		time.Sleep(100 * time.Millisecond)
		c.out <- text("error the reason")
		if _, err := next(t, s); err == nil || err.Error() != "the reason" {
			t.Errorf("error %v", err)
		}
	})
}

// refusing is a connection that takes no messages.
type refusing struct{ *server }

func (r *refusing) Write(context.Context, session.Message) error { return io.ErrClosedPipe }

// TestIdle checks that a session without audio is kept alive.
func TestIdle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		idle := 0
		s := start(t, session.Config{Idle: 4 * time.Second}, func(m session.Message, _ func(string)) {
			if string(m.Data) == "idle" {
				idle++
			}
		})
		time.Sleep(time.Minute + time.Second)
		_ = s.Close()
		if idle != 15 {
			t.Errorf("%d messages in a minute", idle)
		}
	})
}

// TestFaults checks that a session ends with the error of its engine or connection.
func TestFaults(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := start(t, session.Config{}, func(_ session.Message, send func(string)) { send("error no more") })
		_ = s.Write(make([]int16, 800))
		if _, err := next(t, s); err == nil || err.Error() != "no more" {
			t.Errorf("error %v", err)
		}
		if s.Write(nil) == nil || s.Force() == nil || s.Tune(conversation.Hearing{}) == nil {
			t.Error("an ended session takes audio")
		}
		if err := errors.Join(s.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	})
}
