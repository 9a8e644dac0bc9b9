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

// reserved is a name that own voices cannot have, because the path /v1/voices/clone is an operation.
const reserved = "clone"

// builtIn returns the Voice for a voice of the engine.
func (s *Service) builtIn(v tts.Voice) Voice {
	return Voice{
		ID: v.Name, Name: v.Name, Description: v.Description, Kind: KindBuiltIn, Service: s.desc.Name, Base: v.Name, Language: v.Language,
	}
}

// Engine returns the description of Config.Engine.
func (s *Service) Engine() tts.Description { return s.desc }

// Cloner returns the name of the Cloner and the kind of its voices. ok is false if no Cloner is configured.
func (s *Service) Cloner() (name string, kind Kind, ok bool) {
	if s.cfg.Cloner == nil {
		return "", "", false
	}
	name, kind = s.cfg.Cloner.Describe()
	return name, kind, true
}

// Voices returns up to MaxOwnVoices voices of an organization, the oldest first, followed by the engine's voices.
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

// Voice returns a voice by its id or its name. An organization's own voices take precedence over the engine's. If the voice is unknown,
// Voice returns CodeNotFound, and the message suggests similar names.
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

// own returns a voice of an organization by its id or its name, or CodeNotFound if the organization has no such voice.
func (s *Service) own(ctx context.Context, org callwright.OrgID, idOrName string) (Voice, error) {
	v, err := s.cfg.Voices.Voice(ctx, org, idOrName)
	if !errors.Is(err, callwright.ErrNotFound) {
		return v, err
	}
	return s.cfg.Voices.VoiceByKey(ctx, org, Key(idOrName))
}

// voiceFor returns the voice that speaks a request. If the name is empty, voiceOf selects a voice for the language. A name that is not
// listed is passed to the engine, which may support more voices than it lists. If the engine refuses the name, voiceFor returns
// CodeBadRequest with the field "voice", or the voice for the language if Config.ReplaceUnknown is set.
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

// Replacement returns the name of the voice that replaces an unknown voice. It returns an empty name if the voice is known, if idOrName is
// empty, or if Config.ReplaceUnknown is not set.
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

// voiceOf returns the engine's best voice for a language: the default voice or another voice with the same language tag or without a
// language, else a voice of the same language, else the default voice. It returns the zero Voice if the engine has no voices.
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

// unknown returns the message for an unknown voice, with up to three similar names.
func (s *Service) unknown(ctx context.Context, org callwright.OrgID, name string) string {
	names := s.desc.Names()
	if own, err := s.cfg.Voices.VoicesOf(ctx, org, MaxOwnVoices); err == nil { // if the store fails, only the engine's names are suggested
		for _, v := range own {
			names = append(names, v.Name)
		}
	}
	text := fmt.Sprintf("unknown voice %q", callwright.Clip(name, 4*MaxName))
	if like := nearest(name, names, 3); len(like) > 0 {
		return text + ": did you mean " + strings.Join(like, ", ") + "?"
	}
	return fmt.Sprintf("%s (%d voices are known)", text, len(names))
}

// checkName returns CodeBadRequest with the field "name" if the name of an own voice is invalid or is the name of an engine's voice.
func (s *Service) checkName(name string) error {
	key := Key(name)
	switch {
	case !utf8.ValidString(name):
		return callwright.Invalid("name", "must be valid UTF-8")
	case key == "":
		return callwright.Invalid("name", "must not be empty")
	case callwright.Longer(name, MaxName):
		return callwright.Invalid("name", "must have at most %d characters, and has %d", MaxName, utf8.RuneCountInString(name))
	case strings.ContainsFunc(name, callwright.Hidden):
		return callwright.Invalid("name", "must be one line without control characters or invisible characters")
	case strings.Contains(name, "/"):
		return callwright.Invalid("name", "must not contain a slash, because the name is part of URLs")
	case key == reserved:
		return callwright.Invalid("name", "must not be %q, which is reserved", reserved)
	case strings.Trim(key, ".") == "":
		return callwright.Invalid("name", "must not consist of dots only, because the name is part of URLs")
	case slices.ContainsFunc(s.desc.Voices, func(v tts.Voice) bool { return Key(v.Name) == key }):
		return callwright.Invalid("name", "must be unique: a voice of the engine has this name")
	}
	return nil
}

// nameConflict translates a store's CodeConflict with the field "name" to CodeBadRequest. It returns other errors unchanged.
func nameConflict(err error) error {
	if e, ok := errors.AsType[*callwright.Error](err); ok && e.Code == callwright.CodeConflict && e.Field == "name" {
		return callwright.Invalid("name", "must be unique: another voice of the organization has this name").Because(err)
	}
	return err
}

// Rename renames a voice of an organization. It returns CodeBadRequest with the field "name" if the new name is invalid or in use,
// CodeForbidden if the voice is the engine's, and CodeNotFound if the voice is unknown.
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

// ownOnly returns a voice of an organization. If the voice is the engine's, ownOnly returns CodeForbidden. The parameter what completes the
// message, for example "renamed".
func (s *Service) ownOnly(ctx context.Context, org callwright.OrgID, idOrName, what string) (Voice, error) {
	v, err := s.Voice(ctx, org, idOrName)
	if err == nil && v.Public() {
		return Voice{}, callwright.Errorf(callwright.CodeForbidden, "the voice %s belongs to the speech engine and cannot be %s", v.Name, what)
	}
	return v, err
}

// Delete deletes a voice of an organization permanently, but not its samples. Agents with this voice then speak with the engine's default
// voice. Delete returns CodeForbidden if the voice is the engine's, and CodeNotFound if the voice is unknown.
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
