package conversation

import (
	"context"
	"time"
)

// Streamer is an optional interface of a Recognizer that recognizes all utterances of a call in one session, and returns partial texts.
// agentstest.RunStreamer tests it. Batch makes a Streamer of any Recognizer.
type Streamer interface {
	// Open starts the session of a call. It returns at the latest when the engine has accepted the session or ctx ends. When ctx ends later,
	// the session ends immediately and frees its resources. The errors are those of Recognizer.Listen. If Open has not contacted the engine,
	// Stream.Next returns these errors after the first Force. Sessions may run concurrently.
	Open(ctx context.Context, h Hearing) (Stream, error)
}

// Stream recognizes the caller's speech in one call. One goroutine calls Next. Another one calls the other methods.
//
// Only the audio of utterances is written: it begins shortly before a voice, includes pauses, and ends with Force. Between utterances nothing
// is written for any length of time; the Stream keeps its session open.
type Stream interface {
	// Write adds audio of any length to the current utterance. It does not wait for the engine, and does not retain samples. It returns an
	// error after the session has ended.
	Write(samples []int16) error
	// Force ends the current utterance. It does not wait. Exactly one Heard with Final set follows for each Force, in the order of the
	// calls, also for an utterance without words or without audio. Force returns an error after the session has ended.
	Force() error
	// Tune changes the phrases, keywords and the expected answer of the following utterances. It does not wait. An engine that cannot
	// change them keeps the former ones. The rate and the language of h are those of Open.
	Tune(h Hearing) error
	// Next waits for the next result. It returns the error of ctx if ctx ends, and another error after the session has ended, for whatever
	// reason. Several results may precede the Final of an utterance. The results of an utterance follow those of the utterance before.
	Next(ctx context.Context) (Heard, error)
	// Close ends the session and returns nil. It may be called twice, and while Next waits.
	Close() error
}

// Heard is a result of a Stream: the text of one utterance so far. A partial text may be longer, shorter or different from the one before.
type Heard struct {
	Utterance int    // number of Force calls before the utterance's audio
	Text      string // all words of the utterance so far, even if the engine has divided them into several turns
	Stable    int    // number of leading words that cannot change
	Final     bool   // the text does not change any more
	// EndOfTurn is the engine's probability from 0 to 1 that the caller has finished speaking; 0 if unknown, or if the caller has continued.
	EndOfTurn  float64
	Confidence float64 // from 0 to 1; 0 if unknown
}

// Partial is the recognized part of a turn, or of words over the agent's words, while the caller still speaks. The next Partial replaces it,
// as does the next Entry of the caller with the same or a later turn.
type Partial struct {
	Turn   int    // see Entry.Turn; 0 for words over the agent's words, which may become a turn
	Text   string // empty if the text before was no words
	Stable int    // number of leading words that cannot change
	Start  time.Duration
}

// SpeechObserver is an optional interface of an Observer that receives the agent's words while they are spoken.
type SpeechObserver interface {
	// Spoken receives the part of an answer that has been heard: after its first word, and then at most every 2 s. Only Role, Text, Turn, Start
	// and End are set. The next Spoken with the same Start replaces it, and the agent's next Entry without Digits, which always follows. Calls
	// are not concurrent with each other or with those of Entry. Spoken must not block.
	Spoken(e Entry)
}

// PartialObserver is an optional interface of an Observer that receives partial texts.
type PartialObserver interface {
	// Partial receives a partial text. Calls are not concurrent with each other or with those of Entry. Partial must not block. Every text is
	// replaced or withdrawn before the conversation ends.
	Partial(p Partial)
}
