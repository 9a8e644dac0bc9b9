package speechapi

import (
	"context"
	"errors"
	"io"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
	oas "github.com/callwright/callwright/transport/oas/speechoas"
)

// ListVoices serves GET /v1/voices. It returns the voices of the organization, followed by the engine's voices.
func (a *api) ListVoices(ctx context.Context) (*oas.VoiceListReply, error) {
	list, err := a.cfg.Speech.Voices(ctx, httpapi.Org(ctx))
	if err != nil {
		return nil, err
	}
	reply := &oas.VoiceListReply{Voices: make([]oas.Voice, len(list))}
	for i, v := range list {
		reply.Voices[i] = voiceRecord(v)
	}
	return reply, nil
}

// GetVoice serves GET /v1/voices/{id}. It returns a voice.
func (a *api) GetVoice(ctx context.Context, params oas.GetVoiceParams) (*oas.VoiceReply, error) {
	v, err := a.cfg.Speech.Voice(ctx, httpapi.Org(ctx), params.ID)
	if err != nil {
		return nil, err
	}
	return &oas.VoiceReply{Voice: voiceRecord(v)}, nil
}

func voiceRecord(v speech.Voice) oas.Voice {
	record := oas.Voice{
		ID: v.ID, Name: v.Name, Description: wire.NilText(v.Description), Public: v.Public(), IsCustom: oas.NewOptBool(!v.Public()), Tags: append([]string{}, v.Tags...),
		UserID: wire.NilText(v.CreatedBy), VoiceID: v.ID, Service: v.Service, Finetuned: v.Kind != speech.KindBuiltIn, Kind: oas.VoiceKind(v.Kind),
		Language: wire.OptNilText(v.Language), CreatedAt: oas.OptNilDateTime{Set: true, Null: true},
	}
	if !v.CreatedAt.IsZero() {
		record.CreatedAt.SetTo(v.CreatedAt.UTC())
	}
	return record
}

// RenameVoice serves PATCH /v1/voices/{id}. It renames a voice.
func (a *api) RenameVoice(ctx context.Context, req *oas.VoiceRename, params oas.RenameVoiceParams) (*oas.VoiceRenameReply, error) {
	v, err := a.cfg.Speech.Rename(ctx, httpapi.Org(ctx), params.ID, req.Name)
	if err != nil {
		return nil, err
	}
	return &oas.VoiceRenameReply{Data: oas.VoiceName{VoiceID: v.ID, Name: v.Name}}, nil
}

// RenameVoiceAlias serves PATCH /v1/voices/{id}/rename. It does the same as RenameVoice.
func (a *api) RenameVoiceAlias(ctx context.Context, req *oas.VoiceRename, params oas.RenameVoiceAliasParams) (*oas.VoiceRenameReply, error) {
	return a.RenameVoice(ctx, req, oas.RenameVoiceParams(params))
}

// DeleteVoice serves DELETE /v1/voices/{id}. It deletes a voice of the organization. A voice of the engine is refused with 400.
func (a *api) DeleteVoice(ctx context.Context, params oas.DeleteVoiceParams) (*oas.VoiceDeletedReply, error) {
	err := a.cfg.Speech.Delete(ctx, httpapi.Org(ctx), params.ID)
	if errors.Is(err, callwright.ErrForbidden) {
		return nil, callwright.Invalid("", "%s", callwright.MessageOf(err))
	}
	if err != nil {
		return nil, err
	}
	return &oas.VoiceDeletedReply{Data: oas.VoiceDeleted{Status: "success", Message: "The voice is deleted."}}, nil
}

// CloneVoice serves POST /v1/voices/clone. It creates a voice from recordings. Except for a small part in memory, the recordings are in
// temporary files until the request ends.
func (a *api) CloneVoice(ctx context.Context, req *oas.VoiceCloneMultipart) (*oas.VoiceCloneReply, error) {
	r := speech.CloneRequest{
		Name: req.Name, Description: req.Description.Or(""), Gender: req.Gender.Or(""), Language: req.Language.Or(""),
		User: httpapi.Principal(ctx).KeyID,
	}
	for _, file := range req.AudioSamples {
		seeker, ok := file.File.(io.ReadSeeker)
		if !ok {
			return nil, errors.New("speechapi: an uploaded file cannot be read twice")
		}
		r.Files = append(r.Files, seeker)
	}
	v, err := a.cfg.Speech.Clone(ctx, httpapi.Org(ctx), r)
	if err != nil {
		return nil, err
	}
	httpapi.LogID(ctx, "voice_id", v.ID)
	return &oas.VoiceCloneReply{Status: 200, Data: oas.VoiceName{VoiceID: v.ID, Name: v.Name}}, nil
}
