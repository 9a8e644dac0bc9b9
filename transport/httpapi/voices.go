package httpapi

import (
	"context"

	"github.com/callwright/callwright"
)

// Voices returns replacements for unknown voices. speech.Service implements it.
type Voices interface {
	// Replacement returns the name of the voice that replaces an unknown one. It returns an empty name if idOrName is known or empty, or if
	// unknown voices are refused.
	Replacement(ctx context.Context, org callwright.OrgID, idOrName, language string) (string, error)
}

// NoteVoice adds a member of a body that names a voice to IgnoredMembers, if another voice replaces that voice. field is the member's name.
func NoteVoice(ctx context.Context, field, voice, language string) error {
	voices := infoOf(ctx).api.cfg.Voices
	if voices == nil || voice == "" {
		return nil
	}
	name, err := voices.Replacement(ctx, Org(ctx), voice, language)
	if err == nil && name != "" {
		Ignore(ctx, field, "this voice is unknown: "+name+" speaks instead")
	}
	return err
}
