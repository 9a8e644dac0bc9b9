package speech

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech/pcm"
)

// CloneRequest is a request to clone a voice from recordings.
type CloneRequest struct {
	Name        string // 1 to MaxName characters
	Description string // at most MaxDescription characters; if empty, the Cloner's description is used
	Gender      string // of the speaker, at most MaxName characters; stored as a tag
	Language    string // of the recordings, BCP 47; empty if unknown
	User        string // the id of the requesting key
	Files       []io.ReadSeeker
}

// check trims the name, the description and the gender, and validates the request without the contents of the recordings. It returns
// CodeBadRequest with the first invalid field.
func (r *CloneRequest) check(s *Service) error {
	r.Name, r.Description, r.Gender = strings.TrimSpace(r.Name), strings.TrimSpace(r.Description), strings.TrimSpace(r.Gender)
	if err := s.checkName(r.Name); err != nil {
		return err
	}
	for _, text := range []struct {
		field, value string
		most         int
	}{{"description", r.Description, MaxDescription}, {"gender", r.Gender, MaxName}, {"language", r.Language, maxLanguage}} {
		switch {
		case !utf8.ValidString(text.value) || strings.ContainsFunc(text.value, controls):
			return callwright.Invalid(text.field, "must be valid UTF-8 without control characters other than tabs and line breaks")
		case callwright.Longer(text.value, text.most):
			return callwright.Invalid(text.field, "must have at most %d characters", text.most)
		}
	}
	if len(r.Files) == 0 || len(r.Files) > MaxFiles {
		return callwright.Invalid("audio_samples", "must have 1 to %d files", MaxFiles)
	}
	return nil
}

// Clone makes a voice from recordings and stores the voice, but not the recordings.
//
// Errors:
//   - CodeBadRequest with the field: a field is invalid, the name is in use, or the recordings are unusable.
//   - CodeInvalidState: the organization has MaxOwnVoices voices.
//   - CodeUnsupportedMedia: a file cannot be decoded as audio.
//   - CodePayloadTooLarge: the recordings last longer than MaxRecording.
//   - CodeTooManyRequests: too many texts or recordings are being processed.
//   - CodeUnavailable: no Cloner is configured. With the field audio_samples, the cloning took longer than a minute.
func (s *Service) Clone(ctx context.Context, org callwright.OrgID, r CloneRequest) (Voice, error) {
	if s.cfg.Cloner == nil {
		return Voice{}, callwright.Errorf(callwright.CodeUnavailable, "this server cannot clone voices: it has no engine for it")
	}
	if err := r.check(s); err != nil {
		return Voice{}, err
	}
	if err := s.checkFree(ctx, org, r.Name); err != nil {
		return Voice{}, err
	}
	leave, err := s.admit(ctx, org, cloneMemory)
	if err != nil {
		return Voice{}, err
	}
	defer leave()
	limited, cancel := context.WithTimeout(ctx, maxClone)
	defer cancel()
	v, err := s.clone(limited, org, r)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		late := callwright.Errorf(callwright.CodeUnavailable, "could not be turned into a voice within %v: send fewer or shorter recordings", maxClone)
		return Voice{}, callwright.InField("audio_samples", late.Because(err))
	}
	return v, err
}

// cloneMemory is the maximum size of decoded recordings, in bytes: MaxRecording at 48 kHz.
const cloneMemory = int64(MaxRecording/time.Second) * 48000 * 2

// checkFree refuses a name in use and a voice beyond MaxOwnVoices before the recordings are decoded. A concurrent request may claim the
// name afterwards; then InsertVoice refuses it.
func (s *Service) checkFree(ctx context.Context, org callwright.OrgID, name string) error {
	_, err := s.cfg.Voices.VoiceByKey(ctx, org, Key(name))
	if err == nil {
		return callwright.Invalid("name", "must be unique: another voice of the organization has this name")
	}
	if !errors.Is(err, callwright.ErrNotFound) {
		return err
	}
	list, err := s.cfg.Voices.VoicesOf(ctx, org, MaxOwnVoices)
	if err == nil && len(list) >= MaxOwnVoices {
		return callwright.Errorf(callwright.CodeInvalidState, "an organization can have at most %d voices of its own: delete one first", MaxOwnVoices)
	}
	return err
}

func (s *Service) clone(ctx context.Context, org callwright.OrgID, r CloneRequest) (Voice, error) {
	recordings, err := s.decode(ctx, r.Files)
	if err != nil {
		return Voice{}, err
	}
	service, kind := s.cfg.Cloner.Describe()
	v := Voice{
		ID: s.cfg.IDs.New(), Org: org, Name: r.Name, Description: r.Description, Kind: kind, Service: service, CreatedBy: r.User, Version: 1,
	}
	if r.Gender != "" {
		v.Tags = []string{strings.ToLower(r.Gender)}
	}
	// If the server dies after the provider has made the voice, the voice has no record here. The task then deletes it at the provider.
	forget := callwright.Task{Kind: taskForgetVoice, Key: v.ID, Org: org, RunAt: s.cfg.Clock.Now().Add(sparing)}
	if err := s.cfg.Work.Enqueue(ctx, forget); err != nil {
		return Voice{}, err
	}
	made, err := s.cfg.Cloner.Clone(ctx, Cloning{
		ID: v.ID, Org: org, Name: r.Name, Language: r.Language, Gender: r.Gender, Recordings: recordings,
	})
	if err != nil {
		return Voice{}, err
	}
	v.Base, v.Prosody, v.Language, v.CreatedAt = made.Base, made.Prosody, made.Language, s.cfg.Clock.Now()
	if v.Description == "" {
		v.Description = made.Description
	}
	err = s.cfg.Atomic.Do(ctx, func(ctx context.Context) error { return nameConflict(s.cfg.Voices.InsertVoice(ctx, v)) })
	return v, err
}

// decode decodes recordings. It returns CodePayloadTooLarge if together they last longer than MaxRecording. Errors name the file in their
// field.
func (s *Service) decode(ctx context.Context, files []io.ReadSeeker) ([]pcm.Audio, error) {
	left := MaxRecording
	var out []pcm.Audio
	for i, file := range files {
		audio, err := s.cfg.Decoder.Decode(ctx, file, left)
		if err != nil {
			return nil, callwright.InField(fmt.Sprintf("audio_samples[%d]", i), err)
		}
		left -= audio.Duration()
		out = append(out, audio)
	}
	return out, nil
}
