package agentwire

import (
	"encoding/json"
	"math"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/dialogue"
)

// idle is what an agent does in silence, in the JSON of the contract.
type idle struct {
	After       *float64 `json:"after,omitempty"`
	Times       *int     `json:"times,omitempty"`
	Prompt      string   `json:"prompt,omitempty"`
	Goodbye     string   `json:"goodbye,omitempty"`
	FillerAfter *float64 `json:"filler_after,omitempty"`
	Filler      string   `json:"filler,omitempty"`
}

// Idle translates the generated settings of an agent's silence to a change. set is whether the member is present; null clears the settings.
func Idle(given json.Marshaler, set bool) (change callwright.Optional[dialogue.Idle], err error) {
	change.Set = set
	if !set {
		return change, nil
	}
	text, err := given.MarshalJSON()
	if err != nil {
		return change, err
	}
	var i *idle
	if err := json.Unmarshal(text, &i); err != nil || i == nil {
		return change, err
	}
	change.Value = &dialogue.Idle{
		After: fromSeconds(i.After), Times: i.Times, Prompt: i.Prompt, Goodbye: i.Goodbye, FillerAfter: fromSeconds(i.FillerAfter), Filler: i.Filler,
	}
	return change, nil
}

// IdleOptions translates the settings of an agent's silence to the generated type. set is false if they are the defaults.
func IdleOptions[L any, P interface {
	*L
	json.Unmarshaler
}](i *dialogue.Idle) (generated L, set bool, err error) {
	if i == nil {
		return generated, false, nil
	}
	text, err := json.Marshal(idle{
		After: toSeconds(i.After), Times: i.Times, Prompt: i.Prompt, Goodbye: i.Goodbye, FillerAfter: toSeconds(i.FillerAfter), Filler: i.Filler,
	})
	if err != nil {
		return generated, false, err
	}
	return generated, true, P(&generated).UnmarshalJSON(text)
}

// fromSeconds converts seconds to a duration, or nil to nil.
func fromSeconds(seconds *float64) *time.Duration {
	if seconds == nil {
		return nil
	}
	return new(time.Duration(math.Round(*seconds * float64(time.Second))))
}

// toSeconds converts a duration to seconds, or nil to nil.
func toSeconds(d *time.Duration) *float64 {
	if d == nil {
		return nil
	}
	return new(d.Seconds())
}
