package speech

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"runtime"
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/node"
	"github.com/callwright/callwright/speech/tts"
)

// Config configures a Service.
type Config struct {
	Engine  tts.Engine        `required:"always"`
	Voices  Voices            `required:"always"`
	Samples Samples           `required:"always"`
	Blobs   Blobs             `required:"always"`
	Atomic  callwright.Atomic `required:"always"` // runs transactions of the stores
	Work    callwright.Work   `required:"always"` // deletes expired and orphaned data
	Key     callwright.Secret `required:"always"` // signs links; at least 32 bytes, the same on every node
	Cloner  Cloner            // if nil, Clone returns CodeUnavailable
	Decoder Decoder           `required:"with Cloner"`

	Parallel int           // sentences that are synthesized concurrently; default GOMAXPROCS
	Waiting  int           // texts of all organizations that may wait in addition; default 64
	PerOrg   int           // texts of one organization that are synthesized or wait; default 16
	KeepFor  time.Duration // retention period of samples; default 90 days
	LinkFor  time.Duration // validity of links to audio; default 24 hours
	Loudness float64       // of samples, in LUFS; default -19
	Prompts  int64         // size of the cache for the audio of calls, in bytes; default 64 MiB; negative disables it

	// ReplaceUnknown replaces an unknown voice by the default voice of the language, for clients that name voices of other servers. If
	// false, requests with unknown voices are refused. See Service.Replacement.
	ReplaceUnknown bool

	callwright.Runtime
}

// The limits of texts, voices and recordings.
const (
	MaxText        = 5000 // characters of a text
	MaxName        = 30   // characters of a voice's name
	MaxDescription = 500  // characters of a voice's description
	MaxOwnVoices   = 200  // voices of an organization
	MaxFiles       = 10   // recordings of a voice
	MaxRecording   = 5 * time.Minute
	MaxPage        = 100 // samples in a page
	MaxOffset      = 1_000_000

	maxSentence      = 30 * time.Second // time limit of the engine for one sentence
	maxSentenceAudio = 3 * time.Minute
	maxSpeaking      = 3 * time.Minute  // time limit of the engine for a whole text, including waits for free slots
	maxAudio         = 12 * time.Minute // length of the audio of a whole text
	maxMemory        = 512 << 20        // estimated bytes of the audio of all texts in synthesis
	maxClone         = 60 * time.Second
)

// Service speaks texts, and manages voices and samples. It implements tts.Speakers. Its methods may be called concurrently.
type Service struct {
	cfg   Config           // Key is empty
	mac   func() hash.Hash // keyed with Config.Key; a function, because fmt would print the key in an unexported field
	slots *node.Budget     // sentences in the engine
	room  *node.Budget     // bytes of audio in synthesis
	desc  tts.Description

	prompts *prompts

	mu     sync.Mutex
	active int                      // texts that are synthesized or wait
	by     map[callwright.OrgID]int // active texts by organization
}

var _ tts.Speakers = (*Service)(nil)

// minKey is the minimum length of Config.Key, in bytes.
const minKey = 32

// New returns a Service and registers its durable work with c.Work. It returns an error if a required field of c is missing, Key is shorter
// than 32 bytes, or a limit is negative.
func New(c Config) (*Service, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	if len(c.Key) < minKey {
		return nil, fmt.Errorf("speech: Config.Key must have at least %d bytes", minKey)
	}
	if c.Parallel < 0 || c.Waiting < 0 || c.PerOrg < 0 || c.KeepFor < 0 || c.LinkFor < 0 {
		return nil, errors.New("speech: Config.Parallel, Waiting, PerOrg, KeepFor and LinkFor must not be negative")
	}
	c.setDefaults()
	key := []byte(c.Key.Reveal())
	c.Key = ""
	s := &Service{
		cfg: c, mac: func() hash.Hash { return hmac.New(sha256.New, key) }, desc: c.Engine.Describe(),
		slots: &node.Budget{
			Total: int64(c.Parallel), Wait: maxSentence, Busy: "the speech engine has been busy for too long: send the text again later",
		},
		room: &node.Budget{
			Total: maxMemory, Share: maxMemory / 2, Wait: 10 * time.Second, Busy: "too many long texts are being spoken: send this one again later",
		},
		prompts: newPrompts(c.Prompts), by: map[callwright.OrgID]int{},
	}
	s.handleWork()
	return s, nil
}

func (c *Config) setDefaults() {
	c.Parallel = cmp.Or(c.Parallel, runtime.GOMAXPROCS(0))
	c.Waiting = cmp.Or(c.Waiting, 64)
	c.PerOrg = cmp.Or(c.PerOrg, 16)
	c.KeepFor = cmp.Or(c.KeepFor, 90*24*time.Hour)
	c.LinkFor = cmp.Or(c.LinkFor, 24*time.Hour)
	c.Loudness = cmp.Or(c.Loudness, -19)
	c.Prompts = cmp.Or(c.Prompts, 64<<20)
}

// admit reserves a place for a text of an organization, and the given number of bytes for its audio, until leave is called. It waits for
// the memory. It returns CodeTooManyRequests with RetryAfter if there are too many texts, or if the memory does not become free in time.
func (s *Service) admit(ctx context.Context, org callwright.OrgID, memory int64) (leave func(), err error) {
	if err := s.enter(org); err != nil {
		return nil, err
	}
	release, err := s.room.Claim(ctx, string(org), memory)
	if err != nil {
		s.exit(org)
		if ctx.Err() == nil {
			err = tooMany(callwright.MessageOf(err))
		}
		return nil, err
	}
	return sync.OnceFunc(func() {
		release()
		s.exit(org)
	}), nil
}

func (s *Service) enter(org callwright.OrgID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by[org] >= s.cfg.PerOrg {
		return tooMany(fmt.Sprintf("%d texts of the organization are being synthesized, which is the limit: send this one again later", s.by[org]))
	}
	if s.active >= s.cfg.Parallel+s.cfg.Waiting {
		return tooMany("too many texts wait to be synthesized: send this one again later")
	}
	s.active++
	s.by[org]++
	return nil
}

func (s *Service) exit(org callwright.OrgID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active--
	if s.by[org]--; s.by[org] == 0 {
		delete(s.by, org)
	}
}

func tooMany(message string) error {
	return &callwright.Error{Code: callwright.CodeTooManyRequests, Message: message, RetryAfter: busyRetry}
}

// busyRetry is the RetryAfter of CodeTooManyRequests.
const busyRetry = 2 * time.Second
