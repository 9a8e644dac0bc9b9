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
	if r.Voice != "" {
		v, err := s.voice(ctx, r.Voice, r.Language)
		switch e, _ := errors.AsType[*callwright.Error](err); {
		case err == nil:
		case e != nil && e.Field == "voice":
			s.cfg.Logger.WarnContext(ctx, "a call has a voice that is not here any more: the engine's default speaks",
				"org", s.org, "voice", r.Voice, "error", err)
			v = Voice{}
		default:
			return nil, err
		}
		r.Voice, r.Prosody = v.Base, v.Prosody.Times(r.Prosody)
	}
	if s.prompts == nil || strings.TrimSpace(r.Text) == "" {
		return s.cfg.Engine.Synthesize(ctx, r)
	}
	key := promptKey{s.org, r}
	if p, ok := s.prompts.find(key); ok {
		return tts.Samples(ctx, p.audio, p.marks...), nil
	}
	stream, err := s.cfg.Engine.Synthesize(ctx, r)
	if err != nil {
		return nil, err
	}
	return &learning{Stream: stream, keep: func(audio []int16, marks []tts.Mark) { s.prompts.add(key, audio, marks) }, most: s.prompts.longest}, nil
}
