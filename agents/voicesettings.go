package agents

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech/tts"
)

// The members of Agent.VoiceSettings that have an effect. Their values are numbers from tts.MinFactor to tts.MaxFactor.
const (
	settingSpeed = "speed" // factor of the voice's syllables per second
	settingPitch = "pitch" // factor of the voice's fundamental frequency
)

// Prosody returns the factors of VoiceSettings. It ignores members that no engine supports. It returns CodeBadRequest with a field such as
// voice_settings.speed if a factor is no number or out of range.
func (a Agent) Prosody() (tts.Prosody, error) {
	members, err := a.voiceSettings()
	if err != nil {
		return tts.Prosody{}, err
	}
	var p tts.Prosody
	for name, factor := range map[string]*float64{settingSpeed: &p.Tempo, settingPitch: &p.Pitch} {
		raw, ok := members[name]
		if !ok || string(raw) == "null" {
			continue
		}
		if err := json.Unmarshal(raw, factor); err != nil || *factor < tts.MinFactor || *factor > tts.MaxFactor {
			return tts.Prosody{}, callwright.Invalid("voice_settings."+name, "must be a factor from %g to %g", tts.MinFactor, tts.MaxFactor)
		}
	}
	return p, nil
}

// voiceSettings returns the members of VoiceSettings.
func (a Agent) voiceSettings() (members map[string]json.RawMessage, err error) {
	if a.VoiceSettings == "" {
		return nil, nil
	}
	if len(a.VoiceSettings) > MaxSettings {
		return nil, callwright.Invalid("voice_settings", "must have at most %d bytes", MaxSettings)
	}
	if err := json.Unmarshal([]byte(a.VoiceSettings), &members); err != nil {
		return nil, callwright.Invalid("voice_settings", "must be a JSON object")
	}
	return members, nil
}

func (a Agent) checkVoiceSettings() error {
	_, err := a.Prosody()
	return err
}

// IgnoredVoiceSettings returns the members of VoiceSettings that have no effect with an engine, each with the reason. The engine is assumed
// to apply all factors, unless the voices are a tts.ProsodyReporter.
func (a Agent) IgnoredVoiceSettings(voices tts.VoiceChecker) (ignored callwright.FieldErrors) {
	pitch, tempo := true, true
	if engine, ok := voices.(tts.ProsodyReporter); ok {
		pitch, tempo = engine.Applies()
	}
	members, _ := a.voiceSettings()
	for _, name := range slices.Sorted(maps.Keys(members)) {
		field := "voice_settings." + name
		switch {
		case string(members[name]) == "null":
		case name == settingSpeed && !tempo, name == settingPitch && !pitch:
			ignored = append(ignored, callwright.Invalid(field, "the speech engine of this server does not change it"))
		case name != settingSpeed && name != settingPitch:
			ignored = append(ignored, callwright.Invalid(field, "the speech engines of this server have no such setting"))
		}
	}
	return ignored
}

// IgnoredVoiceSettings returns the members of an agent's VoiceSettings that have no effect on this server: see Agent.IgnoredVoiceSettings.
func (s *Service) IgnoredVoiceSettings(a Agent) callwright.FieldErrors {
	return a.IgnoredVoiceSettings(s.cfg.Voices)
}
