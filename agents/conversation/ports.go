package conversation

import (
	"context"
	"iter"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation/endpoint"
	"github.com/callwright/callwright/agents/conversation/expect"
	"github.com/callwright/callwright/speech/activity"
)

// TurnDetector judges how long the caller may be silent before the turn is over (endpointing). endpoint.Rules implements it.
type TurnDetector interface {
	// Judge returns the wait for the evidence. It depends on e only, does not block and may be called from any goroutine, at most every 20
	// ms of a pause. Wait.Final is within the bounds of e.
	Judge(e endpoint.Evidence) endpoint.Wait
}

// Activity detects the caller's speech in one call. activity.Detector implements it, and agentstest.RunActivity tests it.
type Activity interface {
	// Hear classifies the next 20 ms of the call. in is the caller's audio, and out is the agent's audio of the same time; out is nil while the
	// agent is silent. Frames may be empty, clipped or constant. Hear depends on the frames only, not on the time, so that the same call has
	// the same verdicts. It does not retain the slices, and does not change them. Only one goroutine uses an Activity.
	//
	// Clear speech at -35 to -10 dBFS is Voice at each of the rates 8000, 16000 and 48000 Hz, with a Certainty of 0.6 or more. Silence, and
	// steady noise after 2 s, are activity.Noise. DTMF digits are activity.Tone. After 800 ms, a busy tone of 480 and 620 Hz is
	// activity.Progress, and a fax machine's tone of 2100 Hz is activity.Fax. Level is the level in dBFS, within 3 dB. Certainty ranges from 0 to 1.
	Hear(in, out []int16) activity.Verdict
}

// Recognizer converts speech to text, one utterance at a time. agentstest.RunRecognizer tests it.
type Recognizer interface {
	// Listen starts an utterance. When ctx ends, the utterance ends immediately and frees its resources. Listen returns CodeBadRequest for
	// an unsupported rate, such as 0, a negative or a huge rate, before it allocates memory of that size. It returns CodeUnavailable for a
	// missing engine, with a message that names the package to install. Utterances may run concurrently.
	Listen(ctx context.Context, h Hearing) (Utterance, error)
}

// Hearing configures the recognition of an utterance.
type Hearing struct {
	Rate     int      // sample rate of the audio in Hz, which the adapter converts if necessary
	Language string   // BCP 47; empty means the recognizer's default
	Phrases  []string // words that the caller may say; may be wrong or any text, even invalid UTF-8: see Utterance.Finish
	Keywords []string // names and terms that are likely in this call; any text; an engine that cannot use them ignores them
	// Expect is the form of the expected answer. An engine that cannot use it ignores it. Like Phrases, it may be wrong or unknown.
	Expect expect.Answer
}

// LanguageChecker is an optional interface of a Recognizer that checks languages before calls.
type LanguageChecker interface {
	// CheckLanguage returns the error that Listen would return for a language, or nil if the language is supported.
	CheckLanguage(language string) error
}

// OrgRecognizers is an optional interface of a Recognizer whose capacity organizations share.
type OrgRecognizers interface {
	// RecognizerOf returns the Recognizer of an organization, which recognizes like the receiver. A recognition of one organization waits at
	// most until one recognition of the others has ended, however many wait.
	RecognizerOf(org callwright.OrgID) Recognizer
}

// KeywordUser is an optional interface of a Recognizer that can use Hearing.Keywords.
type KeywordUser interface {
	// UsesKeywords reports whether keywords have an effect.
	UsesKeywords() bool
}

// Utterance recognizes one continuous piece of a caller's speech. Only one goroutine may use it.
type Utterance interface {
	// Write adds audio of any length. It does not wait for the recognition, and does not retain samples.
	Write(samples []int16) error
	// Finish ends the audio and waits for the text. The text is empty if no words were understood, for example in silence or without
	// samples. Finish returns neither a phrase of Hearing nor an expected answer in place of other words. A number may be returned in words,
	// in digits, or in both: expect.DigitsIn reads each. Finish returns an error if its ctx or the ctx of Listen ends or has ended.
	Finish(ctx context.Context) (Recognized, error)
	// Close abandons the utterance and returns nil. It may be called twice, and after Finish.
	Close() error
}

// Recognized is the text of an utterance.
type Recognized struct {
	Text       string
	Confidence float64 // from 0 to 1; 0 if unknown
}

// Brain decides the agent's words and actions. The same brain can lead calls, chats and tests. Only one goroutine may use it.
// agentstest.RunBrain tests it.
type Brain interface {
	// Respond streams the steps of the answer to a turn: sentences as soon as they are complete, and actions. It accepts turns of every
	// kind. The first turn may be TurnSpeech instead of TurnStart, and its answer contains words in both cases. No step is nil, and no step
	// follows an End or a Transfer. The stream stops early when ctx ends or the consumer stops, as at an interruption; the next turn then
	// contains the heard part. After an error, Respond can be called again.
	Respond(ctx context.Context, t Turn) iter.Seq2[Step, error]
}

// TurnKind names the event that made a turn.
type TurnKind string

// The kinds of turns.
const (
	TurnStart   TurnKind = "start"   // the agent must speak, because the call was answered or a transfer has failed
	TurnSpeech  TurnKind = "speech"  // the caller said Text
	TurnDigits  TurnKind = "digits"  // the caller pressed Text
	TurnSilence TurnKind = "silence" // the caller was silent for Config.Silence
)

// Turn is an event that the agent must answer.
type Turn struct {
	Kind TurnKind
	Text string // words, empty if none were understood; or digits
	// Interrupted reports whether the caller interrupted the agent's last answer. Heard is then the part of that answer that was played.
	Interrupted bool
	Heard       string
	// Early is set if the turn is probably over, but the caller may still continue. Only an EarlyBrain receives such turns. Respond may then
	// compute and yield Say, Expect, BargeIn and Wait steps; the conversation plays nothing yet. Before every other step, before an error, before
	// every effect outside the brain (tools, variables) and before the end of the answer, Respond must call Commit. The answer ends without
	// further steps if Commit returns an error. Withdraw then reports, as after a stream that was stopped, whether the turn is withdrawn. If so,
	// Respond restores the state in which it was called: this turn has not happened, and the next turn contains the caller's whole text and
	// again Interrupted and Heard.
	Early *Early
}

// TextTurn returns the turn of a caller's written text. A blank text becomes TurnSilence.
func TextTurn(text string) Turn {
	if strings.TrimSpace(text) == "" {
		return Turn{Kind: TurnSilence}
	}
	return Turn{Kind: TurnSpeech, Text: text}
}

// Step is one action of a brain: Say, BargeIn, Expect, Wait, Press, Transfer or End.
type Step interface{ step() }

// Say speaks Text, which is synthesized as a whole: a sentence or another piece, not blank, of at most tts.MaxText bytes. Only its
// callwright.Printable part is spoken.
type Say struct{ Text string }

// Expect describes the caller's next words to the recognizer and to the endpointing.
type Expect struct {
	Phrases []string // that the caller may say
	Answer  expect.Answer
	// Least and Longest bound the silence after which the caller's next turn is over. If they are 0, the bounds of the Config apply.
	Least, Longest time.Duration
}

// Wait lengthens the silence of the caller after which the next TurnSilence comes, because the caller has asked the agent to wait. It applies
// until the caller's next turn.
type Wait struct{ For time.Duration }

// Press sends DTMF (RFC 4733). Digits is not empty and contains 0-9, A-D, *, #, and w, which is a pause of half a second.
type Press struct {
	Digits string
	Show   bool // shows the digits in the transcript; otherwise they are masked, because they may be a PIN or a card number
}

// mask replaces a digit in a transcript.
const mask = "•"

// Shown returns the digits as the transcript shows them: masked, unless Show is set.
func (p Press) Shown() string {
	if p.Show {
		return p.Digits
	}
	return strings.Repeat(mask, len(p.Digits))
}

// Transfer transfers the call to a number or a SIP URI after all earlier words are spoken. To is not empty.
type Transfer struct{ To string }

// End ends the conversation after all earlier words are spoken.
type End struct{ Reason string }

func (Say) step()      {}
func (BargeIn) step()  {}
func (Expect) step()   {}
func (Wait) step()     {}
func (Press) step()    {}
func (Transfer) step() {}
func (End) step()      {}

// Audio transports the audio of a call. call.Leg in package agents/call includes it, and agentstest.RunAudio tests it.
type Audio interface {
	// Rate returns the sample rate of the call: 8000, 16000 or 48000 Hz. It does not change.
	Rate() int
	// Read waits for the next 20 ms of the call in both directions. Frames arrive in order, even while the call is held, and no faster than
	// real time, except for a backlog of 200 ms. The frame's slices are valid until the next Read. After the end of the call, Read returns
	// io.EOF. The end of ctx ends only that Read, with the error of ctx; Read may first return frames that have already arrived. Only one
	// goroutine may read.
	Read(ctx context.Context) (Frame, error)
	// Write queues samples of any length for playout. It waits exactly while more than 200 ms are queued, so a conversation keeps about 200
	// ms queued. It returns the error of ctx if ctx ends or has ended, and another error if the call ends or has ended. Only one goroutine
	// may write.
	Write(ctx context.Context, samples []int16) error
	// Queued returns the number of samples that wait for playout. All other written samples have been played or flushed. Samples wait,
	// without a limit, while no audio can be sent to the peer. Queued may be called from any goroutine.
	Queued() int
	// Flush discards the samples that wait for playout and returns their number. The playout is silent from the next packet on. Flush may
	// be called from any goroutine, and after the end of the call.
	Flush() int
	// SendDTMF sends digits (RFC 4733) after the queued samples, each once and in order, and waits until they are sent. It returns the
	// error of ctx if ctx ends or has ended.
	SendDTMF(ctx context.Context, digits string) error
}

// Frame is 20 ms of a call. In contains Rate/50 samples, as does Out unless it is nil.
type Frame struct {
	In      []int16       // received from the peer, with lost packets concealed; never empty
	Out     []int16       // played to the peer in the same 20 ms; nil means silence
	Digit   byte          // DTMF digit whose first packet arrived in these 20 ms; no other frame contains it; 0 means none
	OnHold  bool          // the peer holds the call: In is silence, and the peer does not hear Out
	Elapsed time.Duration // time of the call at this frame; increases with every frame, by 20 ms if no frame is missing
}
