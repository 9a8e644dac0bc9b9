package speechstore_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/speechstore"
	"github.com/callwright/callwright/adapters/filestore"
	"github.com/callwright/callwright/adapters/flite"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/speech/speechtest"
	"github.com/callwright/callwright/speech/tts"
)

const sentence = "Your appointment is on Tuesday at nine."

// server returns a service with flite, SQLite and files, like the reference server, but without durable work.
func server(b *testing.B) *speech.Service {
	b.Helper()
	ring, err := callwright.NewKeyring("1", map[string][]byte{"1": make([]byte, 32)})
	if err != nil {
		b.Fatal(err)
	}
	db, err := bunstore.Open(b.Context(), "sqlite:"+filepath.Join(b.TempDir(), "speech.db"), bunstore.Config{Keyring: ring})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	files, err := filestore.NewBlobs(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = files.Close() })
	engine, err := flite.New(flite.Config{})
	if err != nil {
		b.Fatal(err)
	}
	s, err := speech.New(speech.Config{
		Engine: engine, Voices: speechstore.Voices{DB: db}, Samples: speechstore.Samples{DB: db}, Blobs: files, Atomic: db, Work: idle{},
		Key: callwright.Secret(strings.Repeat("k", 32)),
	})
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// idle is a callwright.Work that discards tasks.
type idle struct{ callwright.Work }

func (idle) Enqueue(context.Context, callwright.Task) error                    { return nil }
func (idle) Handle(callwright.Queue, string, callwright.Handler)               {}
func (idle) Every(callwright.Queue, string, time.Duration, callwright.Handler) {}

// BenchmarkFirstByte measures the time until the first byte of audio of a short sentence.
func BenchmarkFirstByte(b *testing.B) {
	s := server(b)
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		n++
		p, err := s.Stream(b.Context(), "a", speech.Request{Text: fmt.Sprint(sentence, n)})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := p.Read(make([]byte, 1)); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := p.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// BenchmarkSpeakers synthesizes short sentences concurrently, and measures the time per sentence.
func BenchmarkSpeakers(b *testing.B) {
	for _, speakers := range []int{1, 2, 10} {
		b.Run(fmt.Sprint(speakers), func(b *testing.B) {
			s := server(b)
			var mu sync.Mutex
			n := 0
			next := func() (int, bool) {
				mu.Lock()
				defer mu.Unlock()
				n++
				return n, n <= b.N
			}
			b.ReportAllocs()
			b.ResetTimer()
			var speaking sync.WaitGroup
			for range speakers {
				speaking.Go(func() {
					for n, more := next(); more; n, more = next() {
						if _, err := s.Speak(b.Context(), "a", speech.Request{Text: fmt.Sprint(sentence, n)}); err != nil {
							b.Error(err)
						}
					}
				})
			}
			speaking.Wait()
		})
	}
}

// BenchmarkRepeat synthesizes the same text repeatedly, as a sample and for a call.
func BenchmarkRepeat(b *testing.B) {
	b.Run("sample", func(b *testing.B) {
		s := server(b)
		say := func() {
			if _, err := s.Speak(b.Context(), "a", speech.Request{Text: sentence}); err != nil {
				b.Fatal(err)
			}
		}
		say()
		b.ReportAllocs()
		for b.Loop() {
			say()
		}
	})
	b.Run("call", func(b *testing.B) {
		speaker := server(b).Speaker("a")
		say := func() {
			if _, err := speechtest.Speak(b.Context(), speaker, tts.Request{Text: sentence, Rate: 8000}); err != nil {
				b.Fatal(err)
			}
		}
		say()
		b.ReportAllocs()
		for b.Loop() {
			say()
		}
	})
}
