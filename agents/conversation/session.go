package conversation

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/callwright/callwright/speech/tts"
)

// session is the state that the reader and the speaker of a conversation share. The speaker sends notices to the reader, which handles them
// with the next frame.
type session struct {
	cfg   Config
	audio Audio
	brain Brain

	time     callTime
	jobs     chan *job
	notices  chan notice
	held     startGate
	pressing atomic.Bool // whether digits wait to be sent or are being sent
	expected expectation
	waits    atomic.Int64 // For of the brain's Wait in this turn, in nanoseconds; 0 means none
	overlaps overlaps

	abandon   func()          // closes abandoned; may be called several times
	abandoned <-chan struct{} // closed when the speaker no longer waits for a brain that ignores the end of its context

	talk        tts.Talk // all speech of the agent
	recognition *recognition
	observing   sync.Mutex // held while the observer is called
	shown       Partial    // last partial text that no entry and no other partial text has replaced

	ctx           context.Context         //nolint:containedctx // the session lives as long as Run's context
	cancel        context.CancelFunc      // cancels ctx
	listens       context.Context         //nolint:containedctx // outlives ctx when the caller has hung up: for the last words
	stopListening context.CancelCauseFunc // cancels listens; the cause is the error of the utterances without a text
	thinking      sync.WaitGroup          // counts the brain's goroutines
	wait          sync.WaitGroup          // counts all other goroutines
}

func newSession(ctx context.Context, c Config, audio Audio, brain Brain) *session {
	s := &session{cfg: c, audio: audio, brain: brain, jobs: make(chan *job, 64), notices: make(chan notice, 64)}
	s.ctx, s.cancel = context.WithCancel(ctx)
	abandoned := make(chan struct{})
	s.abandoned, s.abandon = abandoned, sync.OnceFunc(func() { close(abandoned) })
	s.listens, s.stopListening = context.WithCancelCause(context.WithoutCancel(ctx))
	s.recognition = newRecognition(s.listens, c, s.hearing())
	s.talk = tts.Open(s.ctx, c.Synthesizer, tts.Request{Voice: c.Voice, Language: c.Language, Rate: audio.Rate()})
	return s
}

// hearing returns what the recognizer should know of the caller's next words.
func (s *session) hearing() Hearing {
	e := s.expected.get()
	return Hearing{
		Rate: s.audio.Rate(), Language: s.cfg.Language, Phrases: e.Phrases, Keywords: s.cfg.Keywords, Expect: e.Answer,
	}
}

// write writes an entry to the transcript.
func (s *session) write(e Entry) {
	s.observing.Lock()
	defer s.observing.Unlock()
	if e.Role == RoleCaller && e.Turn >= s.shown.Turn {
		s.shown = Partial{}
	}
	s.cfg.Observer.Entry(e)
}

// show passes a partial text to the observer, if it receives partial texts. An empty text withdraws the shown text, unless that text belongs
// to a later turn.
func (s *session) show(p Partial) {
	o, ok := s.cfg.Observer.(PartialObserver)
	if !ok {
		return
	}
	s.observing.Lock()
	defer s.observing.Unlock()
	if p.Text == "" && (s.shown.Text == "" || p.Turn < s.shown.Turn) {
		return
	}
	s.shown = p
	o.Partial(p)
}

// now returns the current time of the call.
func (s *session) now() time.Duration { return s.time.now(s.cfg.Clock.Now()) }

// notice is a message of the speaker to the reader.
type notice struct {
	event  event
	number int   // number of the job; the reader ignores notices of former jobs
	err    error // set for agentFailed and agentBroken
}
