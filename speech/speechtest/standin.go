package speechtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech/tts"
)

// Engine is a fake tts.Engine for tests. Its voices hum a tone: the voice and Prosody.Pitch determine the pitch, the text determines the
// melody, and the text and Prosody.Tempo determine the length. Each word has a mark. The same request always yields the same audio. Texts that differ in more
// than white space usually yield different audio. The zero Engine is ready for use. A test must set the fields before the first request.
type Engine struct {
	Name    string // default "tone"
	Version string // default "1"

	// OnRequest is called with every valid request; Synthesize returns its error. It may be nil.
	OnRequest func(r tts.Request) error
	// Broken is the error that Read returns instead of the second half of the audio. If nil, the audio is complete.
	Broken error
	// Hangs makes Read block instead of returning the second half of the audio, until the context ends or the stream is closed.
	Hangs bool
	// Mute omits the audio: the stream ends immediately.
	Mute bool
	// Endless repeats the audio without end.
	Endless bool
	// Overstates makes Read return a number greater than the length of its buffer, which violates the contract of tts.Stream.
	Overstates bool
	// Delay is the time before the first sample of a stream.
	Delay time.Duration
	// Mark, if not nil, returns the marks of a request instead of the true marks.
	Mark func(r tts.Request, marks []tts.Mark) []tts.Mark
	// Gate, if not nil, blocks the first Read of each stream until the Read receives a value from Gate, or Gate is closed.
	Gate <-chan struct{}

	mu         sync.Mutex
	requests   []tts.Request
	open, most int
}

var _ tts.Engine = (*Engine)(nil)

// hum is a voice of an Engine.
type hum struct {
	tts.Voice

	hertz float64
}

// hums are the voices of an Engine. The first is the default.
var hums = []hum{
	{tts.Voice{Name: "ada", Description: "Female, American English", Language: "en-US"}, 210},
	{tts.Voice{Name: "ben", Description: "Male, American English", Language: "en-US"}, 120},
	{tts.Voice{Name: "cleo", Description: "Female, German", Language: "de-DE"}, 180},
}

// These constants are the parameters of an Engine's audio.
const (
	humPerRune  = 0.05 // seconds per character
	humLevel    = 8000 // approximate peak amplitude
	humSyllable = 4.0  // cycles of the level per second, at a tempo of 1
)

// Describe returns three voices: ada and ben, which speak English, and cleo, which speaks German. It declares that the engine applies both
// factors of a Prosody.
func (e *Engine) Describe() tts.Description {
	d := tts.Description{
		Name: cmp.Or(e.Name, "tone"), Version: cmp.Or(e.Version, "1"), Default: hums[0].Name, Pitch: true, Tempo: true,
	}
	for _, h := range hums {
		d.Voices = append(d.Voices, h.Voice)
	}
	return d
}

// CheckVoice returns CodeBadRequest for an unknown voice, for a language other than the voice's, and for a language that no voice speaks.
// It ignores the region of a language.
func (e *Engine) CheckVoice(voice, language string) error {
	_, err := e.find(voice, language)
	return err
}

func (e *Engine) find(voice, language string) (hum, error) {
	for _, h := range hums {
		if voice != "" && voice != h.Name {
			continue
		}
		if language == "" || broad(language) == broad(h.Language) {
			return h, nil
		}
		if voice != "" {
			return hum{}, callwright.Invalid("language", "the voice %q speaks %s, not %q", voice, h.Language, language)
		}
	}
	if voice != "" {
		return hum{}, callwright.Invalid("voice", "unknown voice %q; use one of %s", voice, strings.Join(e.Describe().Names(), ", "))
	}
	return hum{}, callwright.Invalid("language", "there is no voice for %q", language)
}

// broad returns the language of a BCP 47 tag without its region.
func broad(language string) string {
	language, _, _ = strings.Cut(strings.ToLower(language), "-")
	return language
}

// Synthesize returns a stream of the hummed text, and records the request.
func (e *Engine) Synthesize(ctx context.Context, r tts.Request) (tts.Stream, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	h, err := e.find(r.Voice, r.Language)
	if err != nil {
		return nil, err
	}
	if e.OnRequest != nil {
		if err := e.OnRequest(r); err != nil {
			return nil, err
		}
	}
	s := &humming{engine: e}
	s.ctx, s.cancel = context.WithCancel(ctx)
	if !e.Mute {
		s.audio, s.marks = h.audio(r), marks(r)
	}
	if e.Mark != nil {
		s.marks = e.Mark(r, s.marks)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.requests = append(e.requests, r)
	e.open++
	e.most = max(e.most, e.open)
	return s, nil
}

// humSamples returns the number of samples of each character.
func humSamples(r tts.Request) int {
	_, tempo := r.Prosody.Factors()
	return int(humPerRune / tempo * float64(r.Rate))
}

// marks returns the marks of the words of a hummed text, without their punctuation.
func marks(r tts.Request) (all []tts.Mark) {
	each, hummed, within := humSamples(r), 0, false
	blank := true // whether the next white space is not hummed
	for i, char := range []rune(r.Text) {
		switch {
		case unicode.IsLetter(char) || unicode.IsDigit(char):
			if !within {
				all = append(all, tts.Mark{From: i, Start: hummed * each})
			}
			within, blank = true, false
			last := &all[len(all)-1]
			last.To, last.End = i+1, (hummed+1)*each
			hummed++
		case !unicode.IsSpace(char):
			within, blank = false, false
			hummed++
		default:
			if !blank {
				hummed++
			}
			within, blank = false, true
		}
	}
	return all
}

// audio returns the hummed text: each character has its own pitch, and the level rises and falls with the syllables.
func (h hum) audio(r tts.Request) []int16 {
	text := strings.Join(strings.Fields(r.Text), " ")
	pitch, tempo := r.Prosody.Factors()
	each := humSamples(r)
	audio := make([]int16, 0, each*utf8.RuneCountInString(text))
	phase := 0.0
	for _, char := range text {
		step := h.hertz * pitch * (0.95 + 0.1*float64(uint32(char)*2654435761>>20&0xfff)/0xfff) / float64(r.Rate)
		for range each {
			_, phase = math.Modf(phase + step)
			syllable := 0.55 - 0.45*math.Cos(2*math.Pi*humSyllable*tempo*float64(len(audio))/float64(r.Rate))
			audio = append(audio, int16(humLevel*syllable*cycle[int(phase*float64(len(cycle)))%len(cycle)]))
		}
	}
	return audio
}

// cycle is one period of the tone, with three overtones.
var cycle = func() (c [1024]float64) {
	for i := range c {
		x := 2 * math.Pi * float64(i) / float64(len(c))
		c[i] = (math.Sin(x) + math.Sin(2*x)/2 + math.Sin(3*x)/3 + math.Sin(4*x)/4) / 2
	}
	return c
}()

// Requests returns the requests for which Synthesize returned a stream, in order.
func (e *Engine) Requests() []tts.Request {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.requests)
}

// Open returns the number of streams that are neither closed nor finished, and the maximum of this number so far.
func (e *Engine) Open() (now, most int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.open, e.most
}

// humming is the stream that Engine.Synthesize returns.
type humming struct {
	engine *Engine
	ctx    context.Context //nolint:containedctx // a stream ends with the context of its request
	cancel context.CancelFunc
	audio  []int16
	marks  []tts.Mark
	at     int
	begun  bool
	ended  sync.Once
}

var errClosed = errors.New("speechtest: the stream is closed")

func (s *humming) Read(p []int16) (int, error) {
	if err := s.begin(); err != nil {
		return 0, err
	}
	end := len(s.audio)
	if s.engine.Broken != nil || s.engine.Hangs {
		end /= 2
	}
	if s.at >= end && s.engine.Endless && end > 0 {
		s.at = 0
	}
	if s.at < end {
		n := copy(p, s.audio[s.at:end])
		s.at += n
		if s.engine.Overstates {
			n += len(p)
		}
		return n, nil
	}
	switch {
	case s.engine.Broken != nil:
		s.end()
		return 0, s.engine.Broken
	case s.engine.Hangs:
		<-s.ctx.Done()
		return 0, s.err()
	}
	s.end()
	return 0, io.EOF
}

// begin waits, before the first sample only, for the delay and the gate. It returns an error if the context has ended or the stream is
// closed before the last sample.
func (s *humming) begin() error {
	if s.at >= len(s.audio) && s.begun && !s.engine.Endless && !s.engine.Hangs {
		return nil // the audio is complete, even if the context has ended
	}
	if s.ctx.Err() == nil && !s.begun {
		delay := time.NewTimer(s.engine.Delay)
		defer delay.Stop()
		select {
		case <-delay.C:
		case <-s.ctx.Done():
		}
		if s.engine.Gate != nil {
			select {
			case <-s.engine.Gate:
			case <-s.ctx.Done():
			}
		}
		s.begun = true
	}
	return s.err()
}

func (s *humming) err() error {
	if err := s.ctx.Err(); err != nil {
		s.end()
		return fmt.Errorf("%w: %w", errClosed, err)
	}
	return nil
}

func (s *humming) end() {
	s.ended.Do(func() {
		s.engine.mu.Lock()
		defer s.engine.mu.Unlock()
		s.engine.open--
	})
}

// Marks implements tts.Marker. It returns all marks, also before the first Read.
func (s *humming) Marks() []tts.Mark { return s.marks }

// Close ends the stream and releases a blocked Read.
func (s *humming) Close() error {
	s.cancel()
	s.end()
	return nil
}
