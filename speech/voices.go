package speech

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech/tts"
)

// reserved is a name that no voice may have, because /v1/voices/clone is an operation.
const reserved = "clone"

// builtIn returns the record of a voice of the engine.
func (s *Service) builtIn(v tts.Voice) Voice {
	return Voice{
		ID: v.Name, Name: v.Name, Description: v.Description, Kind: KindBuiltIn, Service: s.desc.Name, Base: v.Name, Language: v.Language,
	}
}

// Engine returns the description of the engine that speaks.
func (s *Service) Engine() tts.Description { return s.desc }

// Cloner returns the name of the Cloner and the kind of its voices; ok is false without one.
func (s *Service) Cloner() (name string, kind Kind, ok bool) {
	if s.cfg.Cloner == nil {
		return "", "", false
	}
	name, kind = s.cfg.Cloner.Describe()
	return name, kind, true
}

// Voices returns the voices of an organization, oldest first, at most MaxOwnVoices, and then the engine's.
func (s *Service) Voices(ctx context.Context, org callwright.OrgID) ([]Voice, error) {
	list, err := s.cfg.Voices.VoicesOf(ctx, org, MaxOwnVoices)
	if err != nil {
		return nil, err
	}
	for _, v := range s.desc.Voices {
		list = append(list, s.builtIn(v))
	}
	return list, nil
}

// Voice returns a voice by its id or its name: an organization's own before the engine's. An unknown voice is CodeNotFound, with
// similar names.
func (s *Service) Voice(ctx context.Context, org callwright.OrgID, idOrName string) (Voice, error) {
	v, err := s.own(ctx, org, idOrName)
	if !errors.Is(err, callwright.ErrNotFound) {
		return v, err
	}
	key := Key(idOrName)
	for _, v := range s.desc.Voices {
		if Key(v.Name) == key {
			return s.builtIn(v), nil
		}
	}
	return Voice{}, callwright.Errorf(callwright.CodeNotFound, "%s", s.unknown(ctx, org, idOrName))
}

// own returns a voice of an organization by its id or its name; CodeNotFound without one.
func (s *Service) own(ctx context.Context, org callwright.OrgID, idOrName string) (Voice, error) {
	v, err := s.cfg.Voices.Voice(ctx, org, idOrName)
	if !errors.Is(err, callwright.ErrNotFound) {
		return v, err
	}
	return s.cfg.Voices.VoiceByKey(ctx, org, Key(idOrName))
}

// voiceFor returns the voice to speak with. Without a name it is the engine's default or, if that does not speak the language, the
// first that does. A name that is in no list is passed to the engine, which may have more voices than it lists; CodeBadRequest with
// the field "voice" for an unknown one.
func (s *Service) voiceFor(ctx context.Context, org callwright.OrgID, idOrName, language string) (Voice, error) {
	if idOrName == "" {
		return s.builtIn(s.voiceOf(language)), nil
	}
	v, err := s.Voice(ctx, org, idOrName)
	if !errors.Is(err, callwright.ErrNotFound) {
		return v, err
	}
	switch {
	case s.cfg.Engine.CheckVoice(idOrName, "") == nil:
		return s.builtIn(tts.Voice{Name: idOrName}), nil
	case s.cfg.ReplaceUnknown:
		return s.builtIn(s.voiceOf(language)), nil
	}
	return Voice{}, callwright.Invalid("voice", "%s", callwright.MessageOf(err))
}

// Replacement returns the name of the voice that replaces an unknown one; empty for a known voice, an empty name and a refused one.
// See Config.ReplaceUnknown.
func (s *Service) Replacement(ctx context.Context, org callwright.OrgID, idOrName, language string) (string, error) {
	if !s.cfg.ReplaceUnknown || idOrName == "" || s.cfg.Engine.CheckVoice(idOrName, "") == nil {
		return "", nil
	}
	_, err := s.Voice(ctx, org, idOrName)
	if !errors.Is(err, callwright.ErrNotFound) {
		return "", err
	}
	return s.voiceOf(language).Name, nil
}

// voiceOf returns the engine's voice for a language: its default if no voice fits better.
func (s *Service) voiceOf(language string) tts.Voice {
	if len(s.desc.Voices) == 0 {
		return tts.Voice{}
	}
	at := slices.IndexFunc(s.desc.Voices, func(v tts.Voice) bool { return v.Name == s.desc.Default })
	voices := append([]tts.Voice{s.desc.Voices[max(at, 0)]}, s.desc.Voices...)
	for _, fits := range []func(spoken string) bool{
		func(spoken string) bool { return spoken == "" || language == "" || strings.EqualFold(spoken, language) },
		func(spoken string) bool { return strings.EqualFold(broad(spoken), broad(language)) },
	} {
		if i := slices.IndexFunc(voices, func(v tts.Voice) bool { return fits(v.Language) }); i >= 0 {
			return voices[i]
		}
	}
	return voices[0]
}

// broad returns the first part of a language tag, for example "en" of "en-US".
func broad(language string) string {
	tag, _, _ := strings.Cut(language, "-")
	return tag
}

// unknown returns the error of an unknown voice, with similar names.
func (s *Service) unknown(ctx context.Context, org callwright.OrgID, name string) string {
	names := s.desc.Names()
	if own, err := s.cfg.Voices.VoicesOf(ctx, org, MaxOwnVoices); err == nil { // without them, the engine's are proposed
		for _, v := range own {
			names = append(names, v.Name)
		}
	}
	text := fmt.Sprintf("there is no voice %q", callwright.Clip(name, 4*MaxName))
	if like := nearest(name, names, 3); len(like) > 0 {
		return text + ": did you mean " + strings.Join(like, ", ") + "?"
	}
	return fmt.Sprintf("%s among the %d that there are", text, len(names))
}

// checkName refuses a name for an own voice. The error is CodeBadRequest with the field.
func (s *Service) checkName(name string) error {
	key := Key(name)
	switch {
	case !utf8.ValidString(name) || key == "":
		return callwright.Invalid("name", "must not be empty")
	case callwright.Longer(name, MaxName):
		return callwright.Invalid("name", "must have at most %d characters, and has %d", MaxName, utf8.RuneCountInString(name))
	case strings.ContainsFunc(name, callwright.Hidden):
		return callwright.Invalid("name", "must not have characters that cannot be seen")
	case strings.Contains(name, "/"):
		return callwright.Invalid("name", "must not have a slash, because the name stands in paths")
	case key == reserved:
		return callwright.Invalid("name", "must not be %q, which is a path of its own", reserved)
	case strings.Trim(key, ".") == "":
		return callwright.Invalid("name", "must not be a dot or two, because the name stands in paths")
	case slices.ContainsFunc(s.desc.Voices, func(v tts.Voice) bool { return Key(v.Name) == key }):
		return callwright.Invalid("name", "is taken by a voice of the engine")
	}
	return nil
}

// nameConflict translates a store's conflict about a name into an error of the input.
func nameConflict(err error) error {
	if e, ok := errors.AsType[*callwright.Error](err); ok && e.Code == callwright.CodeConflict && e.Field == "name" {
		return callwright.Invalid("name", "is taken by another voice of the organization").Because(err)
	}
	return err
}

// Rename renames a voice of an organization. CodeBadRequest with the field "name": the name is in use or invalid. CodeForbidden:
// the voice belongs to the engine. CodeNotFound: unknown voice.
func (s *Service) Rename(ctx context.Context, org callwright.OrgID, idOrName, name string) (v Voice, err error) {
	name = strings.TrimSpace(name)
	if err := s.checkName(name); err != nil {
		return Voice{}, err
	}
	err = callwright.Retry(ctx, func(ctx context.Context) error {
		if v, err = s.ownOnly(ctx, org, idOrName, "renamed"); err != nil {
			return err
		}
		v.Name = name
		v.Version++
		return nameConflict(s.cfg.Voices.UpdateVoice(ctx, v))
	})
	return v, err
}

// ownOnly returns a voice of an organization. CodeForbidden: the voice belongs to the engine and cannot be changed.
func (s *Service) ownOnly(ctx context.Context, org callwright.OrgID, idOrName, what string) (Voice, error) {
	v, err := s.Voice(ctx, org, idOrName)
	if err == nil && v.Public() {
		return Voice{}, callwright.Errorf(callwright.CodeForbidden, "the voice %s is the engine's and cannot be %s", v.Name, what)
	}
	return v, err
}

// Delete deletes a voice of an organization permanently. Its samples stay. Agents with this voice then speak with the engine's
// default voice. CodeForbidden: the voice belongs to the engine. CodeNotFound: unknown voice.
func (s *Service) Delete(ctx context.Context, org callwright.OrgID, idOrName string) error {
	return s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
		v, err := s.ownOnly(ctx, org, idOrName, "deleted")
		if err != nil {
			return err
		}
		if err := s.cfg.Voices.DeleteVoice(ctx, org, v.ID); err != nil {
			return err
		}
		return s.cfg.Work.Enqueue(ctx, callwright.Task{Kind: taskForgetVoice, Key: v.ID, Org: org})
	})
}
