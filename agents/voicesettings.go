package agents

import (
	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech/tts"
)

// Prosody returns the factors of VoiceSettings. It ignores members that no engine supports. It returns CodeBadRequest with a field such as
// voice_settings.speed if a factor is no number or out of range.
func (a Agent) Prosody() (tts.Prosody, error) {
	return tts.ParseSettings(string(SettingVoiceSettings), a.VoiceSettings)
}

// IgnoredVoiceSettings returns the members of VoiceSettings that have no effect with an engine, each with the reason: see
// tts.IgnoredSettings.
func (a Agent) IgnoredVoiceSettings(voices tts.VoiceChecker) callwright.FieldErrors {
	return tts.IgnoredSettings(string(SettingVoiceSettings), a.VoiceSettings, voices)
}

// IgnoredVoiceSettings returns the members of an agent's VoiceSettings that have no effect on this server: see Agent.IgnoredVoiceSettings.
func (s *Service) IgnoredVoiceSettings(a Agent) callwright.FieldErrors {
	return a.IgnoredVoiceSettings(s.cfg.Voices)
}
