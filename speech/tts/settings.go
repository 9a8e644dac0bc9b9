package tts

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/callwright/callwright"
)

// The members of voice settings that have an effect. Their values are numbers from MinFactor to MaxFactor.
const (
	settingSpeed = "speed" // factor of the voice's syllables per second
	settingPitch = "pitch" // factor of the voice's fundamental frequency
)

// MaxSettings is the maximum length of voice settings in bytes.
const MaxSettings = 64 << 10

// ParseSettings returns the factors of voice settings, which are a JSON object or empty. It ignores members that no engine supports. It
// returns CodeBadRequest with a field such as FIELD.speed if a factor is no number or out of range. The fields of its errors begin with the
// given field.
func ParseSettings(field, settings string) (Prosody, error) {
	if len(settings) > MaxSettings {
		return Prosody{}, callwright.Invalid(field, "must have at most %d bytes", MaxSettings)
	}
	members, err := settingsOf(settings)
	if err != nil {
		return Prosody{}, callwright.Invalid(field, "must be a JSON object")
	}
	var p Prosody
	for _, name := range []string{settingSpeed, settingPitch} {
		factor := map[string]*float64{settingSpeed: &p.Tempo, settingPitch: &p.Pitch}[name]
		raw, ok := members[name]
		if !ok || string(raw) == "null" {
			continue
		}
		if err := json.Unmarshal(raw, factor); err != nil || *factor < MinFactor || *factor > MaxFactor {
			return Prosody{}, callwright.Invalid(field+"."+name, "must be a factor from %g to %g", MinFactor, MaxFactor)
		}
	}
	return p, nil
}

// IgnoredSettings returns the members of voice settings that have no effect with an engine, each with the reason. The engine is assumed to
// apply all factors, unless the voices are a ProsodyReporter. The fields of the result begin with the given field.
func IgnoredSettings(field, settings string, voices VoiceChecker) (ignored callwright.FieldErrors) {
	pitch, tempo := true, true
	if engine, ok := voices.(ProsodyReporter); ok {
		pitch, tempo = engine.Applies()
	}
	members, _ := settingsOf(settings)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		at := field + "." + name
		switch {
		case string(members[name]) == "null":
		case name == settingSpeed && !tempo, name == settingPitch && !pitch:
			ignored = append(ignored, callwright.Invalid(at, "the speech engine of this server does not change it"))
		case name != settingSpeed && name != settingPitch:
			ignored = append(ignored, callwright.Invalid(at, "the speech engines of this server have no such setting"))
		}
	}
	return ignored
}

// settingsOf returns the members of voice settings.
func settingsOf(settings string) (members map[string]json.RawMessage, err error) {
	if settings == "" {
		return nil, nil
	}
	return members, json.Unmarshal([]byte(settings), &members)
}
