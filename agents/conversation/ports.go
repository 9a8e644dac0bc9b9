package conversation

import (
	"context"
	"iter"
	"time"
	"unicode/utf8"

	"github.com/callwright/callwright"
)

// Synthesizer makes speech.
type Synthesizer interface {
	// Synthesize starts to speak a text and returns at once or as soon as the engine has taken the request; the audio
	// follows in the stream. Ending ctx ends the stream at once and frees what it holds, a process included. What
	// Speech.Check refuses is refused; an unknown voice is a CodeBadRequest with the field "voice"; a missing engine is
	// CodeUnavailable and says what to install. Several streams may run side by side.
	Synthesize(ctx context.Context, s Speech) (AudioStream, error)
}

// Speech is what to say and how.
type Speech struct {
	Text     string // plain text, at most MaxSpeech bytes
	Voice    string // a voice's name; empty: the synthesizer's default
	Language string // BCP 47, such as "en-US"; empty: the voice's own
	Rate     int    // samples a second that the stream must have; the adapter converts
}

// MaxSpeech bounds the text of one Speech, in bytes.
const MaxSpeech = 5000

// Check refuses a speech that no engine could speak: text over MaxSpeech or not UTF-8, a rate that is not above 0. The
// error is CodeBadRequest with the field.
func (s Speech) Check() error {
	switch {
	case len(s.Text) > MaxSpeech:
		return callwright.Invalid("text", "the text has %d bytes, more than %d", len(s.Text), MaxSpeech)
	case !utf8.ValidString(s.Text):
		return callwright.Invalid("text", "the text is not valid UTF-8")
	case s.Rate <= 0:
		return callwright.Invalid("rate", "the sample rate %d is not above 0", s.Rate)
	}
	return nil
}

// AudioStream is 16-bit mono audio as it is made. One goroutine reads it.
type AudioStream interface {
	// Read fills p with the next samples and says how many; io.EOF after the last. It blocks until there are any.
	Read(p []int16) (int, error)
	// Close ends the stream and frees what it holds. It may be called twice, and while Read blocks.
	Close() error
}

// Recognizer understands speech, one utterance at a time.
type Recognizer interface {
	// Listen starts an utterance. Ending ctx abandons it at once and frees what it holds. A missing engine is
	// CodeUnavailable and says what to install. Several utterances may run side by side.
	Listen(ctx context.Context, h Hearing) (Utterance, error)
}

// Hearing is how to listen.
type Hearing struct {
	Rate     int      // samples a second of the audio; the adapter converts
	Language string   // BCP 47; empty: the recognizer's default
	Phrases  []string // what the caller is expected to say, if that is known: a hint that need not come true
}

// VoiceChecker is what a Synthesizer may have beside: it knows before a call what it can speak.
type VoiceChecker interface {
	// CheckVoice gives the error that Synthesize would give for the voice and the language; nil if it would speak.
	CheckVoice(voice, language string) error
}

// LanguageChecker is what a Recognizer may have beside: it knows before a call what it understands.
type LanguageChecker interface {
	// CheckLanguage gives the error that Listen would give for the language; nil if it would listen.
	CheckLanguage(language string) error
}

// Utterance is one stretch of a caller's speech. One goroutine uses it.
type Utterance interface {
	// Write adds audio. It never waits for the recognition, and keeps no reference to the samples.
	Write(samples []int16) error
	// Finish says that no more audio comes and waits for the text, which is empty when no words were understood.
	Finish(ctx context.Context) (Recognized, error)
	// Close abandons the utterance. It may be called twice and after Finish.
	Close() error
}

// Recognized is what a caller said.
type Recognized struct {
	Text       string
	Confidence float64 // 0 to 1; 0 when the recognizer doesn't know
}

// Brain decides what to say. The same brain answers a call, a chat and a test.
type Brain interface {
	// Respond streams what to do about one turn, in order: sentences as soon as they are whole, and effects. The
	// stream ends early when ctx ends or the consumer stops, which is what a barge-in does; the next turn then says
	// what was heard. After an error the brain can be asked again. One goroutine uses a brain.
	Respond(ctx context.Context, t Turn) iter.Seq2[Step, error]
}

// TurnKind says what happened.
type TurnKind string

// The kinds of turns.
const (
	TurnStart   TurnKind = "start"   // the agent speaks first: the call was answered, or a transfer has failed
	TurnSpeech  TurnKind = "speech"  // the caller said Text
	TurnDigits  TurnKind = "digits"  // the caller pressed Text
	TurnSilence TurnKind = "silence" // the caller said nothing for a while
)

// Turn is what the brain answers.
type Turn struct {
	Kind TurnKind
	Text string // the words or the digits
	// Interrupted says that the caller broke into the agent's last turn; Heard is how much of it was played until then.
	Interrupted bool
	Heard       string
}

// Step is one thing that a brain does: Say, Expect, Press, Transfer or End.
type Step interface{ step() }

// Say speaks one sentence, or as much as makes sense to synthesize at once.
type Say struct{ Text string }

// Expect tells the recognizer what the caller may say next.
type Expect struct{ Phrases []string }

// Press sends DTMF (RFC 4733): 0-9, A-D, *, #, and w for a pause of half a second.
type Press struct{ Digits string }

// Transfer hands the call to another number or SIP URI, once everything before it is spoken.
type Transfer struct{ To string }

// End ends the conversation, once everything before it is spoken.
type End struct{ Reason string }

func (Say) step()      {}
func (Expect) step()   {}
func (Press) step()    {}
func (Transfer) step() {}
func (End) step()      {}

// Audio is the call as the conversation sees it; agents/call.Leg has these methods.
type Audio interface {
	// Rate is the samples a second of all audio of this call: 8000, 16000 or 48000.
	Rate() int
	// Read waits for the next 20 ms of the call, both sides of it. The frame's slices are good until the next Read.
	// io.EOF ends the call. One goroutine reads.
	Read(ctx context.Context) (Frame, error)
	// Write queues speech to be played, and waits while more than a fifth of a second is queued. Any length will do.
	// It ends with ctx or the call. One goroutine writes.
	Write(ctx context.Context, samples []int16) error
	// Queued says how many samples wait to be played, and Flush drops them and says how many those were: the
	// playout falls silent with the next packet. Both may be called from any goroutine.
	Queued() int
	Flush() int
	// SendDTMF plays digits (RFC 4733) after what is queued, and waits until they are sent.
	SendDTMF(ctx context.Context, digits string) error
}

// Frame is 20 ms of a call.
type Frame struct {
	In      []int16 // what the peer sent, concealed where packets are missing; never empty
	Out     []int16 // what was played to the peer in the same 20 ms; nil: silence
	Digit   byte    // a DTMF digit whose first packet came in these 20 ms; 0: none
	Held    bool    // the peer has us on hold: In is silence, Out is not heard
	Elapsed time.Duration
}
