package tts

import (
	"context"

	"github.com/callwright/callwright"
)

// Speakers speaks with the voices of organizations. speech.Service implements it.
type Speakers interface {
	VoiceChecker

	// Speaker returns the Synthesizer of an organization. In its requests, Voice is a voice's id or name, as CheckVoice
	// takes it.
	Speaker(org callwright.OrgID) Synthesizer
}

// VoiceChecker checks voices and languages before a call.
type VoiceChecker interface {
	// CheckVoice returns the error of Synthesize for a voice of an organization and a language; nil if both are valid.
	CheckVoice(ctx context.Context, org callwright.OrgID, voice, language string) error
}
