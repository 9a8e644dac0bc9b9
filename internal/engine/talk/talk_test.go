package talk_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/internal/engine/session"
	"github.com/callwright/callwright/internal/engine/talk"
	"github.com/callwright/callwright/speech/tts"
)

const rate = 8000

// wire is the protocol of server: "say N TEXT", "end N" and "cancel N"; replies are "audio N BYTES", "word N TEXT START END" in milliseconds,
// "piece N", "done N" and "broken".
type wire struct{}

func (wire) Say(number int, _ bool, text string) []session.Message {
	return []session.Message{message("say " + strconv.Itoa(number) + " " + text)}
}
func (wire) End(number int) []session.Message {
	return []session.Message{message("end " + strconv.Itoa(number))}
}
func (wire) Cancel(number int) []session.Message {
	return []session.Message{message("cancel " + strconv.Itoa(number))}
}

func (wire) Receive(m session.Message) (talk.Event, error) {
	part := strings.SplitN(string(m.Data), " ", 3)
	e := talk.Event{}
	if len(part) > 1 {
		e.Context, _ = strconv.Atoi(part[1])
	}
	switch part[0] {
	case "audio":
		for _, c := range []byte(part[2]) {
			e.Audio = append(e.Audio, int16(c))
		}
	case "word":
		word := strings.Fields(part[2])
		start, _ := strconv.Atoi(word[1])
		end, _ := strconv.Atoi(word[2])
		e.Words = []talk.Word{{Text: word[0], Start: time.Duration(start) * time.Millisecond, End: time.Duration(end) * time.Millisecond}}
	case "piece":
		e.PieceDone = true
	case "done":
		e.Done = true
	case "broken":
		return e, errors.New("broken")
	}
	return e, nil
}

func message(s string) session.Message { return session.Message{Text: true, Data: []byte(s)} }

// server is the service's side of a connection. handle is called with each message.
type server struct {
	handle func(s *server, m string)
	out    chan string
	closed chan struct{}
	once   sync.Once
}

func (s *server) Read(ctx context.Context) (session.Message, error) {
	select {
	case m := <-s.out:
		return message(m), nil
	case <-s.closed:
		return session.Message{}, io.EOF
	case <-ctx.Done():
		return session.Message{}, ctx.Err()
	}
}

func (s *server) Write(_ context.Context, m session.Message) error {
	s.handle(s, string(m.Data))
	return nil
}

func (s *server) Close() error {
	s.once.Do(func() { close(s.closed) })
	return nil
}

// open returns a Talk whose connections are handled by the given functions, the last one by all further connections, and its log.
func open(t *testing.T, cfg talk.Config, handlers ...func(s *server, m string)) (*talk.Talk, *bytes.Buffer) {
	t.Helper()
	dialed, log := 0, &bytes.Buffer{}
	cfg.Rate, cfg.Runtime.Logger = rate, slog.New(slog.NewTextHandler(log, nil))
	cfg.Dial = func(context.Context) (session.Conn, talk.Protocol, error) {
		handle := handlers[min(dialed, len(handlers)-1)]
		dialed++
		if handle == nil {
			return nil, nil, errors.New("no connection")
		}
		return &server{handle: handle, out: make(chan string, 1000), closed: make(chan struct{})}, wire{}, nil
	}
	return talk.New(t.Context(), tts.Request{Rate: rate}, cfg), log
}

// speaks replies to a piece with its text as audio.
func speaks(s *server, m string) {
	part := strings.SplitN(m, " ", 3)
	switch part[0] {
	case "say":
		s.out <- "audio " + part[1] + " " + part[2]
		s.out <- "piece " + part[1]
	case "end":
		s.out <- "done " + part[1]
	}
}

// half replies to a piece with the first characters of its text, and then closes the connection.
func half(n int) func(s *server, m string) {
	return func(s *server, m string) {
		if part := strings.SplitN(m, " ", 3); part[0] == "say" {
			s.out <- "audio " + part[1] + " " + part[2][:n]
			s.out <- "broken"
		}
	}
}

// silent does not reply.
func silent(*server, string) {}

// heard returns the text of a stream.
func heard(stream tts.Stream) (string, error) {
	defer func() { _ = stream.Close() }()
	var text strings.Builder
	samples := make([]int16, 7)
	for {
		n, err := stream.Read(samples)
		for _, s := range samples[:n] {
			text.WriteByte(byte(s))
		}
		if err != nil {
			return text.String(), err
		}
	}
}

func wantHeard(t *testing.T, want string, stream tts.Stream) {
	t.Helper()
	if got, err := heard(stream); got != want || !errors.Is(err, io.EOF) {
		t.Errorf("heard %q, %v; want %q", got, err, want)
	}
}

// TestLostConnections checks that each piece is heard exactly once although connections are lost in the middle of a piece, are silent, or
// cannot be opened.
func TestLostConnections(t *testing.T) {
	t.Parallel()
	for name, handlers := range map[string][]func(*server, string){
		"once": {half(5), speaks}, "twice, with progress": {half(3), half(7), speaks}, "silent": {silent, speaks},
		"not opened": {nil, speaks}, "silent in the middle": {func(s *server, m string) {
			if part := strings.SplitN(m, " ", 3); part[0] == "say" && strings.HasPrefix(part[2], "how") {
				s.out <- "audio " + part[1] + " " + part[2][:4]
			}
		}, speaks},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				talk, log := open(t, talk.Config{}, handlers...)
				a := talk.Answer(t.Context())
				one, two := a.Say("how are you today"), a.Say("and what can I do")
				a.End()
				wantHeard(t, "how are you today", one)
				wantHeard(t, "and what can I do", two)
				if !strings.Contains(log.String(), "tried again") || time.Since(began) > 6*time.Second {
					t.Errorf("after %v: %s", time.Since(began), log)
				}
				_ = talk.Close()
			})
		})
	}
}

// TestLostWithoutProgress checks that an answer ends with an error after two lost connections without new audio, and that the next answer
// is spoken.
func TestLostWithoutProgress(t *testing.T) {
	t.Parallel()
	for name, faulty := range map[string]func(*server, string){"broken": half(0), "silent": silent, "not opened": nil} {
		synctest.Test(t, func(t *testing.T) {
			talk, _ := open(t, talk.Config{}, faulty, faulty, speaks)
			a := talk.Answer(t.Context())
			if got, err := heard(a.Say("hello there")); got != "" || callwright.CodeOf(err) != callwright.CodeUnavailable {
				t.Errorf("%s: %q, %v", name, got, err)
			}
			wantHeard(t, "a later piece", a.Say("a later piece"))
			a.End()
			next := talk.Answer(t.Context())
			wantHeard(t, "the next answer", next.Say("the next answer"))
			next.End()
			_ = talk.Close()
		})
	}
}

// TestShorterAgain checks that a piece ends if the audio of the second connection is shorter than that of the first one.
func TestShorterAgain(t *testing.T) {
	t.Parallel()
	talk, _ := open(t, talk.Config{}, half(9), func(s *server, m string) {
		if part := strings.SplitN(m, " ", 3); part[0] == "say" {
			s.out <- "audio " + part[1] + " abc"
			s.out <- "piece " + part[1]
		}
	})
	a := talk.Answer(t.Context())
	wantHeard(t, "how are y", a.Say("how are you"))
	a.End()
	_ = talk.Close()
}

// TestCanceledContext checks that audio for a canceled context is discarded, and that the service is told.
func TestCanceledContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var canceled []string
		talk, _ := open(t, talk.Config{}, func(s *server, m string) {
			if number, ok := strings.CutPrefix(m, "cancel "); ok {
				canceled = append(canceled, number)
				s.out <- "audio " + number + " late"
				s.out <- "piece " + number
				s.out <- "done " + number
			} else if !strings.HasPrefix(m, "say 1") {
				speaks(s, m)
			}
		})
		ctx, cancel := context.WithCancel(t.Context())
		interrupted, other := talk.Answer(ctx), talk.Answer(t.Context())
		first := interrupted.Say("a long answer")
		synctest.Wait()
		cancel()
		if got, err := heard(first); got != "" || !errors.Is(err, context.Canceled) {
			t.Errorf("%q, %v", got, err)
		}
		synctest.Wait()
		wantHeard(t, "something else", other.Say("something else"))
		other.End()
		if len(canceled) != 1 || canceled[0] != "1" {
			t.Errorf("canceled %q", canceled)
		}
		_ = talk.Close()
	})
}

// TestEndedByService checks that a piece is spoken in another context if the service has ended the context without speaking it.
func TestEndedByService(t *testing.T) {
	t.Parallel()
	talk, _ := open(t, talk.Config{}, func(s *server, m string) {
		if strings.HasPrefix(m, "say 1 second") {
			s.out <- "done 1"
			return
		}
		speaks(s, m)
	})
	a := talk.Answer(t.Context())
	wantHeard(t, "first", a.Say("first"))
	wantHeard(t, "second", a.Say("second"))
	a.End()
	_ = talk.Close()
}

// TestEndedWithoutAudio checks that an answer ends with an error if the service ends two contexts without new audio, or one after a
// lost connection, and that the next answer is spoken.
func TestEndedWithoutAudio(t *testing.T) {
	t.Parallel()
	said := 0
	ends := func(s *server, m string) {
		if part := strings.SplitN(m, " ", 3); part[0] == "say" {
			if said++; said <= 100 {
				s.out <- "done " + part[1]
			}
		}
	}
	for name, handlers := range map[string][]func(*server, string){"twice": {ends, speaks}, "after a lost connection": {half(0), ends, speaks}} {
		said = 0
		synctest.Test(t, func(t *testing.T) {
			talk, _ := open(t, talk.Config{}, handlers...)
			a := talk.Answer(t.Context())
			if got, err := heard(a.Say("hello there")); got != "" || callwright.CodeOf(err) != callwright.CodeUnavailable {
				t.Errorf("%s: %q, %v", name, got, err)
			}
			if want := 4 - len(handlers); said != want {
				t.Errorf("%s: %d contexts were ended, want %d", name, said, want)
			}
			wantHeard(t, "a later piece", a.Say("a later piece"))
			a.End()
			_ = talk.Close()
		})
	}
}

// TestMarks checks the marks of words that arrive before, within and after their audio, out of order, and for texts that the service has
// changed.
func TestMarks(t *testing.T) {
	t.Parallel()
	const text = "Well, it's 9:30 o'clock."
	replies := []string{
		"word 1 well 0 50", "audio 1 " + strings.Repeat("a", 400), "word 1 It's 50 100", "word 1 Well, 0 50", "audio 1 " + strings.Repeat("b", 400),
		"audio 1 " + strings.Repeat("c", 400), "word 1 nine 100 120", "word 1 o'clock. 130 190", "word 1 it's 10 20", "piece 1",
	}
	talk, _ := open(t, talk.Config{}, func(s *server, m string) {
		if strings.HasPrefix(m, "say ") {
			for _, r := range replies {
				s.out <- r
			}
		}
	})
	a := talk.Answer(t.Context())
	stream := a.Say(text)
	_, _ = heard(stream)
	want := []tts.Mark{{From: 0, To: 4, Start: 0, End: 400}, {From: 6, To: 10, Start: 400, End: 800}, {From: 16, To: 23, Start: 1040, End: 1200}}
	got := tts.MarksOf(stream)
	if len(got) != len(want) || len(tts.CleanMarks(text, got, 1200)) != len(want) {
		t.Fatalf("%+v, want %+v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%+v, want %+v", got[i], want[i])
		}
	}
	a.End()
	_ = talk.Close()
}

// TestFollow checks pieces that end with their last words, also if the service sends other punctuation or no words.
func TestFollow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		talk, _ := open(t, talk.Config{Follow: true}, func(s *server, m string) {
			part := strings.SplitN(m, " ", 3)
			switch {
			case part[0] != "say":
			case part[2] == "one two!":
				s.out <- "audio 1 onetwo"
				s.out <- "word 1 one 0 1"
				s.out <- "word 1 two 1 2"
			case part[2] == "three":
				s.out <- "audio 1 !"
				s.out <- "word 1 three 2 3"
			case part[2] == "four":
				s.out <- "audio 1 four"
			}
		})
		a := talk.Answer(t.Context())
		one, three, four := a.Say("one two!"), a.Say("three"), a.Say("four")
		wantHeard(t, "onetwo!", one)
		wantHeard(t, "", three)
		wantHeard(t, "four", four)
		a.End()
		_ = talk.Close()
	})
}
