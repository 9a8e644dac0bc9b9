package conversation

import (
	"context"
	"iter"
	"strings"
	"time"
)

// Recognizer turns speech into text, one utterance at a time. agentstest.RunRecognizer tests it.
type Recognizer interface {
	// Listen starts an utterance. When ctx ends, the utterance ends immediately and frees its resources. An unsupported rate, such
	// as 0, a negative or a huge one, is CodeBadRequest, before any allocation of that size. A missing engine is CodeUnavailable,
	// with a message that names the package to install. Utterances may run concurrently.
	Listen(ctx context.Context, h Hearing) (Utterance, error)
}

// Hearing configures the recognition of an utterance.
type Hearing struct {
	Rate     int      // sample rate of the audio, in Hz; the adapter converts
	Language string   // BCP 47; empty: the recognizer's default
	Phrases  []string // hints of the caller's possible words; may be wrong, and may be any text, including invalid UTF-8: see Utterance.Finish
}

// LanguageChecker is an optional interface of a Recognizer that checks languages before a call.
type LanguageChecker interface {
	// CheckLanguage returns the error of Listen for a language; nil if it is supported.
	CheckLanguage(language string) error
}

// Utterance is one stretch of a caller's speech. Only one goroutine may use it.
type Utterance interface {
	// Write adds audio, in pieces of any length. It does not wait for the recognition, and keeps no reference to samples.
	Write(samples []int16) error
	// Finish ends the audio and waits for the text, which is empty if no words were understood, for example in silence or without
	// samples. It does not return a phrase of Hearing in place of other words. It returns an error when its ctx or the ctx of
	// Listen ends, or has ended before.
	Finish(ctx context.Context) (Recognized, error)
	// Close abandons the utterance. It may be called twice, and after Finish, and then returns nil.
	Close() error
}

// Recognized is the recognized speech of a caller.
type Recognized struct {
	Text       string
	Confidence float64 // from 0 to 1; 0 if unknown
}

// Brain decides the agent's words and actions. The same brain answers calls, chats and tests. Only one goroutine may use it.
// agentstest.RunBrain tests it.
type Brain interface {
	// Respond streams the steps of the answer to a turn: sentences as soon as they are complete, and effects. It accepts turns of
	// every kind, and as the first turn TurnSpeech instead of TurnStart; either of these gets an answer with words. No step is nil,
	// and no step follows an End or a Transfer. The stream ends early when ctx ends or the consumer stops, as at an interruption;
	// the next turn then states the heard part. After an error Respond can be called again.
	Respond(ctx context.Context, t Turn) iter.Seq2[Step, error]
}

// TurnKind is the kind of a turn.
type TurnKind string

// The kinds of turns.
const (
	TurnStart   TurnKind = "start"   // the agent must speak: the call was answered, or a transfer has failed
	TurnSpeech  TurnKind = "speech"  // the caller said Text
	TurnDigits  TurnKind = "digits"  // the caller pressed Text
	TurnSilence TurnKind = "silence" // the caller was silent for a while
)

// Turn is a turn of the caller.
type Turn struct {
	Kind TurnKind
	Text string // the words, empty if none were understood; or the digits
	// Interrupted reports that the caller interrupted the agent's last answer. Heard is the part of it that was played.
	Interrupted bool
	Heard       string
}

// TextTurn returns the turn of a caller's written text: a blank text is silence.
func TextTurn(text string) Turn {
	if strings.TrimSpace(text) == "" {
		return Turn{Kind: TurnSilence}
	}
	return Turn{Kind: TurnSpeech, Text: text}
}

// Step is one action of a brain: Say, Expect, Press, Transfer or End.
type Step interface{ step() }

// Say speaks a sentence, or another piece that is synthesized as a whole: not blank, at most tts.MaxText bytes.
type Say struct{ Text string }

// Expect gives the recognizer hints of the caller's next words.
type Expect struct{ Phrases []string }

// Press sends DTMF (RFC 4733): 0-9, A-D, *, #, and w for a pause of half a second. Digits is not empty.
type Press struct {
	Digits string
	Show   bool // show the digits in the transcript; otherwise they are masked, because they may be a PIN or a card number
}

// mask stands for a digit in a transcript.
const mask = "•"

// Shown returns the digits for a transcript.
func (p Press) Shown() string {
	if p.Show {
		return p.Digits
	}
	return strings.Repeat(mask, len(p.Digits))
}

// Transfer transfers the call to a number or a SIP URI, after everything before it is spoken. To is not empty.
type Transfer struct{ To string }

// End ends the conversation, after everything before it is spoken.
type End struct{ Reason string }

func (Say) step()      {}
func (Expect) step()   {}
func (Press) step()    {}
func (Transfer) step() {}
func (End) step()      {}

// Audio is the audio of a call. call.Leg in package agents/call includes it. agentstest.RunAudio tests it.
type Audio interface {
	// Rate returns the sample rate of the call: 8000, 16000 or 48000 Hz. It does not change.
	Rate() int
	// Read waits for the next 20 ms of the call, in both directions. Frames come in order, also while the call is held, and no
	// faster than real time except for 200 ms of backlog. The frame's slices are valid until the next Read. After the end of the
	// call it returns io.EOF. The end of ctx ends only that Read, with the error of ctx; frames that have already arrived may be
	// returned before. Only one goroutine may read.
	Read(ctx context.Context) (Frame, error)
	// Write queues samples of any length for playout. It waits while more than 200 ms are queued, and no longer: a conversation
	// keeps about that much queued. It returns the error of ctx when ctx ends or has ended, and another error when the call ends or
	// has ended. Only one goroutine may write.
	Write(ctx context.Context, samples []int16) error
	// Queued returns the number of samples that wait for playout: all others that were written have been played. Samples wait, for any
	// time, while the peer cannot be sent to. It may be called from any goroutine.
	Queued() int
	// Flush drops the samples that wait for playout and returns their number. The playout falls silent with the next
	// packet. It may be called from any goroutine, and after the end of the call.
	Flush() int
	// SendDTMF sends digits (RFC 4733), each once and in order, after the queued samples, and waits until they are sent. It returns the
	// error of ctx when ctx ends or has ended.
	SendDTMF(ctx context.Context, digits string) error
}

// Frame is 20 ms of a call. In, and Out if it is not nil, have a fiftieth of Rate samples.
type Frame struct {
	In      []int16       // from the peer, with lost packets concealed; never empty
	Out     []int16       // played to the peer in the same 20 ms; nil: silence
	Digit   byte          // a DTMF digit whose first packet came in these 20 ms, in no other frame; 0: none
	OnHold  bool          // the peer holds the call: In is silence, and Out is not heard
	Elapsed time.Duration // time of the call at the frame; rises from frame to frame, by 20 ms if none is missing
}
