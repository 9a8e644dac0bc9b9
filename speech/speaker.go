package speech

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech/tts"
)

// Speaker returns the Synthesizer for an organization's calls. It stores no samples. If a voice is missing, because it was deleted or
// belongs to another engine, the engine's default voice speaks and a warning is logged, so that no call fails.
func (s *Service) Speaker(org callwright.OrgID) tts.Synthesizer {
	return &speaker{Service: s, org: org, voices: map[string]Voice{}}
}

// CheckVoice returns nil if a request with this voice (an id or a name) and language would be valid, and the error of the request
// otherwise.
func (s *Service) CheckVoice(ctx context.Context, org callwright.OrgID, voice, language string) error {
	if voice == "" {
		return s.cfg.Engine.CheckVoice("", language)
	}
	_, err := s.resolve(ctx, org, voice, language)
	return err
}

// Applies reports which factors of a tts.Prosody the engine applies.
func (s *Service) Applies() (pitch, tempo bool) { return s.desc.Pitch, s.desc.Tempo }

// speaker is the Synthesizer of an organization. It looks up each voice once, so that a call does not depend on the database.
type speaker struct {
	*Service
	org callwright.OrgID

	found  sync.Mutex
	voices map[string]Voice // by name and language
}

// voice returns a voice by its id or name. It remembers voices of the organization that it has found.
func (s *speaker) voice(ctx context.Context, name, language string) (Voice, error) {
	for _, v := range s.desc.Voices { // own voices cannot have the name of an engine's voice
		if v.Name == name {
			return s.builtIn(v), s.cfg.Engine.CheckVoice(name, language)
		}
	}
	s.found.Lock()
	defer s.found.Unlock()
	key := name + "\x00" + language
	if v, ok := s.voices[key]; ok {
		return v, nil
	}
	v, err := s.resolve(ctx, s.org, name, language)
	if err == nil && len(s.voices) < maxFound {
		s.voices[key] = v
	}
	return v, err
}

// maxFound is the maximum number of voices that a speaker remembers. A call uses one or two.
const maxFound = 16

// Synthesize speaks with a voice of the organization or the engine, or with the engine's default voice if the requested voice was deleted
// or belongs to another engine. It caches the audio, unless Config disables the cache.
func (s *speaker) Synthesize(ctx context.Context, r tts.Request) (tts.Stream, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	r, err := s.ofEngine(ctx, r)
	if err != nil {
		return nil, err
	}
	return s.prompt(ctx, r, func() (tts.Stream, error) { return s.cfg.Engine.Synthesize(ctx, r) })
}

// Talk speaks the answers of a call over one connection, if the engine is a tts.Talker. Then only the first piece of an answer is cached,
// because the intonation of the others depends on the pieces before them.
func (s *speaker) Talk(ctx context.Context, r tts.Request) tts.Talk {
	engine, ok := s.cfg.Engine.(tts.Talker)
	if !ok {
		return tts.Separate(ctx, s, r)
	}
	if err := r.Check(); err != nil {
		return tts.Refuse(err)
	}
	r, err := s.ofEngine(ctx, r)
	if err != nil {
		return tts.Refuse(err)
	}
	return &cachedTalk{engine.Talk(ctx, r), s, r}
}

// ofEngine replaces the voice of a request by a voice of the engine.
func (s *speaker) ofEngine(ctx context.Context, r tts.Request) (tts.Request, error) {
	if r.Voice == "" {
		return r, nil
	}
	v, err := s.voice(ctx, r.Voice, r.Language)
	switch e, _ := errors.AsType[*callwright.Error](err); {
	case err == nil:
	case e != nil && e.Field == "voice":
		s.cfg.Logger.WarnContext(ctx, "a call has a voice that is not here any more: the engine's default speaks",
			"org", s.org, "voice", r.Voice, "error", err)
		v = Voice{}
	default:
		return r, err
	}
	r.Voice, r.Prosody = v.Base, v.Prosody.Times(r.Prosody)
	return r, nil
}

// prompt returns the cached audio of a request of the engine, or else the stream of begin, whose audio is cached when it is complete.
func (s *speaker) prompt(ctx context.Context, r tts.Request, begin func() (tts.Stream, error)) (tts.Stream, error) {
	if s.prompts == nil || strings.TrimSpace(r.Text) == "" {
		return begin()
	}
	key := promptKey{s.org, r}
	if p, ok := s.prompts.find(key); ok {
		return tts.Samples(ctx, p.audio, p.marks...), nil
	}
	stream, err := begin()
	if err != nil {
		return nil, err
	}
	return &learning{Stream: stream, keep: func(audio []int16, marks []tts.Mark) { s.prompts.add(key, audio, marks) }, most: s.prompts.longest}, nil
}

// cachedTalk is a Talk of the engine whose first pieces are cached.
type cachedTalk struct {
	tts.Talk

	speaker *speaker
	request tts.Request
}

// Answer implements tts.Talk.
func (t *cachedTalk) Answer(ctx context.Context) tts.Answer {
	return &cachedAnswer{Answer: t.Talk.Answer(ctx), ctx: ctx, talk: t}
}

type cachedAnswer struct {
	tts.Answer

	ctx  context.Context //nolint:containedctx // the answer lives as long as the context of its Answer
	talk *cachedTalk
	once sync.Once
}

// Say implements tts.Answer.
func (a *cachedAnswer) Say(text string) tts.Stream {
	var stream tts.Stream
	a.once.Do(func() {
		r := a.talk.request
		r.Text = text
		stream, _ = a.talk.speaker.prompt(a.ctx, r, func() (tts.Stream, error) { return a.Answer.Say(text), nil })
	})
	if stream == nil {
		stream = a.Answer.Say(text)
	}
	return stream
}
